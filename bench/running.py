"""Runs commands in a project: timed, or watched."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, perf_counter, sleep

from bench.errors import BenchError
from bench.figures import Observed
from bench.memory import Watch
from dev.controlplane import ControlPlane
from dev.workspace import Workspace

SECONDS = 3_600
TAIL_LINES = 20
# The API server and etcd are never quite still.
STILL, STILL_SECONDS, PATIENCE_SECONDS = 0.1, 0.5, 30.0
_REQUESTS = re.compile(r"apiserver_request_total\{(.*)\} (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_SHARED_VERBS = ("LIST", "WATCH", "WATCHLIST", "DELETECOLLECTION")


@dataclass(frozen=True)
class Command:
    """A command line of a project, and what it needs.

    Attributes:
        good: Exit codes of success.
    """

    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    good: Sequence[int] = (0,)


@dataclass(frozen=True)
class Runner:
    """Runs commands on one control plane."""

    plane: ControlPlane

    def timed(self, project: Workspace, command: Command) -> float:
        """Run a command once the control plane is still, and return its seconds."""
        self._settle()
        began = perf_counter()
        run(project, command)
        return perf_counter() - began

    def watched(self, project: Workspace, command: Command) -> Observed:
        """Run a command and return what was seen of it."""
        self._settle()
        before = self._requests()
        watches: list[Watch] = []

        def watch(pid: int) -> Watch:
            watches.append(Watch(pid))
            return watches[-1]

        run(project, command, watch)
        seen = watches[0]
        requests = self._requests() - before
        engines, clis = len(seen.engines), len(seen.clis)
        return Observed(seen.tree_mb, seen.process_mb, engines, clis, requests)

    def _settle(self) -> None:
        """Wait until the control plane has done what earlier commands left it to do."""
        end = monotonic() + PATIENCE_SECONDS
        used = self._used()
        while monotonic() < end:
            sleep(STILL_SECONDS)
            before, used = used, self._used()
            if (used - before) / STILL_SECONDS < STILL:
                return

    def _used(self) -> float:
        """Return the processor seconds that the control plane has used."""
        return sum(map(_processor_seconds, self.plane.pids.values()))

    def _requests(self) -> int:
        """Count the requests about single PangolinResources so far."""
        return count_requests(self.plane.kubectl("get", "--raw", "/metrics"))


def run(project: Workspace, command: Command, watch: Callable[[int], Watch] | None = None) -> str:
    """Run a command to its end and return what it printed.

    Raises:
        BenchError: It failed.
    """
    with project.start(*command.words, env=command.environment) as process:
        if watch is None:
            printed, _ = process.communicate(timeout=SECONDS)
        else:
            with watch(process.pid):
                printed, _ = process.communicate(timeout=SECONDS)
    if process.returncode not in command.good:
        tail = "\n".join(printed.splitlines()[-TAIL_LINES:])
        words = " ".join(command.words)
        raise BenchError(f"{words} ended with {process.returncode}:\n{tail}")
    return printed


def count_requests(metrics: str) -> int:
    """Count requests about single PangolinResources in the metrics of an API server."""
    found = 0.0
    for labels, value in _REQUESTS.findall(metrics):
        known = dict(_LABEL.findall(labels))
        single = known.get("verb") not in _SHARED_VERBS
        if known.get("resource") == "pangolinresources" and single:
            found += float(value)
    return int(found)


def _processor_seconds(pid: int) -> float:
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
