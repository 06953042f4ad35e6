"""Measure this project beside its yardsticks: `python -m bench`, or `make bench`.

The Kubernetes API server, the Pulumi engine and the commands are real, and thrown away in the end.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from bench import commands, figures, options, tables
from bench.errors import BenchError
from bench.figures import Observed, Row, Samples
from bench.options import Options
from bench.rounds import Rounds
from bench.stage import Stage, stage
from dev import standalone, toolchain
from dev.controlplane import ControlPlaneError
from dev.toolchain import Toolchain
from dev.workspace import ROOT
from pic.core.json_values import mapping

OUT = ROOT / "bench" / "out"
TROUBLE = (AssertionError, BenchError, ControlPlaneError, toolchain.ToolchainError)


@dataclass(frozen=True)
class Bench:
    """One run of the measurements."""

    asked: Options
    tools: Toolchain
    began: float = field(default_factory=monotonic)

    def main(self) -> tuple[Samples, dict[Row, Observed]]:
        """Measure everything with the number of hosts that is asked for."""
        samples = Samples(self.asked.hosts)
        with stage(self.tools, self.asked.hosts) as made:
            for number in self._numbers():
                naive = number <= self.asked.naive_rounds
                self._rounds(made, samples, number).whole(number, naive=naive)
            return samples, self._rounds(made, samples, 0).watch()

    def growing(self, hosts: int) -> Samples:
        """Measure this project with a number of hosts."""
        samples = Samples(hosts)
        with stage(self.tools, hosts) as made:
            for number in self._numbers():
                self._rounds(made, samples, number).growing(number)
        return samples

    def _numbers(self) -> range:
        return range(1, self.asked.rounds + 1)

    def _rounds(self, made: Stage, samples: Samples, number: int) -> Rounds:
        """Return a round; number 0 is the one that is watched."""
        which = f"round {number} of {self.asked.rounds}" if number else "watched"
        place = f"{samples.hosts:,} hosts, {which}"

        def tell(text: str) -> None:
            ends = text.endswith("\n")
            head = "" if ends else f"[{monotonic() - self.began:7.1f} s] {place}: "
            print(head + text, end="", flush=True)

        driver = commands.driver(plain=self.asked.plain)
        return Rounds(made, driver, samples, tell)


def write(name: str, content: object) -> Path:
    """Write JSON into the folder of results."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / name
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path.relative_to(ROOT)


def watcher(hosts: int) -> Mapping[str, object]:
    """Return the memory of the watcher, where `make bench-watch` has measured so many hosts."""
    file = OUT / "watch.json"
    known = mapping(json.loads(file.read_text()), "it") if file.exists() else {}
    return mapping(known.get("rss_mb"), "rss_mb") if known.get("hosts") == hosts else {}


def run(asked: Options) -> None:
    """Measure, print tables, and write the results."""
    tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
    bench = Bench(asked, tools)
    samples, watched = bench.main()
    growth = [bench.growing(hosts) for hosts in asked.growth]
    found = figures.results(samples, growth, watched)
    found["rss_mb"] = {**mapping(found["rss_mb"], "rss_mb"), **watcher(asked.hosts)}
    for table in (tables.figures, tables.growth, tables.memory, tables.goals):
        if text := table(found):
            print("", text, sep="\n")
    every = [figures.every(each) for each in (samples, *growth)]
    written = write("results.json", found), write("rounds.json", every)
    print(f"\nThe figures are in {written[0]}, those of every round in {written[1]}.")


def main() -> int:
    """Run the measurements and return the exit code: 0 also where a goal is not met."""
    return standalone.main("bench", lambda: run(options.read(os.environ)), TROUBLE)


if __name__ == "__main__":
    sys.exit(main())
