"""Which DNS records Pi-hole should have, from the Ingresses that ask for them. No I/O."""

import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pic.core.model import (
    Family,
    Ingress,
    LiveRecord,
    Owner,
    Record,
    Snapshot,
)
from pic.core.notices import Notice, Reason, Ref
from pic.planning import annotations, hosts, selection
from pic.planning.annotations import Key, Switch
from pic.planning.notice_log import NoticeLog, Problem
from pic.settings.parse import PiholeApi, Settings

PREFIX = "pihole.io/"
MANAGED_HOSTS = f"{PREFIX}managed-hosts"

# The annotations below the prefix, as the documentation has them.
KEYS = (
    Key("register", "true, false", "true asks for DNS records", "held, or not registered"),
    Key(
        "hosts",
        "names with commas",
        "instead of the hosts of the rules",
        "a bad name is left out and told",
    ),
    Key(
        "target-ip",
        "an IPv4 address, perhaps a comma and an IPv6 one",
        "instead of `pic:piholeTargetIp`",
        "held, or not registered",
    ),
    Key("managed-hosts", "written by pic", "which hosts are registered", "a bad name is left out"),
)

Name = tuple[str, Family]


@dataclass(frozen=True, slots=True)
class _Wish:
    """What an Ingress asks for; `addresses` is None where that cannot be understood now."""

    host: str
    addresses: tuple[str, ...] | None
    ingress: Ingress

    @property
    def owner(self) -> Owner:
        return Owner(self.ingress.namespace, self.ingress.name, self.ingress.uid)


class _Context(NamedTuple):
    """What a host is settled with."""

    live: "_Live"
    settings: Settings
    notices: NoticeLog


def plan(snapshot: Snapshot, settings: Settings, notices: NoticeLog) -> tuple[Record, ...]:
    """Return one record for each host and address family; the oldest Ingress has the host.

    What cannot be understood now is held: the record of ours that is live is declared again.
    """
    if snapshot.unanswered:
        notices.put(_unanswered(snapshot.unanswered.url, str(snapshot.unanswered.error)))
    live = _Live(snapshot.records or ())
    by_host: dict[str, list[_Wish]] = {}
    for wish in _asked(snapshot.ingresses, settings, notices):
        by_host.setdefault(wish.host, []).append(wish)
    context = _Context(live, settings, notices)
    found = [record for host in by_host for record in _settle(by_host[host], context)]
    if any(each.kind == "Ingress" for each in snapshot.unreadable):
        # Any of them may be what an unreadable Ingress asks for.
        found += [
            Record(each.host, each.ip, (), held=True)
            for each in live.all_of_ours()
            if each.host not in by_host
        ]
    return tuple(sorted(found, key=lambda record: (*record.key, record.ip)))


def _unanswered(url: str, problem: str) -> Notice:
    message = f"its records are not known, so none is compared or held: {problem}"
    return Notice(Reason.PIHOLE_UNREADABLE, Ref("Pi-hole", "", url), message)


def asked_for(ingresses: Iterable[Ingress], settings: Settings) -> frozenset[str]:
    """Return the hosts that Ingresses ask a DNS record for, also where that cannot be had now."""
    return frozenset(wish.host for wish in _asked(ingresses, settings, NoticeLog()))


def managed_hosts(ingresses: Iterable[Ingress]) -> frozenset[str]:
    """Return the hosts that Ingresses are annotated with as registered.

    It is what tells records of ours where the interface of Pi-hole has no room for a marker.
    """
    found = set()
    for ingress in ingresses:
        for name in (ingress.annotations.get(MANAGED_HOSTS) or "").split(","):
            try:
                found.add(hosts.normalise(name.strip()))
            except hosts.UnusableHostError:
                continue
    return frozenset(found)


def _asked(ingresses: Iterable[Ingress], settings: Settings, notices: NoticeLog) -> Iterator[_Wish]:
    """Yield what is asked for, of the oldest Ingress first."""
    for ingress in sorted(ingresses, key=lambda each: each.age):
        yield from _wishes(ingress, settings, notices)


def _wishes(ingress: Ingress, settings: Settings, notices: NoticeLog) -> Iterator[_Wish]:
    register = annotations.switch(ingress.annotations, f"{PREFIX}register")
    if register is Switch.UNREADABLE:
        shown = ingress.annotations[f"{PREFIX}register"]
        message = (
            f"{PREFIX}register is {str(shown)[:80]!r}, allowed is true or false: nothing new"
            " is registered"
        )
        notices.add(ingress, _unusable(Reason.INVALID_ANNOTATION, message, "register"))
    if register not in (Switch.ON, Switch.UNREADABLE) or selection.ignored(ingress):
        return
    if register is Switch.UNREADABLE:
        # Whether its hosts can be used matters only once it asks for records.
        addresses, found = None, dict.fromkeys(_hosts(ingress, NoticeLog()))
    else:
        addresses, found = _addresses(ingress, settings, notices), _usable(ingress, notices)
    yield from (_Wish(host, addresses, ingress) for host in found)


def _unusable(reason: Reason, message: str, name: str) -> Problem:
    return Problem(reason, message, annotation=f"{PREFIX}{name}")


def _usable(ingress: Ingress, notices: NoticeLog) -> dict[str, None]:
    found = dict.fromkeys(_hosts(ingress, notices))
    if not found:
        message = "it asks for DNS records and has no usable host"
        notices.add(ingress, Problem(Reason.NO_HOSTS, message))
    return found


