"""Plans the DNS records that Pi-hole should have, from the Ingresses that request them.

An Ingress opts in with an annotation, whatever its class. The namespace that has a record keeps it,
and a new record goes to the oldest Ingress. `pic:hostPolicy` limits the hosts of each namespace. A
record that another client made stays untouched, unless `pic:piholeTakeOver` is set:
docs/pihole.md#which-records-belong-to-pic has the cases.
"""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pic.core.ingress import Ingress
from pic.core.model import Family, LiveRecord, Owner, Record, Snapshot, record_id
from pic.core.notices import Notice, Reason, Ref
from pic.planning import (
    annotations,
    deletions,
    dns_look_alikes,
    foreign_records,
    host_policy,
    hosts,
    reserved,
    selection,
)
from pic.planning.annotations import Key, Switch
from pic.planning.memory import Memory
from pic.planning.notice_log import NoticeLog, Problem
from pic.settings.parse import PiholeApi, Settings

PREFIX = dns_look_alikes.PREFIX
REGISTER = f"{PREFIX}register"
HOSTS = f"{PREFIX}hosts"
TARGET_IP = f"{PREFIX}target-ip"
MANAGED_HOSTS = f"{PREFIX}managed-hosts"

_HELD = dns_look_alikes.HELD

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

HostFamily = tuple[str, Family]


@dataclass(frozen=True, slots=True)
class _Request:
    """A host that an Ingress requests records for.

    Attributes:
        addresses: None if the annotations cannot be read now.
    """

    host: str
    addresses: tuple[str, ...] | None
    ingress: Ingress

    @property
    def owner(self) -> Owner:
        return Owner(self.ingress.namespace, self.ingress.name, self.ingress.uid)


class _Context(NamedTuple):
    """What the plan of every host needs.

    Attributes:
        is_read: Whether Pi-hole returned its records.
        shadows: What Pi-hole answers for a host in place of its record, by host.
    """

    live: "_Live"
    is_read: bool
    shadows: Mapping[str, str]
    settings: Settings
    notices: NoticeLog


def plan(
    snapshot: Snapshot, settings: Settings, notices: NoticeLog, memory: Memory | None = None
) -> tuple[Record, ...]:
    """Return one record for each host and address family, sorted.

    While a request cannot be read, the live record of ours is held: declared again as it is.
    """
    if snapshot.unanswered:
        notices.put(_unanswered(snapshot.unanswered.url, str(snapshot.unanswered.error)))
    live = _Live(snapshot.records or ())
    by_host: dict[str, list[_Request]] = {}
    for request in _requests(snapshot.ingresses, settings, notices):
        by_host.setdefault(request.host, []).append(request)
    is_read = snapshot.records is not None
    context = _Context(live, is_read, snapshot.shadows, settings, notices)
    records = [
        record
        for requests in by_host.values()
        for record in _records(_incumbents_first(requests, memory), context)
    ]
    records += [
        Record(record.host, record.ip, (), held=True)
        for record in _perhaps_wanted(live.all_of_ours(), snapshot, memory)
        if record.host not in by_host
    ]
    return tuple(sorted(records, key=lambda record: (*record.key, record.ip)))


def _perhaps_wanted(
    records: Iterable[LiveRecord], snapshot: Snapshot, memory: Memory | None
) -> Iterator[LiveRecord]:
    """Yield the records that may belong to an Ingress of which pic cannot read the hosts."""
    if any(unreadable.kind == "Ingress" for unreadable in snapshot.unreadable):
        yield from records
        return
    namespaces = {ingress.namespace for ingress in snapshot.ingresses if _hides_hosts(ingress)}
    for record in records if namespaces else ():
        entry = memory.record(record_id(record)) if memory else None
        if entry is None or entry.namespace in namespaces:
            yield record


def _hides_hosts(ingress: Ingress) -> bool:
    requests = annotations.switch(ingress.annotations, REGISTER) is Switch.ON
    return requests and "hosts" in dns_look_alikes.report(ingress, NoticeLog(), registered=True)


