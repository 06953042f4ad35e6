"""Judges a plan: what needs an acknowledgement is held, and all the rest goes through."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from pic.core.held import Held, Verdict, digest_of_all
from pic.core.model import KIND, Plan, Record, record_id
from pic.core.notices import Notice, Reason, Ref
from pic.core.register import GoneBy, moment, timestamp
from pic.planning import changes as comparing
from pic.planning import holds, record_holds, removals
from pic.planning.holds import Candidate, HostGuard
from pic.planning.inventory import Inventory
from pic.planning.notice_log import NoticeLog
from pic.planning.record_holds import RecordCandidate, RecordGuard
from pic.planning.registering import Registrar
from pic.planning.request import PlanRequest

_REMOVALS = (Verdict.REMOVED, Verdict.OUTSIDE)


def judge(request: PlanRequest, plan: Plan, notices: NoticeLog) -> Plan:
    """Return the plan with what needs an acknowledgement as it is, and with the next register."""
    inventory = Inventory(request.snapshot.live, request.memory)
    resources = {resource.host: resource for resource in plan.resources}
    records = {record_id(record): record for record in plan.records}
    hosts = HostGuard(request, inventory, resources, trail=notices.trail)
    entries = RecordGuard(request, records, notices.trail)
    candidates: list[Candidate | RecordCandidate] = [*hosts.candidates(), *entries.candidates()]
    acknowledged = _acknowledged(request, plan, [it.held for it in candidates], notices)
    if moved := _acknowledged_moves(candidates, acknowledged):
        hosts = HostGuard(request, inventory, resources, moved, notices.trail)
    judged: list[Candidate | RecordCandidate] = [*hosts.candidates(), *entries.candidates()]
    waiting = [it for it in judged if it.held.digest not in acknowledged]
    of_hosts = [it for it in waiting if isinstance(it, Candidate)]
    resources = holds.apply(resources, of_hosts)
    records = record_holds.apply(records, [it for it in waiting if isinstance(it, RecordCandidate)])
    for candidate in waiting:
        notices.put(_notice(candidate))
    used = {it.held.host for it in candidates if it.held.digest in acknowledged}
    registrar = _registrar(request, inventory, {it.held.host for it in waiting}, used)
    register = registrar.register(
        resources,
        _registered(request, records),
        {**hosts.removal_reasons, **_released(candidates, acknowledged)},
    )
    return Plan(
        resources=tuple(resource for _, resource in sorted(resources.items())),
        records=tuple(record for _, record in sorted(records.items(), key=_record_order)),
        held=tuple(sorted((it.held for it in waiting), key=lambda it: (it.host, it.verdict))),
        register=register,
        no_host_survives=hosts.nothing_survives,
        no_record_survives=entries.nothing_survives,
        next_change=_next_change(request, waiting),
    )


def _acknowledged_moves(
    candidates: Sequence[Candidate | RecordCandidate], acknowledged: Collection[str]
) -> Collection[str]:
    return {
        it.held.host
        for it in candidates
        if isinstance(it, Candidate) and it.leaves_namespace and it.held.digest in acknowledged
    }


def _registered(request: PlanRequest, records: Mapping[str, Record]) -> Mapping[str, Record]:
    """Return the records that the register gets: without an answer of Pi-hole no new ones.

    Pi-hole may refuse a new one, since another client has a record of that host. If the register
    had it nevertheless, the next run would take the record of that client as ours.
    """
    if request.snapshot.records is not None:
        return records
    return {name: it for name, it in records.items() if request.memory.record(name)}


def _record_order(item: tuple[str, object]) -> str:
    return item[0]


def _acknowledged(
    request: PlanRequest, plan: Plan, held: Sequence[Held], notices: NoticeLog
) -> Collection[str]:
    """Return the digests of the changes that the settings acknowledge."""
    given = set(filter(None, request.settings.acknowledge.split(",")))
    if not given:
        return ()
    digests = {it.digest for it in held}
    # A digest of a whole run is from a refusal, or from an earlier release of pic.
    of_all = given & {digest_of_all(digests), _digest_of_run(request, plan)}
    for digest in sorted(given - digests - of_all):
        setting = Ref("Setting", "", "acknowledge")
        message = f"{digest} fits nothing that waits: it was used, or something has changed"
        notices.put(Notice(Reason.ACKNOWLEDGEMENT_UNUSED, setting, message))
    return digests if of_all else digests & given


def _digest_of_run(request: PlanRequest, plan: Plan) -> str:
    changes = comparing.between(request.snapshot, plan, request.stack, request.memory)
    return changes.digest


def _released(
    candidates: Sequence[Candidate | RecordCandidate], acknowledged: Collection[str]
) -> dict[str, GoneBy]:
    return {
        it.held.host: GoneBy.ACKNOWLEDGED
        for it in candidates
        if it.held.verdict in _REMOVALS and it.held.digest in acknowledged
    }


def _registrar(
    request: PlanRequest, inventory: Inventory, waiting: Collection[str], used: Collection[str]
) -> Registrar:
    state = request.snapshot.state
    return Registrar(
        request.memory,
        inventory,
        request.settings,
        request.snapshot.cluster_id,
        state.serials if state else {},
        waiting,
        used,
        keeps_hosts=request.snapshot.silent is not None,
    )


def _notice(candidate: Candidate | RecordCandidate) -> Notice:
    held = candidate.held
    kept = _kept(candidate)
    message = f"{held.host} {kept} {held.old}: {held.reason}. This waits for an acknowledgement"
    reason = Reason.LEFT_OUTSIDE if held.verdict is Verdict.OUTSIDE else Reason.HELD
    return Notice(reason, _about(candidate), message, held.host)


def _kept(candidate: Candidate | RecordCandidate) -> str:
    verdict = candidate.held.verdict
    if verdict is Verdict.WEAKENED:
        return "keeps its"
    if candidate.live is None:
        return "is kept for"
    is_address = isinstance(candidate, RecordCandidate) and verdict is not Verdict.MOVED
    return "stays at" if is_address or verdict is Verdict.RETARGETED else "stays in"


def _about(candidate: Candidate | RecordCandidate) -> Ref:
    if isinstance(candidate, RecordCandidate):
        return Ref("DNS record", "", candidate.held.host)
    resource, live = candidate.about, candidate.live
    # The Ingress that would change the host waits, so its owner has to know.
    for owners in (resource.owners if resource else (), live.owners if live else ()):
        for owner in owners:
            return Ref("Ingress", owner.namespace, owner.name)
    name = live.name if live else candidate.held.host
    return Ref(KIND, candidate.held.namespace, name)


def _next_change(request: PlanRequest, waiting: Sequence[Candidate | RecordCandidate]) -> str:
    """Return when time alone lets something through that waits now; empty for never."""
    moments = list(_moments(request, waiting))
    return timestamp(min(moments)) if moments else ""


def _moments(
    request: PlanRequest, waiting: Sequence[Candidate | RecordCandidate]
) -> Iterator[datetime]:
    memory, settings = request.memory, request.settings
    hosts, records = memory.register.hosts, memory.register.records
    verdicts = {it.held.verdict for it in waiting}
    for candidate in waiting:
        entry = hosts.get(candidate.held.host) or records.get(candidate.held.host)
        if candidate.held.verdict is Verdict.MOVED and entry and entry.gone:
            yield moment(entry.gone) + memory.limits.move_after
    if Verdict.REMOVED in verdicts:
        for entry in (
            *removals.counted(hosts.values(), memory),
            *removals.counted(records.values(), memory),
        ):
            yield moment(entry.gone) + settings.removal_window
