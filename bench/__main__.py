"""Measures pic against its yardsticks: `python -m bench`, or `make bench`.

The Kubernetes API server, the Pulumi engine and the commands are real; all of them end with the
bench.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from bench import commands, figures, tables
from bench.errors import BenchError
from bench.figures import Observed, Row, Samples
from bench.options import Options, read_options
from bench.rounds import Rounds
from bench.stage import Stage, open_stage
from dev import standalone, toolchain
from dev.controlplane import ControlPlaneError
from dev.toolchain import Toolchain
from dev.workspace import ROOT
from pic.core.json_values import mapping

OUT = ROOT / "bench" / "out"
EXPECTED_ERRORS = (AssertionError, BenchError, ControlPlaneError, toolchain.ToolchainError)


@dataclass(frozen=True)
class Bench:
    """Represents one run of the measurements."""

    options: Options
    tools: Toolchain
    began: float = field(default_factory=monotonic)

    def main(self) -> tuple[Samples, dict[Row, Observed]]:
        """Measure everything with the configured number of hosts."""
        samples = Samples(self.options.hosts)
        with open_stage(self.tools, self.options.hosts) as stage:
            for number in self._numbers():
                naive = number <= self.options.naive_rounds
                self._rounds(stage, samples, number).whole(number, naive=naive)
            return samples, self._rounds(stage, samples, 0).observe()

    def growing(self, hosts: int) -> Samples:
        """Measure pic alone with a number of hosts."""
        samples = Samples(hosts)
        with open_stage(self.tools, hosts) as stage:
            for number in self._numbers():
                self._rounds(stage, samples, number).growing(number)
        return samples

    def _numbers(self) -> range:
        return range(1, self.options.rounds + 1)

    def _rounds(self, stage: Stage, samples: Samples, number: int) -> Rounds:
        """Return a round; number 0 is the one that is observed instead of timed."""
        which = f"round {number} of {self.options.rounds}" if number else "observed"
        context = f"{samples.hosts:,} hosts, {which}"

        def tell(text: str) -> None:
            ends = text.endswith("\n")
            head = "" if ends else f"[{monotonic() - self.began:7.1f} s] {context}: "
            print(head + text, end="", flush=True)

        driver = commands.driver(plain=self.options.plain)
        return Rounds(stage, driver, samples, tell)


def write(name: str, content: object) -> Path:
    """Write JSON into bench/out, and return the path relative to the checkout."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / name
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path.relative_to(ROOT)


def watcher(hosts: int) -> Mapping[str, object]:
    """Return the memory of the watcher, if `make bench-watch` has measured this many hosts."""
    file = OUT / "watch.json"
    results = mapping(json.loads(file.read_text()), file.name) if file.exists() else {}
    return mapping(results.get("rss_mb"), "rss_mb") if results.get("hosts") == hosts else {}


def run(options: Options) -> None:
    """Measure, print tables, and write the results."""
    tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
    bench = Bench(options, tools)
    samples, observed = bench.main()
    growth = [bench.growing(hosts) for hosts in options.growth]
    results = figures.results(samples, growth, observed)
    results["rss_mb"] = {**mapping(results["rss_mb"], "rss_mb"), **watcher(options.hosts)}
    for table in (tables.figures, tables.growth, tables.memory, tables.goals):
        if text := table(results):
            print("", text, sep="\n")
    rounds = [figures.all_rounds(sample) for sample in (samples, *growth)]
    medians, single = write("results.json", results), write("rounds.json", rounds)
    print(f"\nThe medians are in {medians}, the figures of every round in {single}.")


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Run the measurements and return the exit code, which is 0 even if a goal is not met."""
    return standalone.main(
        "bench", lambda: run(read_options(environment)), EXPECTED_ERRORS, environment
    )


if __name__ == "__main__":
    sys.exit(main())
