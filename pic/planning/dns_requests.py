"""Reads which DNS records each Ingress requests, and with which addresses.

An Ingress opts in with an annotation, whatever its class. `pic:hostPolicy` limits the hosts of each
namespace.
"""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pic.core.ingress import Ingress
from pic.core.model import LiveRecord, Owner
from pic.core.notices import Reason
from pic.planning import annotations, dns_look_alikes, host_policy, hosts, reserved, selection
from pic.planning.annotations import Key, Switch
from pic.planning.notice_log import NoticeLog, Problem
from pic.settings.parse import PiholeApi, Settings

PREFIX = dns_look_alikes.PREFIX
REGISTER = f"{PREFIX}register"
HOSTS = f"{PREFIX}hosts"
TARGET_IP = f"{PREFIX}target-ip"
MANAGED_HOSTS = f"{PREFIX}managed-hosts"

_HELD = dns_look_alikes.HELD
# The notice about the annotation that reads like one of ours says which.
_HIDDEN = Problem(Reason.UNKNOWN_ANNOTATION, "an unknown annotation hides what it requests")

# The annotations below the prefix, as the documentation shows them.
KEYS = (
    Key("register", "true, false", "true requests DNS records", _HELD),
    Key(
        "hosts",
        "host names, separated by commas",
        "replaces the hosts of the rules",
        "an invalid name is left out, with a notice",
    ),
    Key(
        "target-ip",
        "an IPv4 address, optionally a comma and an IPv6 address",
        "replaces `pic:piholeTargetIp`",
        _HELD,
    ),
    Key(
        "managed-hosts",
        "written by pic",
        "lists the hosts that pic registered",
        "an invalid name is left out",
    ),
)


@dataclass(frozen=True, slots=True)
class DnsRequest:
    """A host that an Ingress requests records for.

    Attributes:
        addresses: None if the annotations cannot be read now.
        problem: Why they cannot be read; None if they can.
    """

    host: str
    addresses: tuple[str, ...] | None
    ingress: Ingress
    problem: Problem | None = None

    @property
    def owner(self) -> Owner:
        """The Ingress, as the owner of a record."""
        return Owner(self.ingress.namespace, self.ingress.name, self.ingress.uid)


def requested_hosts(ingresses: Iterable[Ingress], settings: Settings) -> frozenset[str]:
    """Return the hosts that Ingresses request records for, including unreadable requests."""
    return frozenset(request.host for request in requests_of_all(ingresses, settings, NoticeLog()))


class AnnotatedRequests(NamedTuple):
    """The addresses that Ingresses request for hosts that pic has annotated.

    Attributes:
        addresses: Those of each request, by host; None for a request that cannot be read now.
    """

    addresses: Mapping[str, Sequence[tuple[str, ...] | None]]

    def agree_on(self, record: LiveRecord) -> bool:
        """Say whether a record is as each request for its host has it."""
        requests = self.addresses.get(record.host, ())
        return bool(requests) and all(it is None or record.ip in it for it in requests)


def annotated_requests(ingresses: Sequence[Ingress], settings: Settings) -> AnnotatedRequests:
    """Return the requests for the hosts that the annotations of Ingresses list.

    Without `pic:piholeAnnotate` there are no annotations, and every requested host counts.
    """
    annotated = managed_hosts(ingresses)
    addresses: dict[str, list[tuple[str, ...] | None]] = {}
    for request in requests_of_all(ingresses, settings, NoticeLog()):
        if request.host in annotated or not settings.pihole_annotate:
            addresses.setdefault(request.host, []).append(request.addresses)
    return AnnotatedRequests(addresses)


def managed_hosts(ingresses: Iterable[Ingress]) -> frozenset[str]:
    """Return the hosts that the annotations of Ingresses list as registered by pic.

    The people of a namespace can write it, so it proves nothing (`pic.planning.record_ownership`).
    """
    managed = set()
    for ingress in ingresses:
        for name in (ingress.annotations.get(MANAGED_HOSTS) or "").split(","):
            try:
                managed.add(hosts.normalise(name.strip()))
            except hosts.UnusableHostError:
                continue
    return frozenset(managed)


def requests_of_all(
    ingresses: Iterable[Ingress], settings: Settings, notices: NoticeLog
) -> Iterator[DnsRequest]:
    """Yield the requests of all Ingresses, the oldest Ingress first."""
    for ingress in sorted(ingresses, key=lambda ingress: ingress.age):
        yield from _requests_of(ingress, settings, notices)


