"""Records why planning decides as it does, at the place where it decides.

A trail keeps references to the values of each step, which exist anyway. What a report shows is made
of them only where it is asked for.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from pic.core.ingress import Ingress
from pic.core.notices import Reason
from pic.core.sources import NO_STOP, Stop

if TYPE_CHECKING:
    from pic.planning.claims import Claim, Contest
    from pic.planning.dns_requests import DnsRequest
    from pic.planning.notice_log import Problem
    from pic.planning.routes import Routes
    from pic.planning.selection import Selected

Key = tuple[str, str]


class Why(NamedTuple):
    """Why something goes.

    Attributes:
        text: A sentence without its end.
        origin: The files and lines that say so; empty for the cluster.
    """

    text: str
    origin: str = ""

    def __str__(self) -> str:
        """Return the text with its origin."""
        return f"{self.text} ({self.origin})" if self.origin else self.text


def join(reasons: Iterable[Why]) -> Why:
    """Return several reasons as one, each of them once."""
    unique = list(dict.fromkeys(reasons))
    origins = dict.fromkeys(why.origin for why in unique if why.origin)
    return Why("; ".join(why.text for why in unique), ", ".join(origins))


class Trail:
    """What every plan keeps: why something does not go its usual way.

    Few things do not, so this costs next to nothing. `FullTrail` keeps the rest.

    Attributes:
        ignored: Why Ingresses do not count, by namespace and name.
        refused: The hosts of each Ingress that it does not get, each with the first rule.
        refused_records: The same for the hosts of its DNS records.
        departures: Why live objects of ours are not planned, by namespace and name, and DNS
            records, by host and family.
        weakenings: Which Ingresses no longer ask for the protection of a host.
    """

    def __init__(self) -> None:
        self.ignored: dict[Key, Stop] = {}
        self.refused: dict[Key, dict[str, Stop]] = defaultdict(dict)
        self.refused_records: dict[Key, dict[str, Stop]] = defaultdict(dict)
        self.departures: dict[Key, Why] = {}
        self.weakenings: dict[str, Why] = {}
        self._stops: dict[str, tuple[Stop, Collection[Claim]]] = {}

    def refuse(self, ingress: Ingress, host: str, problem: "Problem") -> None:
        """Record why an Ingress does not get a host; the first rule counts."""
        self.refused[ingress.key].setdefault(host, Stop(problem.reason, problem.message))

    def refuse_record(self, ingress: Ingress, host: str, problem: "Problem") -> None:
        """Record why an Ingress does not get the DNS record of a host; the first rule counts."""
        self.refused_records[ingress.key].setdefault(host, Stop(problem.reason, problem.message))

    def stop(self, contest: "Contest", reason: Reason, message: str) -> None:
        """Record why a host is held or has no resource; the first rule counts."""
        self._stops.setdefault(contest.host, (Stop(reason, message), contest.claims))

    def stop_of(self, host: str) -> Stop:
        """Return why a host is held or has no resource; empty for no reason."""
        return self._stops.get(host, (NO_STOP, ()))[0]

    def against(self, key: Key, host: str) -> Stop | None:
        """Return why an Ingress does not get a host that it asks for; None for no reason."""
        if stop := self.refused.get(key, {}).get(host):
            return stop
        stop, claims = self._stops.get(host, (NO_STOP, ()))
        return stop if any(claim.ingress.key == key for claim in claims) else None

    def select(self, selected: "Selected") -> None:
        """Record an Ingress that counts."""

    def claim(self, claim: "Claim") -> None:
        """Record a claim, also one that loses its host."""

    def settle(self, contest: "Contest") -> None:
        """Record who gets a host."""

    def route(self, routes: "Routes") -> None:
        """Record the paths of a host."""

    def request(self, request: "DnsRequest") -> None:
        """Record a request for DNS records."""


class FullTrail(Trail):
    """Keeps every decision, for an explanation and for the account of every Ingress.

    It keeps the values of each step alive, so the collector of Python has more to do. A run that
    shows nothing of it uses `Trail`.

    Attributes:
        selected: The Ingresses that count, by namespace and name.
        claims: The claims of each Ingress, those included that lose their host.
        contests: Who gets each host.
        routes: The paths of each host.
        requests: The hosts for which each Ingress requests DNS records.
    """

    def __init__(self) -> None:
        super().__init__()
        self.selected: dict[Key, Selected] = {}
        self.claims: dict[Key, list[Claim]] = defaultdict(list)
        self.contests: dict[str, Contest] = {}
        self.routes: dict[str, Routes] = {}
        self.requests: dict[Key, list[str]] = defaultdict(list)

    def select(self, selected: "Selected") -> None:
        """Keep an Ingress that counts."""
        self.selected[selected.ingress.key] = selected

    def claim(self, claim: "Claim") -> None:
        """Keep a claim."""
        self.claims[claim.ingress.key].append(claim)

    def settle(self, contest: "Contest") -> None:
        """Keep who gets a host."""
        self.contests[contest.host] = contest

    def route(self, routes: "Routes") -> None:
        """Keep the paths of a host."""
        self.routes[routes.host] = routes

    def request(self, request: "DnsRequest") -> None:
        """Keep a request for DNS records."""
        self.requests[request.ingress.key].append(request.host)
