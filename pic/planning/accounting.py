"""Says what became of each Ingress and of each of its hosts, by the trail of the decisions.

Every Ingress that was read has a row, whatever its class is, so none is silently left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from pic.core.held import Held
from pic.core.ingress import Ingress
from pic.core.model import Plan, Record, Resource, Snapshot
from pic.core.notices import Reason, Ref
from pic.core.sources import NO_STOP, Ending, HostFate, Ignored, Source, Stop, best
from pic.core.unread import Unreadable
from pic.planning.dns_requests import REGISTER
from pic.planning.trail import FullTrail, Key

# pic leaves these to another Ingress: nothing is wrong with them.
_IGNORED = frozenset({Reason.SOLVER_IGNORED, Reason.CANARY_IGNORED})
_NOTHING = Stop(Reason.NO_HOSTS, "it asks for no host")
_NO_RECORDS = Stop(Ignored.NO_RECORDS, f"it has no annotation {REGISTER} that is true")


def sources(snapshot: Snapshot, plan: Plan, trail: FullTrail) -> tuple[Source, ...]:
    """Return a row for each Ingress, sorted by namespace and name."""
    accountant = Accountant(plan, trail)
    rows = [
        *map(accountant.row, snapshot.ingresses),
        *(
            accountant.unreadable(ingress)
            for ingress in snapshot.unreadable
            if ingress.kind == "Ingress"
        ),
    ]
    return tuple(sorted(rows, key=lambda row: row.about))


class Accountant:
    """Looks up what the plan has for each host, and what the trail says about it."""

    def __init__(self, plan: Plan, trail: FullTrail) -> None:
        self._trail = trail
        self._resources: Mapping[str, Resource] = {it.host: it for it in plan.resources}
        self._held: Mapping[str, Held] = {it.host: it for it in plan.held}
        self._records: dict[str, list[Record]] = defaultdict(list)
        for record in plan.records:
            self._records[record.host].append(record)

    def row(self, ingress: Ingress) -> Source:
        """Return the row of an Ingress: its public hosts, else its DNS records."""
        about, key = Ref("Ingress", *ingress.key), ingress.key
        if key in self._trail.selected:
            fates = tuple(self.fates(key)) or (HostFate("", Ending.REFUSED, _NOTHING),)
            return _of_hosts(about, fates, ingress.origin)
        if fates := tuple(self._record_fates(key)):
            return _of_hosts(about, fates, ingress.origin)
        stop = self._trail.ignored.get(key, _NO_RECORDS)
        return Source(about, Ending.IGNORED, stop, origin=ingress.origin)

    def unreadable(self, ingress: Unreadable) -> Source:
        """Return the row of an Ingress that cannot be read: what it has live is held."""
        key = ingress.namespace, ingress.name
        stop = Stop(Reason.INVALID_OBJECT, ingress.problem)
        fates = tuple(self.fates(key)) or (HostFate("", Ending.REFUSED, stop),)
        return _of_hosts(Ref("Ingress", *key), fates, "")

    def fates(self, key: Key) -> Iterator[HostFate]:
        """Yield what became of each host of an Ingress, each of them once."""
        refused = self._trail.refused.get(key, {})
        for host, stop in refused.items():
            ending = Ending.IGNORED if stop.reason in _IGNORED else Ending.REFUSED
            yield HostFate(host, ending, stop)
        claimed = dict.fromkeys(claim.host for claim in self._trail.claims.get(key, ()))
        for host in claimed:
            if host not in refused:
                yield self._fate(host, key)

    def _record_fates(self, key: Key) -> Iterator[HostFate]:
        """Yield what became of each host for which an Ingress requests DNS records."""
        refused = self._trail.refused_records.get(key, {})
        for host in dict.fromkeys((*refused, *self._trail.requests.get(key, ()))):
            records = self._records.get(host, ())
            own = (owner for record in records if not record.held for owner in record.owners)
            if any((owner.namespace, owner.name) == key for owner in own):
                yield HostFate(host, Ending.EXPOSED)
                continue
            is_held = any(record.held for record in records)
            stop = refused.get(host, NO_STOP)
            yield HostFate(host, Ending.HELD if is_held else Ending.REFUSED, stop)

    def _fate(self, host: str, key: Key) -> HostFate:
        stop = self._trail.stop_of(host)
        resource = self._resources.get(host)
        if held := self._held.get(host):
            return HostFate(host, Ending.HELD, Stop(held.verdict, held.reason))
        if resource is None:
            return HostFate(host, Ending.REFUSED, stop)
        if resource.held:
            return HostFate(host, Ending.HELD, stop)
        # An Ingress that is being deleted waits, while another one of its namespace has the host.
        if not any((owner.namespace, owner.name) == key for owner in resource.owners):
            return HostFate(host, Ending.REFUSED, stop)
        return HostFate(host, Ending.EXPOSED)


def _of_hosts(about: Ref, fates: tuple[HostFate, ...], origin: str) -> Source:
    """Return the row of an Ingress; it ends as its best host does, and says why others do not."""
    ending = best(fate.ending for fate in fates)
    stop = next((fate.stop for fate in fates if fate.ending is not Ending.EXPOSED), NO_STOP)
    return Source(about, ending, stop, fates, origin=origin)
