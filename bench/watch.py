"""Measures the resident watcher: a new Ingress until its object is there, and what it takes idle.

    BENCH_HOSTS=1000 BENCH_ROUNDS=30 python -m bench.watch

A line of a run has its time, so each stage on the way is known. The yardstick is one `pic up` for
one changed host, of the same stack, in the same run.
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

from bench import commands, stage
from bench.__main__ import TROUBLE, write
from bench.errors import BenchError
from bench.running import Command
from bench.stage import NAMESPACE, RESOURCES, Object, Stage
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
    "quiet period, and the look",
    "the run begins: Python, modules",
    "cluster and last deployment read",
    "engine, until the object is there",
    "in all",
)
TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1024


@dataclass
class Watcher:
    """A watcher that runs, and what it has said: the time of each line, and its words."""

    process: "Popen[str]"
    said: list[tuple[float, str]] = field(default_factory=list)

    def read(self) -> None:
        """Note each line, until there are no more."""
        for line in self.process.stdout or ():
            moment, _, words = line.rstrip("\n").partition(" ")
            if re.match(r"\d{4}-\d\d-\d\dT", moment):
                self.said.append((datetime.fromisoformat(moment).timestamp(), words))

    @property
    def pid(self) -> int:
        """The process itself: what was started is its supervisor."""
        return int(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text())

    def when(self, word: str, since: float) -> float:
        """Return when it said something first after a moment."""
        return next(moment for moment, words in self.said if moment >= since and word in words)

    def count(self, *words: str) -> int:
        """Return how many lines have one of these words."""
        return sum(any(word in line for word in words) for _, line in self.said)

    def rest(self) -> None:
        """Wait until every run has ended, and what it did has been looked at."""
        Deadline(300).until(lambda: self.count(*ENDS) >= self.count(START) > 0, "end of the runs")
        sleep(2 * QUIET)

    def processor(self) -> float:
        """Return the processor seconds that it has used."""
        stat = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / TICKS

    def memory(self) -> dict[str, float]:
        """Return its memory, in MiB."""
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]
        found = {key: int(value.split()[0]) for key, value in (it.split(":") for it in lines)}
        return {
            "tree": round(found["Rss"] / MIB, 1),
            "process": round(found["Rss"] / MIB, 1),
            "pss": round(found["Pss"] / MIB, 1),
            "private": round((found["Private_Clean"] + found["Private_Dirty"]) / MIB, 1),
        }


@dataclass
class Arrivals:
    """When each object came, by its host, as a watch of its own sees it."""

    transport: ApiTransport
    times: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Follow them until the block ends."""
        found = mapping(self.transport.get(f"{RESOURCES}?limit=1"), "list")
        version = mapping(found["metadata"], "metadata")["resourceVersion"]
        stream = self.transport.stream(f"{RESOURCES}?watch=1&resourceVersion={version}", 3600.0)
        thread = threading.Thread(target=self._note, args=(stream,))
        thread.start()
        try:
            yield
        finally:
            stream.stop()
            thread.join()
            stream.close()

    def _note(self, events: Iterable[object]) -> None:
        # The end of the block is that of the connection.
        with contextlib.suppress(ClusterError):
            for event in events:
                match event:
                    case {"type": "ADDED", "object": {"spec": {"name": str(host)}}}:
                        self.times.setdefault(host, time())
                    case _:
                        pass


@contextmanager
def watching(made: Stage, *arguments: str) -> Iterator[Watcher]:
    """Run a watcher until the block ends, which it has to end well."""
    project = made.project
    words = (str(project.python), "-m", "pic", "watch", "--stack", commands.STACK)
    more = ("--listen", "127.0.0.1:0", "--log-format", "text", *arguments)
    with project.start(*words, *more) as process:
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
    """Return Services that no Ingress leads to."""
    metadata = [{"name": f"idle-{at}", "namespace": NAMESPACE} for at in range(count)]
    kind = {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]}}
    items = [{**kind, "metadata": each} for each in metadata]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def one(made: Stage, transport: ApiTransport, watcher: Watcher, number: int) -> list[float]:
    """Make an Ingress and return how long each stage took until its object was there."""
    arrivals = Arrivals(transport)
    asked = stage.ingress(number)
    host = asked["spec"]["rules"][0]["host"]
    with arrivals.followed():
        transport.request("POST", f"{NETWORKING}/namespaces/{NAMESPACE}/ingresses", asked)
        began = time()
        Deadline(300).until(lambda: host in arrivals.times, f"object for {host}")
    watcher.rest()
    made.expect(number + 1)
    steps = [began, *(watcher.when(word, began) for word in (START, READ, DEPLOY))]
    ends = [*steps[1:], arrivals.times[host]]
    taken = [end - start for start, end in zip(steps, ends, strict=True)]
    return [*taken, arrivals.times[host] - began]


