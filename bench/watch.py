"""Measures the resident watcher: its time from Ingress to object, and its resources when idle.

    BENCH_HOSTS=1000 BENCH_ROUNDS=30 python -m bench.watch

The log lines of the watcher have timestamps, which give the time of each stage. The yardstick is a
`pic up` for one changed host of the same stack.
"""

import contextlib
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median
from subprocess import Popen
from time import sleep, time

from tabulate import tabulate

from bench import commands
from bench.__main__ import EXPECTED_ERRORS, write
from bench.errors import BenchError
from bench.running import Command
from bench.stage import NAMESPACE, RESOURCES, Object, Stage, ingress, open_stage
from dev import standalone, toolchain
from dev.controlplane.processes import Deadline
from pic.cluster import listing
from pic.cluster.listing import NETWORKING, ApiTransport
from pic.core.errors import ClusterError
from pic.core.json_values import mapping
from pic.settings.parse import Settings

QUIET, FACTOR = 2.0, 1.2
PASSES, IDLE_SECONDS, RESYNC_SECONDS = 3, 60, 5
START, READ, DEPLOY = "starting a run", "reading the cluster", "deploying"
ENDS = ("Done:", "Nothing to do")
STAGES = (
    "quiet period and evaluation",
    "start of the run: Python, modules",
    "reading cluster and last deployment",
    "engine, until the object exists",
    "total",
)
TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1024


@dataclass
class Watcher:
    """Represents a running watcher, and its log: the time and the text of each line."""

    process: "Popen[str]"
    log: list[tuple[float, str]] = field(default_factory=list)

    def read(self) -> None:
        """Record each log line until the watcher closes its output."""
        for line in self.process.stdout or ():
            timestamp, _, text = line.rstrip("\n").partition(" ")
            if re.match(r"\d{4}-\d\d-\d\dT", timestamp):
                self.log.append((datetime.fromisoformat(timestamp).timestamp(), text))

    @property
    def pid(self) -> int:
        """The id of the watcher itself; the started process is its supervisor."""
        return int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text())

    def when(self, phrase: str, since: float) -> float:
        """Return when it first logged a phrase after a point in time."""
        return next(at for at, line in self.log if at >= since and phrase in line)

    def count(self, *phrases: str) -> int:
        """Count the lines that have one of these phrases."""
        return sum(any(phrase in line for phrase in phrases) for _, line in self.log)

    def rest(self) -> None:
        """Wait until every run has ended, and the watcher has evaluated its effects."""
        Deadline(300).until(lambda: self.count(*ENDS) >= self.count(START) > 0, "end of the runs")
        sleep(2 * QUIET)

    def processor(self) -> float:
        """Return the processor seconds that it has used."""
        stat = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / TICKS

    def memory(self) -> dict[str, float]:
        """Return its memory, in MiB."""
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]
        sizes = {key: int(value.split()[0]) for key, value in (line.split(":") for line in lines)}
        return {
            "tree": round(sizes["Rss"] / MIB, 1),
            "process": round(sizes["Rss"] / MIB, 1),
            "pss": round(sizes["Pss"] / MIB, 1),
            "private": round((sizes["Private_Clean"] + sizes["Private_Dirty"]) / MIB, 1),
        }


