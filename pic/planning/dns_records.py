"""Plans the DNS records that Pi-hole should have, from the Ingresses that request them.

`dns_requests` reads what each Ingress requests. The namespace that has a record keeps it, and a new
record goes to the oldest Ingress. A record that another client made stays untouched, unless
`pic:piholeTakeOver` is set: docs/pihole.md#which-records-belong-to-pic has the cases.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pic.core.ingress import Ingress
from pic.core.model import Family, LiveRecord, Record, Snapshot, record_id
from pic.core.notices import Notice, Reason, Ref
from pic.planning import deletions, foreign_records
from pic.planning.dns_requests import DnsRequest, hides_hosts, requests_of_all
from pic.planning.memory import Memory
from pic.planning.notice_log import NoticeLog, Problem
from pic.settings.parse import Settings

HostFamily = tuple[str, Family]


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
    by_host: dict[str, list[DnsRequest]] = {}
    for request in requests_of_all(snapshot.ingresses, settings, notices):
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
    namespaces = {ingress.namespace for ingress in snapshot.ingresses if hides_hosts(ingress)}
    for record in records if namespaces else ():
        entry = memory.record(record_id(record)) if memory else None
        if entry is None or entry.namespace in namespaces:
            yield record


def _incumbents_first(requests: Sequence[DnsRequest], memory: Memory | None) -> list[DnsRequest]:
    """Sort the requests for a host: those of the namespace that has it, then by age."""
    entries = [memory.record(f"{requests[0].host}/{family}") for family in Family] if memory else []
    owners = {entry.namespace for entry in entries if entry}
    # The sort is stable, so within each group the requests stay in the order of their age.
    return sorted(requests, key=lambda request: request.ingress.namespace not in owners)


def _unanswered(url: str, problem: str) -> Notice:
    message = f"its records are unknown, so pic neither compares nor holds them: {problem}"
    return Notice(Reason.PIHOLE_UNREADABLE, Ref("Pi-hole", "", url), message)


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


def _records(requests: Sequence[DnsRequest], context: _Context) -> Iterator[Record]:
    """Yield the records of a host; its oldest Ingress with readable or live addresses decides."""
    ours = context.live.ours(requests[0].host)
    requests = list(_present(requests, context)) if context.is_read and not ours else requests
    first = next((request for request in requests if request.addresses is not None or ours), None)
    _record_problems(requests, context.notices)
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
            problem = _conflict(request, first.ingress)
            context.notices.refuse_record(request.ingress, request.host, problem)
    if shadow := context.shadows.get(first.host):
        message = f"Pi-hole answers {first.host} with {shadow}, so its record has no effect"
        problem = Problem(Reason.RECORD_SHADOWED, message, first.host)
        context.notices.add(first.ingress, problem)
    for address in addresses:
        record = Record(first.host, address, owners, held=held)
        if held or _may_declare(record, first.ingress, context):
            yield record


def _record_problems(requests: Iterable[DnsRequest], notices: NoticeLog) -> None:
    for request in requests:
        if request.problem:
            notices.trail.refuse_record(request.ingress, request.host, request.problem)


def _present(requests: Iterable[DnsRequest], context: _Context) -> Iterator[DnsRequest]:
    """Yield the requests of Ingresses that Kubernetes is not deleting, and report the others."""
    for request in requests:
        if going := request.ingress.going:
            effect = f"no DNS record is made for {request.host}"
            notice = deletions.source_notice(request.ingress, going, request.host, effect, "")
            context.notices.put(notice)
            problem = Problem(notice.reason, notice.message)
            context.notices.trail.refuse_record(request.ingress, request.host, problem)
        else:
            yield request


def _conflict(request: DnsRequest, older: Ingress) -> Problem:
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
    may = ours or problem.reason is Reason.RECORD_TAKEN_OVER
    context.notices.add(ingress, problem)
    if not may:
        context.notices.trail.refuse_record(ingress, record.host, problem)
    return may
