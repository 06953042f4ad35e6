"""Runs the commands of a project, and times or observes them."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, perf_counter, sleep

from bench.errors import BenchError
from bench.figures import Observed
from bench.memory import Observer
from dev.controlplane import ControlPlane
from dev.workspace import Workspace

SECONDS = 3_600
TAIL_LINES = 20
# The API server and etcd always use some processor time, so a tenth of a processor counts as idle.
IDLE_LOAD, SAMPLE_SECONDS, PATIENCE_SECONDS = 0.1, 0.5, 30.0
_REQUESTS = re.compile(r"apiserver_request_total\{(.*)\} (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_SHARED_VERBS = ("LIST", "WATCH", "WATCHLIST", "DELETECOLLECTION")


@dataclass(frozen=True)
class Command:
    """Describes a command that runs in a project.

    Attributes:
        words: The program and its arguments.
        environment: Additional variables.
        good: The exit codes that mean success.
    """

    words: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    good: Sequence[int] = (0,)


@dataclass(frozen=True)
class Runner:
    """Runs commands on one control plane."""

    plane: ControlPlane

    def timed(self, project: Workspace, command: Command) -> float:
        """Run a command when the control plane is idle, and return its seconds."""
        self._settle()
        began = perf_counter()
        run(project, command)
        return perf_counter() - began

    def observed(self, project: Workspace, command: Command) -> Observed:
        """Run a command when the control plane is idle, and return its memory and requests."""
        self._settle()
        before = self._requests()
        observers: list[Observer] = []

        def observe(pid: int) -> Observer:
            observers.append(Observer(pid))
            return observers[-1]

        run(project, command, observe)
        observer = observers[0]
        requests = self._requests() - before
        engines, clis = len(observer.engines), len(observer.clis)
        return Observed(observer.tree_mb, observer.process_mb, engines, clis, requests)

    def _settle(self) -> None:
        """Wait until the control plane has finished the work of earlier commands."""
        deadline = monotonic() + PATIENCE_SECONDS
        used = self._used()
        while monotonic() < deadline:
            sleep(SAMPLE_SECONDS)
            before, used = used, self._used()
            if (used - before) / SAMPLE_SECONDS < IDLE_LOAD:
                return

    def _used(self) -> float:
        """Return the processor seconds that the control plane has used."""
        return sum(map(_processor_seconds, self.plane.pids.values()))

    def _requests(self) -> int:
        """Count the requests about single PangolinResources so far."""
        return count_requests(self.plane.kubectl("get", "--raw", "/metrics"))


def run(
    project: Workspace, command: Command, observe: Callable[[int], Observer] | None = None
) -> str:
    """Run a command and return its output.

    Raises:
        BenchError: The command failed.
    """
    with project.start(*command.words, env=command.environment) as process:
        if observe is None:
            printed, _ = process.communicate(timeout=SECONDS)
        else:
            with observe(process.pid):
                printed, _ = process.communicate(timeout=SECONDS)
    if process.returncode not in command.good:
        tail = "\n".join(printed.splitlines()[-TAIL_LINES:])
        words = " ".join(command.words)
        raise BenchError(f"{words} ended with {process.returncode}:\n{tail}")
    return printed


def count_requests(metrics: str) -> int:
    """Count requests about single PangolinResources in the metrics of an API server."""
    count = 0.0
    for text, value in _REQUESTS.findall(metrics):
        labels = dict(_LABEL.findall(text))
        single = labels.get("verb") not in _SHARED_VERBS
        if labels.get("resource") == "pangolinresources" and single:
            count += float(value)
    return int(count)


def _processor_seconds(pid: int) -> float:
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