def _incumbents_first(requests: Sequence[_Request], memory: Memory | None) -> list[_Request]:
    """Sort the requests for a host: those of the namespace that has it, then by age."""
    entries = [memory.record(f"{requests[0].host}/{family}") for family in Family] if memory else []
    owners = {entry.namespace for entry in entries if entry}
    # The sort is stable, so within each group the requests stay in the order of their age.
    return sorted(requests, key=lambda request: request.ingress.namespace not in owners)


def _unanswered(url: str, problem: str) -> Notice:
    message = f"its records are unknown, so pic neither compares nor holds them: {problem}"
    return Notice(Reason.PIHOLE_UNREADABLE, Ref("Pi-hole", "", url), message)


def requested_hosts(ingresses: Iterable[Ingress], settings: Settings) -> frozenset[str]:
    """Return the hosts that Ingresses request records for, including unreadable requests."""
    return frozenset(request.host for request in _requests(ingresses, settings, NoticeLog()))


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
    for request in _requests(ingresses, settings, NoticeLog()):
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


def _requests(
    ingresses: Iterable[Ingress], settings: Settings, notices: NoticeLog
) -> Iterator[_Request]:
    """Yield the requests of all Ingresses, the oldest Ingress first."""
    for ingress in sorted(ingresses, key=lambda ingress: ingress.age):
        yield from _requests_of(ingress, settings, notices)


def _requests_of(ingress: Ingress, settings: Settings, notices: NoticeLog) -> Iterator[_Request]:
    register = annotations.switch(ingress.annotations, REGISTER)
    if register is Switch.UNREADABLE:
        shown = str(ingress.annotations[REGISTER])[:80]
        message = f"{REGISTER} is {shown!r}, but must be true or false: {_HELD}"
        problem = Problem(Reason.INVALID_ANNOTATION, message, annotation=REGISTER)
        notices.add(ingress, problem)
    if selection.ignored(ingress):
        return
    hidden = dns_look_alikes.report(ingress, notices, registered=register is Switch.ON)
    if register not in (Switch.ON, Switch.UNREADABLE):
        return
    for problem in annotations.slips(ingress):
        notices.add(ingress, problem)
    if register is Switch.UNREADABLE or hidden:
        # Problems with its hosts do not matter while it is unclear which records it requests.
        addresses, requested = None, dict.fromkeys(_hosts(ingress, settings, NoticeLog()))
    else:
        addresses = _addresses(ingress, settings, notices)
        requested = _usable(ingress, settings, notices)
    for host in requested:
        if _is_allowed(host, ingress, settings, notices):
            yield _Request(host, addresses, ingress)


def _is_allowed(host: str, ingress: Ingress, settings: Settings, notices: NoticeLog) -> bool:
    problem = host_policy.refusal(host, ingress.namespace, settings)
    if problem:
        notices.add(ingress, problem)
    return problem is None


def _usable(ingress: Ingress, settings: Settings, notices: NoticeLog) -> dict[str, None]:
    usable = dict.fromkeys(_hosts(ingress, settings, notices))
    if not usable:
        message = (
            f"it requests DNS records but has no usable host: set the host of a rule, or {HOSTS}"
        )
        notices.add(ingress, Problem(Reason.NO_HOSTS, message))
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
            notices.add(ingress, Problem(Reason.INVALID_HOST, message, shown))
        else:
            yield host


def _addresses(ingress: Ingress, settings: Settings, notices: NoticeLog) -> tuple[str, ...] | None:
    """Return an IPv4 address and perhaps an IPv6 address; None if they are not usable."""
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
        return None
    for address in addresses:
        if reason := reserved.address_problem(address, settings):
            message = (
                f"{source} is {text[:80]!r}, but {address} {reason}: if you mean it, add it to"
                " pic:piholeAllowAddresses"
            )
            notices.add(ingress, Problem(Reason.INVALID_TARGET_IP, message, annotation=TARGET_IP))
            return None
    if len(addresses) > 1 and settings.pihole_api is PiholeApi.DNS_LOCAL:
        message = (
            f"{addresses[1]} gets no record: pic:piholeApi dns-local supports IPv4 addresses only"
        )
        problem = Problem(Reason.IPV6_UNSUPPORTED, message, annotation=TARGET_IP)
        notices.add(ingress, problem)
        del addresses[1:]
    # The canonical spelling of an IPv6 address, because live records are compared as text.
    return tuple(str(address) for address in addresses)


