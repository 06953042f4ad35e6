"""Defines what became of everything that asks for a host: of each Ingress, and of each host of it.

A plan accounts for every Ingress that was read, so that none of them is silently left out. No I/O.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pic.core.notices import Ref


class Ending(StrEnum):
    """What became of an Ingress or of a host, in the order of a report.

    REFUSED: The plan has nothing for it, although pic looks after the Ingress.
    HELD: What is live stays as it is.
    EXPOSED: The plan exposes it.
    IGNORED: pic does not look after the Ingress.
    """

    REFUSED = "refused"
    HELD = "held"
    EXPOSED = "exposed"
    IGNORED = "ignored"


class Ignored(StrEnum):
    """Why pic does not look after an Ingress, where that is no notice."""

    OTHER_CLASS = "OtherClass"
    MISSPELT_CLASS = "MisspeltClass"
    NO_CLASS = "NoClass"
    DISABLED = "Disabled"
    NO_RECORDS = "NoRecordsRequested"


@dataclass(frozen=True, slots=True)
class Stop:
    """The first rule that decided against something.

    Attributes:
        reason: A `Reason` of a notice, an `Ignored`, or a `Verdict` of the guard.
    """

    reason: str = ""
    message: str = ""


NO_STOP = Stop()


@dataclass(frozen=True, slots=True)
class HostFate:
    """What became of one host that an Ingress asks for.

    Attributes:
        host: The public host; as written if it cannot become one, and empty for a rule without.
        stop: Why it is not exposed; empty if it is.
    """

    host: str
    ending: Ending
    stop: Stop = NO_STOP


@dataclass(frozen=True, slots=True)
class Source:
    """What became of one Ingress.

    Attributes:
        ending: That of its best host. An Ingress with one exposed host is exposed.
        stop: Why it, or the first of its other hosts, is not exposed; empty if all are.
        hosts: What became of each of its hosts.
        origin: The file and the line that it comes from; empty for one of the cluster.
    """

    about: Ref
    ending: Ending
    stop: Stop = NO_STOP
    hosts: tuple[HostFate, ...] = ()
    origin: str = ""


def best(endings: Iterable[Ending]) -> Ending:
    """Return what an Ingress ends as whose hosts have these endings."""
    order = (Ending.EXPOSED, Ending.HELD, Ending.REFUSED, Ending.IGNORED)
    return min(endings, key=order.index)


def counts(sources: Sequence[Source]) -> Mapping[Ending, int]:
    """Return how many Ingresses have each ending."""
    tally = Counter(source.ending for source in sources)
    return {ending: tally[ending] for ending in Ending}
