"""Tells what became of hosts and DNS records over time, from deployments and from the register.

A deployment says what changed, who did it and with which commit, as far back as the backend keeps
it. The register knows since when each host has been exposed, and when it went. No I/O.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pic.core.register import GoneBy, HostEntry, RecordEntry, Register
from pic.planning.changes import FieldChange


class What(StrEnum):
    """What happened to a host or to a DNS record."""

    EXPOSED = "exposed"
    CHANGED = "changed"
    MOVED = "moved"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Deployment:
    """One run of the engine.

    Attributes:
        number: Orders the deployments of a stack, as the backend does.
        time: When it began, in RFC 3339 and UTC, by the clock of the machine that deployed; empty
            if it is unknown.
        result: As the engine reports it, such as `succeeded`.
        actor: Who deployed; empty, like the rest, if nothing says so.
        pipeline: The address of the job, else the name of its system.
        acknowledged: The digests that were acknowledged.
    """

    number: int
    time: str = ""
    result: str = ""
    actor: str = ""
    commit: str = ""
    pipeline: str = ""
    acknowledged: str = ""


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened to a host, or to one DNS record of it.

    Attributes:
        time: When, in RFC 3339 and UTC; empty for earlier than anything that pic can see.
        place: The namespace and the name of the object; the address of a record.
        access: Who could open the host afterwards; empty if it went, and for a record.
        fields: What changed.
        deployment: What did it; None if only the register knows.
        remark: What the register says about it.
        is_record: Whether it is about a DNS record.
    """

    time: str
    host: str
    what: What
    place: str = ""
    access: str = ""
    fields: tuple[FieldChange, ...] = ()
    deployment: Deployment | None = None
    remark: str = ""
    is_record: bool = False

    @property
    def subject(self) -> tuple[str, bool]:
        """What it happened to: the host, or its DNS records."""
        return self.host, self.is_record


@dataclass(frozen=True, slots=True)
class Past:
    """Everything that pic can tell, the latest first.

    Attributes:
        deployments: How many deployments it knows.
        since: When the first of them began; empty without one.
        remarks: What it cannot tell, and why.
    """

    happenings: tuple[Happening, ...] = ()
    deployments: int = 0
    since: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def hosts(self) -> frozenset[str]:
        """Every host that something happened to."""
        return frozenset(it.host for it in self.happenings)


# The remark on what no deployment shows.
REGISTER = "by the register"
_BY = {
    GoneBy.PIC: "no Ingress asked for it any more",
    GoneBy.KUBERNETES: "Kubernetes deleted it together with its Ingress",
    GoneBy.OWNER: "its owner gave it up",
    GoneBy.ACKNOWLEDGED: "its removal was acknowledged",
}


def tell(
    deployments: Sequence[Deployment],
    happenings: Iterable[Happening],
    register: Register,
    remarks: Sequence[str] = (),
) -> Past:
    """Combine what the deployments did with what the register knows.

    Args:
        deployments: Those that the backend has, in their order.
        happenings: What they did, in the same order. Without a time: what was there before them.
        register: Completes what is older than the deployments.
        remarks: What could not be read.
    """
    remembered = list(_remembered(register))
    begun = {it.subject: it for it in remembered if it.what is What.EXPOSED}
    known = [begun.get(it.subject, it) if not it.time else it for it in happenings]
    told = {(it.subject, it.what is What.REMOVED) for it in known}
    known += [it for it in remembered if (it.subject, it.what is What.REMOVED) not in told]
    return Past(
        # The sort is stable, so what one deployment did stays together, in its order.
        tuple(sorted(known, key=lambda it: it.time, reverse=True)),
        len(deployments),
        next((it.time for it in deployments if it.time), ""),
        (*remarks, *_clocks(deployments)),
    )


def of_host(past: Past, host: str) -> Past:
    """Return the past of one host."""
    return replace(past, happenings=tuple(it for it in past.happenings if it.host == host))


def _remembered(register: Register) -> Iterator[Happening]:
    """Yield what the register knows: since when something is exposed, and when it went."""
    for _, entry in sorted(register.hosts.items()):
        place, access = "/".join(entry.key), _access(entry)
        began = Happening(entry.since, entry.host, What.EXPOSED, place, access, remark=REGISTER)
        yield from _with_end(began, entry)
    for _, record in sorted(register.records.items()):
        began = Happening(
            record.since, record.host, What.EXPOSED, record.ip, remark=REGISTER, is_record=True
        )
        yield from _with_end(began, record)


def _with_end(began: Happening, entry: HostEntry | RecordEntry) -> Iterator[Happening]:
    yield began
    if entry.gone:
        remark = _BY[entry.gone_by] if entry.gone_by else REGISTER
        yield replace(began, time=entry.gone, what=What.REMOVED, access="", remark=remark)


def _access(entry: HostEntry) -> str:
    if entry.block_access:
        return "blocked"
    return "login" if entry.sso else "public"


def _clocks(deployments: Sequence[Deployment]) -> Iterator[str]:
    times = [it.time for it in deployments if it.time]
    if times != sorted(times):
        yield (
            "the clocks of the machines that deployed differ: a later deployment has an earlier"
            " time, so the order of the lines may be wrong"
        )