@dataclass
class Arrivals:
    """Records when each object was added, by its host, through a watch of its own."""

    transport: ApiTransport
    times: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Watch the objects until the block ends."""
        listing = mapping(self.transport.get(f"{RESOURCES}?limit=1"), "list")
        version = mapping(listing["metadata"], "metadata")["resourceVersion"]
        stream = self.transport.stream(f"{RESOURCES}?watch=1&resourceVersion={version}", 3600.0)
        thread = threading.Thread(target=self._record, args=(stream,))
        thread.start()
        try:
            yield
        finally:
            stream.stop()
            thread.join()
            stream.close()

    def _record(self, events: Iterable[object]) -> None:
        # The end of the block closes the connection, which ends the iteration with an error.
        with contextlib.suppress(ClusterError):
            for event in events:
                match event:
                    case {"type": "ADDED", "object": {"spec": {"name": str(host)}}}:
                        self.times.setdefault(host, time())
                    case _:
                        pass


@contextmanager
def watching(stage: Stage, *arguments: str) -> Iterator[Watcher]:
    """Run a watcher until the block ends; then it must end with exit code 0."""
    project = stage.project
    words = (str(project.python), "-m", "pic", "watch", "--stack", commands.STACK)
    flags = ("--listen", "127.0.0.1:0", "--log-format", "text", *arguments)
    with project.start(*words, *flags) as process:
        watcher = Watcher(process)
        reader = threading.Thread(target=watcher.read)
        reader.start()
        try:
            yield watcher
            os.kill(watcher.pid, signal.SIGTERM)
            if process.wait(60) != 0:
                raise BenchError(f"the watcher ended with {process.returncode}")
        finally:
            process.terminate()
            reader.join()


def services(count: int) -> Object:
    """Return Services that no Ingress uses."""
    metadata = [{"name": f"idle-{number}", "namespace": NAMESPACE} for number in range(count)]
    kind = {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]}}
    items = [{**kind, "metadata": item} for item in metadata]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def add_ingress(
    stage: Stage, transport: ApiTransport, watcher: Watcher, number: int
) -> list[float]:
    """Create an Ingress, and return the seconds of each stage and the total."""
    arrivals = Arrivals(transport)
    body = ingress(number)
    host = body["spec"]["rules"][0]["host"]
    with arrivals.followed():
        transport.request("POST", f"{NETWORKING}/namespaces/{NAMESPACE}/ingresses", body)
        began = time()
        Deadline(300).until(lambda: host in arrivals.times, f"object for {host}")
    watcher.rest()
    stage.expect(number + 1)
    steps = [began, *(watcher.when(phrase, began) for phrase in (START, READ, DEPLOY))]
    ends = [*steps[1:], arrivals.times[host]]
    taken = [end - start for start, end in zip(steps, ends, strict=True)]
    return [*taken, arrivals.times[host] - began]


def idle(watcher: Watcher, seconds: int) -> float:
    """Return the processor seconds per second while nothing happens."""
    before = watcher.processor()
    sleep(seconds)
    return (watcher.processor() - before) / seconds


def percentile(figures: list[float], part: float) -> float:
    """Return the figure that the given part of all figures does not exceed."""
    return sorted(figures)[min(len(figures) - 1, round(part * (len(figures) - 1)))]


@dataclass(frozen=True)
class Figures:
    """Holds the results, in seconds and MiB.

    Attributes:
        hosts: The number of hosts.
        rss_mb: The memory of the watcher after an idle period.
        after_mb: The same after all rounds.
        idle_cpu: The processor seconds per second while nothing happens.
        resync_cpu: The processor seconds of one resync without changes.
        passes: The times of the yardstick.
        taken: For each round, the seconds of every stage and the total.
        quiet: The quiet period of the watcher.
    """

    hosts: int
    rss_mb: dict[str, dict[str, float]]
    after_mb: dict[str, float]
    idle_cpu: float
    resync_cpu: float
    passes: list[float]
    taken: list[list[float]]
    quiet: float = QUIET

    @property
    def one_pass(self) -> float:
        """The median of the yardstick."""
        return median(self.passes)

    def column(self, index: int, part: float) -> float:
        """Return a percentile of a stage."""
        return percentile([row[index] for row in self.taken], part)


def measure(stage: Stage, rounds: int) -> Figures:
    """Measure everything and return the figures."""
    transport = listing.connect(Settings(), {"KUBECONFIG": str(stage.plane.kubeconfig)})
    stage.plane.kubectl(
        *("apply", "--server-side", "--filename=-"), input=json.dumps(services(stage.hosts))
    )
    with watching(stage) as watcher:
        watcher.rest()
        stage.expect(stage.hosts)
        print(f"{stage.hosts} hosts are deployed; idle for {IDLE_SECONDS} s", flush=True)
        idle_cpu = idle(watcher, IDLE_SECONDS)
        memory = watcher.memory()
        taken = []
        for number in range(rounds):
            taken.append(add_ingress(stage, transport, watcher, stage.hosts + number))
            print(f"Ingress {number + 1} of {rounds}: {taken[-1][-1]:.2f} s", flush=True)
        after = watcher.memory()
    with watching(stage, "--config", f"resyncPeriod={RESYNC_SECONDS}") as watcher:
        watcher.rest()
        busy = idle(watcher, IDLE_SECONDS)
    resync = max(0.0, busy - idle_cpu) * RESYNC_SECONDS
    return Figures(
        hosts=stage.hosts,
        rss_mb={"watch": memory},
        after_mb=after,
        idle_cpu=round(idle_cpu, 5),
        resync_cpu=round(resync, 4),
        passes=passes(stage),
        taken=[[round(seconds, 3) for seconds in row] for row in taken],
    )


def passes(stage: Stage) -> list[float]:
    """Return the seconds of `pic up` for one changed host, without a watcher."""
    words = (str(stage.project.python), "-m", "pic", "up", "--stack", commands.STACK)
    times = []
    for number in range(PASSES):
        stage.change_ingress(f"/pass-{number}")
        times.append(round(stage.runner.timed(stage.project, Command(words)), 2))
    return times


def report(figures: Figures) -> str:
    """Return the figures as tables."""
    stages = [
        [name, *(f"{figures.column(index, part):.2f}" for part in (0.5, 0.95))]
        for index, name in enumerate(STAGES)
    ]
    limit, p95 = QUIET + FACTOR * figures.one_pass, figures.column(-1, 0.95)
    memory = figures.rss_mb["watch"]["tree"]
    load, resync = figures.idle_cpu, figures.resync_cpu
    goals = [
        ["object exists, p95", f"<= {limit:.2f} s", f"{p95:.2f} s", _met(p95 <= limit)],
        ["memory, idle", "< 64 MiB", f"{memory} MiB", _met(memory < 64)],
        ["processor, idle", "< 1 %", f"{load:.2%}", _met(load < 0.01)],
        ["processor, one resync", "< 0.1 s", f"{resync} s", _met(resync < 0.1)],
    ]
    return "\n\n".join(
        [
            f"quiet period {QUIET:g} s; "
            f"pic up for one of {figures.hosts} hosts {figures.one_pass} s",
            tabulate(stages, ["from Ingress to object", "p50 s", "p95 s"]),
            tabulate(goals, ["", "goal", "measured", ""]),
        ]
    )


def _met(good: bool) -> str:  # noqa: FBT001 - it formats a truth value
    return "met" if good else "NOT MET"


def run() -> None:
    """Measure, print tables, and write the results."""
    hosts = int(os.environ.get("BENCH_HOSTS", "1000"))
    rounds = int(os.environ.get("BENCH_ROUNDS", "30"))
    tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
    with open_stage(tools, hosts) as stage:
        figures = measure(stage, rounds)
    path = write("watch.json", asdict(figures))
    print("", report(figures), f"\nThe figures are in {path}.", sep="\n")


def main() -> int:
    """Run the measurements and return the exit code, which is 0 even if a goal is not met."""
    return standalone.main("bench", run, EXPECTED_ERRORS)


if __name__ == "__main__":
    sys.exit(main())