def idle(watcher: Watcher, seconds: int) -> float:
    """Return the processor seconds of a second in which nothing happens."""
    before = watcher.processor()
    sleep(seconds)
    return (watcher.processor() - before) / seconds


def percentile(figures: list[float], part: float) -> float:
    """Return the figure that a part of all does not exceed."""
    return sorted(figures)[min(len(figures) - 1, round(part * (len(figures) - 1)))]


@dataclass(frozen=True)
class Figures:
    """What was measured; seconds, and MiB.

    Attributes:
        rss_mb: Of the watcher when it has been idle.
        after_mb: The same after all rounds.
        idle_cpu: Processor seconds of a second in which nothing happens.
        resync_cpu: Those of one resync with nothing changed.
        passes: The yardstick.
        taken: Of each round, every stage and the whole.
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

    def column(self, at: int, part: float) -> float:
        """Return a percentile of a stage."""
        return percentile([row[at] for row in self.taken], part)


def measure(made: Stage, rounds: int) -> Figures:
    """Measure everything and return the figures."""
    transport = listing.connect(Settings(), {"KUBECONFIG": str(made.plane.kubeconfig)})
    made.plane.kubectl(
        *("apply", "--server-side", "--filename=-"), input=json.dumps(services(made.hosts))
    )
    with watching(made) as watcher:
        watcher.rest()
        made.expect(made.hosts)
        print(f"{made.hosts} hosts are deployed; idle for {IDLE_SECONDS} s", flush=True)
        still = idle(watcher, IDLE_SECONDS)
        first = watcher.memory()
        taken = []
        for number in range(rounds):
            taken.append(one(made, transport, watcher, made.hosts + number))
            print(f"Ingress {number + 1} of {rounds}: {taken[-1][-1]:.2f} s", flush=True)
        after = watcher.memory()
    with watching(made, "--config", f"resyncPeriod={RESYNC_SECONDS}") as watcher:
        watcher.rest()
        busy = idle(watcher, IDLE_SECONDS)
    resync = max(0.0, busy - still) * RESYNC_SECONDS
    rows = [[round(each, 3) for each in row] for row in taken]
    return Figures(
        made.hosts, {"watch": first}, after, round(still, 5), round(resync, 4), passes(made), rows
    )


def passes(made: Stage) -> list[float]:
    """Return the seconds of `pic up` for one changed host, without a watcher."""
    words = (str(made.project.python), "-m", "pic", "up", "--stack", commands.STACK)
    found = []
    for at in range(PASSES):
        made.change_ingress(f"/pass-{at}")
        found.append(round(made.runner.timed(made.project, Command(words)), 2))
    return found


def told(found: Figures) -> str:
    """Return the figures as tables."""
    stages = [
        [name, *(f"{found.column(at, part):.2f}" for part in (0.5, 0.95))]
        for at, name in enumerate(STAGES)
    ]
    limit, p95 = QUIET + FACTOR * found.one_pass, found.column(-1, 0.95)
    memory = found.rss_mb["watch"]["tree"]
    goals = [
        ["object there, p95", f"<= {limit:.2f} s", f"{p95:.2f} s", _met(p95 <= limit)],
        ["resident, idle", "< 64 MiB", f"{memory} MiB", _met(memory < 64)],
        ["processor, idle", "< 1 %", f"{found.idle_cpu:.2%}", _met(found.idle_cpu < 0.01)],
        ["a resync", "< 0.1 s", f"{found.resync_cpu} s", _met(found.resync_cpu < 0.1)],
    ]
    return "\n\n".join(
        [
            f"quiet period {QUIET:g} s, pic up for one of {found.hosts} hosts {found.one_pass} s",
            tabulate(stages, ["an Ingress until its object", "p50 s", "p95 s"]),
            tabulate(goals, ["", "goal", "found", ""]),
        ]
    )


def _met(good: bool) -> str:  # noqa: FBT001 - a word for a truth
    return "met" if good else "NOT MET"


def run() -> None:
    """Measure, print and write."""
    hosts = int(os.environ.get("BENCH_HOSTS", "1000"))
    rounds = int(os.environ.get("BENCH_ROUNDS", "30"))
    tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
    with stage.stage(tools, hosts) as made:
        found = measure(made, rounds)
    print("", told(found), f"\nThe figures are in {write('watch.json', asdict(found))}.", sep="\n")


def main() -> int:
    """Run the measurements and return the exit code: 0 also where a goal is not met."""
    return standalone.main("bench", run, TROUBLE)


if __name__ == "__main__":
    sys.exit(main())