class _Live:
    """Looks up the live records by host and family."""

    def __init__(self, records: Sequence[LiveRecord]) -> None:
        self._ours: dict[str, dict[HostFamily, LiveRecord]] = {}
        self._others: dict[HostFamily, list[LiveRecord]] = {}
        for record in sorted(records, key=lambda record: (*record.key, record.ip)):
            if record.ours:
                # An interrupted update leaves two records of one family. Only one can be declared.
                self._ours.setdefault(record.host, {}).setdefault(record.key, record)
            else:
                self._others.setdefault(record.key, []).append(record)

    def ours(self, host: str) -> tuple[LiveRecord, ...]:
        """Return our records of a host, one for each family."""
        return tuple(self._ours.get(host, {}).values())

    def all_of_ours(self) -> Iterator[LiveRecord]:
        """Yield our records, one for each host and family."""
        for by_family in self._ours.values():
            yield from by_family.values()

    def is_ours(self, key: HostFamily) -> bool:
        """Say whether we have a record of that host and family."""
        return key in self._ours.get(key[0], {})

    def others(self, key: HostFamily) -> list[LiveRecord]:
        """Return the records of other clients for a host and family, sorted by address."""
        return self._others.get(key, [])


def _records(requests: Sequence[_Request], context: _Context) -> Iterator[Record]:
    """Yield the records of a host; its oldest Ingress with readable or live addresses decides."""
    ours = context.live.ours(requests[0].host)
    requests = list(_present(requests, context)) if context.is_read and not ours else requests
    first = next((request for request in requests if request.addresses is not None or ours), None)
    if first is None:
        return
    held = first.addresses is None
    addresses = tuple(record.ip for record in ours) if first.addresses is None else first.addresses
    # Several Ingresses own a record together if they request the same addresses.
    agreeing = [
        request for request in requests if request.addresses in (first.addresses, addresses)
    ]
    owners = tuple(dict.fromkeys(request.owner for request in agreeing))
    for request in requests:
        if request.addresses is not None and request not in agreeing:
            context.notices.add(request.ingress, _conflict(request, first.ingress))
    if shadow := context.shadows.get(first.host):
        message = f"Pi-hole answers {first.host} with {shadow}, so its record has no effect"
        problem = Problem(Reason.RECORD_SHADOWED, message, first.host)
        context.notices.add(first.ingress, problem)
    for address in addresses:
        record = Record(first.host, address, owners, held=held)
        if held or _may_declare(record, first.ingress, context):
            yield record


def _present(requests: Iterable[_Request], context: _Context) -> Iterator[_Request]:
    """Yield the requests of Ingresses that Kubernetes is not deleting, and report the others."""
    for request in requests:
        if going := request.ingress.going:
            effect = f"no DNS record is made for {request.host}"
            context.notices.put(
                deletions.source_notice(request.ingress, going, request.host, effect, "")
            )
        else:
            yield request


def _conflict(request: _Request, older: Ingress) -> Problem:
    message = (
        f"the DNS record of {request.host} belongs to Ingress {older.namespace}/{older.name}, which"
        " had it first and requests another address"
    )
    return Problem(Reason.HOST_CONFLICT, message, request.host)


def _may_declare(record: Record, ingress: Ingress, context: _Context) -> bool:
    """Say whether a record can be declared, and report the records that other clients made."""
    others = context.live.others(record.key)
    if not others:
        return True
    ours = context.live.is_ours(record.key)
    shadowed = record.host in context.shadows
    problem = foreign_records.problem(
        record, others, context.settings, ours=ours, shadowed=shadowed
    )
    context.notices.add(ingress, problem)
    return ours or problem.reason is Reason.RECORD_TAKEN_OVER