def _requests_of(ingress: Ingress, settings: Settings, notices: NoticeLog) -> Iterator[DnsRequest]:
    register, unreadable = annotations.switch(ingress.annotations, REGISTER), _HIDDEN
    if register is Switch.UNREADABLE:
        shown = str(ingress.annotations[REGISTER])[:80]
        message = f"{REGISTER} is {shown!r}, but must be true or false: {_HELD}"
        unreadable = Problem(Reason.INVALID_ANNOTATION, message, annotation=REGISTER)
        notices.add(ingress, unreadable)
    if selection.ignored(ingress):
        return
    hidden = dns_look_alikes.report(ingress, notices, registered=register is Switch.ON)
    if register not in (Switch.ON, Switch.UNREADABLE):
        return
    for problem in annotations.slips(ingress):
        notices.add(ingress, problem)
    if register is Switch.UNREADABLE or hidden:
        # Problems with its hosts do not matter while it is unclear which records it requests.
        wanted: tuple[str, ...] | Problem = unreadable
        requested = dict.fromkeys(_hosts(ingress, settings, NoticeLog()))
    else:
        wanted = _addresses(ingress, settings, notices)
        requested = _usable(ingress, settings, notices)
    for host in requested:
        if _is_allowed(host, ingress, settings, notices):
            request = _request(host, wanted, ingress)
            notices.trail.request(request)
            yield request


def _request(host: str, wanted: tuple[str, ...] | Problem, ingress: Ingress) -> DnsRequest:
    if isinstance(wanted, Problem):
        return DnsRequest(host, None, ingress, wanted)
    return DnsRequest(host, wanted, ingress)


def _is_allowed(host: str, ingress: Ingress, settings: Settings, notices: NoticeLog) -> bool:
    problem = host_policy.refusal(host, ingress.namespace, settings)
    if problem:
        notices.refuse_record(ingress, host, problem)
    return problem is None


def _usable(ingress: Ingress, settings: Settings, notices: NoticeLog) -> dict[str, None]:
    usable = dict.fromkeys(_hosts(ingress, settings, notices))
    if not usable:
        message = (
            f"it requests DNS records but has no usable host: set the host of a rule, or {HOSTS}"
        )
        notices.refuse_record(ingress, "", Problem(Reason.NO_HOSTS, message))
    return usable


def _hosts(ingress: Ingress, settings: Settings, notices: NoticeLog) -> Iterator[str]:
    listed = ingress.annotations.get(HOSTS)
    names = [rule.host for rule in ingress.rules] if listed is None else listed.split(",")
    for name in (name.strip() for name in names):
        if name in ("", "_"):
            continue
        try:
            # Not `hosts.public`: in a local network, a single label such as `nas` is a usable name.
            host = hosts.normalise(name)
            problem = reserved.host_problem(host, settings)
        except hosts.UnusableHostError as error:
            host, problem = "", str(error)
        if "*" in name:
            problem = f"Pi-hole has no wildcard records: list each name in {HOSTS}"
        if problem:
            shown = name[:253]
            message = f"{shown} gets no DNS record: {problem}"
            notices.refuse_record(ingress, shown, Problem(Reason.INVALID_HOST, message, shown))
        else:
            yield host


def _addresses(
    ingress: Ingress, settings: Settings, notices: NoticeLog
) -> tuple[str, ...] | Problem:
    """Return an IPv4 address and perhaps an IPv6 address, or why they are not usable."""
    annotation = ingress.annotations.get(TARGET_IP)
    source, text = TARGET_IP, annotation
    if text is None:
        source, text = "pic:piholeTargetIp", settings.pihole_target_ip
    try:
        addresses = [ipaddress.ip_address(part.strip()) for part in text.split(",")]
    except ValueError:
        addresses = []
    # A zone, as in fe80::1%eth0, has a meaning only on the host that wrote it.
    if [address.version for address in addresses] not in ([4], [4, 6]) or "%" in text:
        message = (
            f"{source} is {text[:80]!r}, but must be an IPv4 address, optionally a comma and an"
            " IPv6 address"
        )
        problem = Problem(Reason.INVALID_TARGET_IP, message, annotation=TARGET_IP)
        notices.add(ingress, problem)
        return problem
    for address in addresses:
        if reason := reserved.address_problem(address, settings):
            message = (
                f"{source} is {text[:80]!r}, but {address} {reason}: if you mean it, add it to"
                " pic:piholeAllowAddresses"
            )
            problem = Problem(Reason.INVALID_TARGET_IP, message, annotation=TARGET_IP)
            notices.add(ingress, problem)
            return problem
    if len(addresses) > 1 and settings.pihole_api is PiholeApi.DNS_LOCAL:
        message = (
            f"{addresses[1]} gets no record: pic:piholeApi dns-local supports IPv4 addresses only"
        )
        problem = Problem(Reason.IPV6_UNSUPPORTED, message, annotation=TARGET_IP)
        notices.add(ingress, problem)
        del addresses[1:]
    # The canonical spelling of an IPv6 address, because live records are compared as text.
    return tuple(str(address) for address in addresses)


def hides_hosts(ingress: Ingress) -> bool:
    """Say whether an Ingress requests records for hosts that pic cannot read."""
    requests = annotations.switch(ingress.annotations, REGISTER) is Switch.ON
    return requests and "hosts" in dns_look_alikes.report(ingress, NoticeLog(), registered=True)
