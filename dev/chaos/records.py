"""Watches the DNS records of Pi-hole, and judges what happened to those of each namespace.

A host belongs to whoever registered it first, as in `judge`. Pi-hole has no versions that order its
changes with those of the API server. So the rules use the times at which the witness saw them.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from time import monotonic
from typing import NamedTuple

from dev.chaos.judge import DELETED, HOSTILE, INGRESS, LONGEST_RUN_SECONDS, Observation

# The address that every Ingress but those of the attacker asks for.
ADDRESS = "192.0.2.10"
POLL_SECONDS = 0.05
# The witness learns of an Ingress only after its watch has recovered.
SLACK_SECONDS = 15.0


class RecordEvent(NamedTuple):
    """A record that appeared in Pi-hole or disappeared, with the time of a steady clock."""

    at: float
    host: str
    ip: str
    live: bool


@dataclass(frozen=True)
class RecordJudgement:
    """The errors: records that are missing in the end, were removed, or have another address."""

    lost: tuple[str, ...] = ()
    wrong: tuple[RecordEvent, ...] = ()
    redirected: tuple[RecordEvent, ...] = ()


@dataclass
class RecordWitness:
    """Records every change of the records, as far as it sees them between two looks.

    Attributes:
        lines: Returns the lines of Pi-hole.
    """

    lines: Callable[[], Sequence[str]]
    history: list[RecordEvent] = field(default_factory=list)
    live: frozenset[tuple[str, str]] = frozenset()
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch until the block ends."""
        thread = threading.Thread(target=self._follow)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def _follow(self) -> None:
        while not self._ended.wait(POLL_SECONDS):
            self.look(monotonic())

    def look(self, now: float) -> None:
        """Record what has changed since the last look."""
        live = frozenset(parse(self.lines()))
        for host, ip in sorted(live ^ self.live):
            self.history.append(RecordEvent(now, host, ip, (host, ip) in live))
        self.live = live


def parse(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the host and the address of each record in the lines of Pi-hole."""
    for line in lines:
        ip, *hosts = line.partition("#")[0].split() or [""]
        yield from ((host, ip) for host in hosts)


def judge(
    ingresses: Iterable[Observation], records: Iterable[RecordEvent], hostile: str = HOSTILE
) -> RecordJudgement:
    """Judge a whole history of records, at the end of which nothing changes any more.

    Args:
        ingresses: What the witness saw of Ingresses.
        records: What happened to the records.
        hostile: The namespace of the attacker.
    """
    asked = _asked(event for event in ingresses if event.namespace != hostile)
    live: dict[str, set[str]] = defaultdict(set)
    wrong, redirected = [], []
    for event in records:
        (live[event.host].add if event.live else live[event.host].discard)(event.ip)
        if event.host not in asked:
            continue
        if event.live and event.ip != ADDRESS:
            redirected.append(event)
        if not event.live and event.ip == ADDRESS and _is_unexplained(event, asked[event.host]):
            wrong.append(event)
    wanted = {host for host, changes in asked.items() if changes[-1][1]}
    lost = (host for host in wanted if ADDRESS not in live[host])
    return RecordJudgement(tuple(sorted(lost)), tuple(wrong), tuple(redirected))


def _asked(events: Iterable[Observation]) -> Mapping[str, list[tuple[float, bool]]]:
    """Return when the request for the record of each host began and ended, by host."""
    asking: dict[str, set[str]] = defaultdict(set)
    changes: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    before: dict[str, tuple[str, ...]] = {}
    for event in sorted(events, key=lambda event: event.revision):
        if event.kind != INGRESS:
            continue
        hosts = () if event.change == DELETED else event.records
        for host in {*hosts, *before.get(event.uid, ())}:
            (asking[host].add if host in hosts else asking[host].discard)(event.uid)
            if not changes[host] or changes[host][-1][1] != bool(asking[host]):
                changes[host].append((event.at, bool(asking[host])))
        before[event.uid] = hosts
    return changes


def _is_unexplained(event: RecordEvent, changes: Sequence[tuple[float, bool]]) -> bool:
    """Say whether an Ingress asked for a removed record all the time that a run may take."""
    start, end = event.at - LONGEST_RUN_SECONDS, event.at + SLACK_SECONDS
    spans = pairwise([(0.0, False), *changes, (float("inf"), False)])
    idle = ((begin, finish) for (begin, asked), (finish, _) in spans if not asked)
    return not any(begin < end and finish > start for begin, finish in idle)