def _hosts(ingress: Ingress, notices: NoticeLog) -> Iterator[str]:
    listed = ingress.annotations.get(f"{PREFIX}hosts")
    names = [rule.host for rule in ingress.rules] if listed is None else listed.split(",")
    for name in (each.strip() for each in names):
        if name in ("", "_"):
            continue
        try:
            yield hosts.normalise(name)
        except hosts.UnusableHostError as error:
            shown = name[:253]
            message = f"{shown}: {error}: no DNS record"
            notices.add(ingress, Problem(Reason.INVALID_HOST, message, shown))


def _addresses(ingress: Ingress, settings: Settings, notices: NoticeLog) -> tuple[str, ...] | None:
    """Return one IPv4 address and perhaps one IPv6 address; None where they are unusable."""
    written = ingress.annotations.get(f"{PREFIX}target-ip")
    text = settings.pihole_target_ip if written is None else written
    try:
        found = [ipaddress.ip_address(part.strip()) for part in text.split(",")]
    except ValueError:
        found = []
    # A zone, as in fe80::1%eth0, means nothing to whoever asks for the record.
    if [each.version for each in found] not in ([4], [4, 6]) or "%" in text:
        message = (
            f"the address is {text[:80]!r}; needed is an IPv4 address, and after a comma perhaps"
            " an IPv6 one"
        )
        notices.add(ingress, _unusable(Reason.INVALID_TARGET_IP, message, "target-ip"))
        return None
    if len(found) > 1 and settings.pihole_api is PiholeApi.DNS_LOCAL:
        message = (
            f"there is no record for {found[1]}: pic:piholeApi dns-local has IPv4 addresses only"
        )
        notices.add(ingress, _unusable(Reason.IPV6_UNSUPPORTED, message, "target-ip"))
        del found[1:]
    return tuple(str(each) for each in found)


class _Live:
    """Looks up what Pi-hole has, by host and family."""

    def __init__(self, found: Sequence[LiveRecord]) -> None:
        self._ours: dict[str, dict[Name, LiveRecord]] = {}
        self._others: dict[Name, list[LiveRecord]] = {}
        for each in sorted(found, key=lambda live: (*live.key, live.ip)):
            if each.ours:
                # An interrupted update leaves two of one family; one of them can be declared.
                self._ours.setdefault(each.host, {}).setdefault(each.key, each)
            else:
                self._others.setdefault(each.key, []).append(each)

    def ours(self, host: str) -> tuple[LiveRecord, ...]:
        """Return our records of a host, one of a family."""
        return tuple(self._ours.get(host, {}).values())

    def all_of_ours(self) -> Iterator[LiveRecord]:
        """Yield our records, one of a host and family."""
        for found in self._ours.values():
            yield from found.values()

    def is_ours(self, key: Name) -> bool:
        """Say whether we have a record of that host and family."""
        return key in self._ours.get(key[0], {})

    def others(self, key: Name) -> list[LiveRecord]:
        """Return the records of others for a host and family, by address."""
        return self._others.get(key, [])


def _settle(wishes: Sequence[_Wish], context: _Context) -> Iterator[Record]:
    """Yield the records of a host: its oldest Ingress decides, if it has anything to say."""
    ours = context.live.ours(wishes[0].host)
    first = next((each for each in wishes if each.addresses is not None or ours), None)
    if first is None:
        return
    held = first.addresses is None
    addresses = tuple(each.ip for each in ours) if first.addresses is None else first.addresses
    agreeing = [each for each in wishes if each.addresses in (first.addresses, addresses)]
    owners = tuple(dict.fromkeys(each.owner for each in agreeing))
    for wish in wishes:
        if wish.addresses is not None and wish not in agreeing:
            _tell_conflict(wish, first.ingress, context.notices)
    for address in addresses:
        record = Record(first.host, address, owners, held=held)
        if held or _is_free(record, first.ingress, context):
            yield record


def _tell_conflict(wish: _Wish, older: Ingress, notices: NoticeLog) -> None:
    message = (
        f"the DNS record of {wish.host} is that of Ingress {older.namespace}/{older.name}, which"
        " is older"
    )
    notices.add(wish.ingress, Problem(Reason.HOST_CONFLICT, message, wish.host))


def _is_free(record: Record, ingress: Ingress, context: _Context) -> bool:
    """Say whether a record can be declared beside what others have made, and tell of that."""
    others = context.live.others(record.key)
    if not others:
        return True
    ours = context.live.is_ours(record.key)
    problem = _beside(record, others, ours=ours, settings=context.settings)
    context.notices.add(ingress, problem)
    return ours or problem.reason is Reason.RECORD_TAKEN_OVER


def _beside(
    record: Record, others: Sequence[LiveRecord], *, ours: bool, settings: Settings
) -> Problem:
    """Return what to tell of a record where others have the name as well."""
    there = ", ".join(each.ip for each in others)
    if any(each.ip == record.ip for each in others):
        rest = "it is left as it is"
        message = f"Pi-hole has {record.host} with {there} of others: {rest}"
        return Problem(Reason.RECORD_EXISTS, message, record.host)
    told = f"Pi-hole has {record.host} with {there} of others, and {record.ip} is asked for"
    reason, effect = Reason.RECORD_CONFLICT, "theirs is replaced"
    if ours:
        effect = "it answers with both"
    elif not settings.pihole_take_over:
        effect = "theirs stays"
    elif not all(each.alone for each in others):
        effect = "theirs stays, since its line has other names too"
    else:
        reason = Reason.RECORD_TAKEN_OVER
    return Problem(reason, f"{told}: {effect}", record.host)
