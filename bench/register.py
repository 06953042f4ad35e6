"""Measures the register: its size, and what reading it adds to a run with nothing to do.

    BENCH_HOSTS=10000 BENCH_ROUNDS=5 python -m bench.register

The yardstick is the same run of the same stack without a register.
"""

import json
import os
import sys
from dataclasses import dataclass
from statistics import median

from bench import commands
from bench.__main__ import EXPECTED_ERRORS, write
from bench.errors import BenchError
from bench.running import run as run_command
from bench.stage import Stage, open_stage
from dev import standalone, toolchain
from dev.workspace import ROOT
from pic.settings.stack_file import StackFile

# Where bench.stage keeps the register.
CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
SIZE_GOAL, RATIO_GOAL = 2_000_000, 1.2


@dataclass(frozen=True)
class Figures:
    """What was measured: bytes of data in all ConfigMaps and in the largest, and seconds."""

    hosts: int
    total: int
    largest: int
    with_register: float
    without: float

    @property
    def ratio(self) -> float:
        """The time of a run with nothing to do, compared with the run without a register."""
        return self.with_register / self.without


def measure(stage: Stage, rounds: int) -> Figures:
    """Deploy everything, and time runs with nothing to do with and without the register."""
    file = StackFile(stage.project.path, commands.STACK)
    # The namespace of the tunnels would be that of the register too.
    file.merge({"tunnelNamespace": "", "tunnelNamespaces": "."})
    with_register = _unchanged(stage, rounds)
    total, largest = sizes(stage)
    file.merge({"registerNamespace": ""})
    without = _unchanged(stage, rounds)
    return Figures(stage.hosts, total, largest, with_register, without)


def _unchanged(stage: Stage, rounds: int) -> float:
    """Deploy, and return the median of the seconds of runs with nothing to do."""
    up = commands.driver(plain=False).up(stage.project)
    run_command(stage.project, up)
    stage.expect(stage.hosts)
    before = stage.identities()
    times = [stage.runner.timed(stage.project, up) for _ in range(rounds)]
    stage.expect_moved(0, before)
    return median(times)


def sizes(stage: Stage) -> tuple[int, int]:
    """Return the bytes of data in the ConfigMaps of the register: all together, and the most."""
    items = json.loads(stage.plane.kubectl("get", "--raw", CONFIG_MAPS))["items"]
    data = [
        len(json.dumps(item.get("data", {})).encode())
        for item in items
        if item["metadata"]["name"].startswith(f"pic-{commands.STACK}-")
    ]
    if not data:
        raise BenchError("the stack has no register")
    return sum(data), max(data)


def run() -> None:
    """Measure, and print the figures and whether they reach the goals."""
    hosts = int(os.environ.get("BENCH_HOSTS", "10000"))
    rounds = int(os.environ.get("BENCH_ROUNDS", "5"))
    os.chdir(ROOT)
    tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
    print(f"{hosts:,} hosts: this takes minutes", flush=True)
    with open_stage(tools, hosts) as stage:
        figures = measure(stage, rounds)
    print(
        f"register: {figures.total / 1e6:.2f} MB in all (goal: under {SIZE_GOAL / 1e6:g} MB), the"
        f" largest ConfigMap {figures.largest / 1e3:.0f} kB\n"
        f"nothing to do: {figures.with_register:.2f} s with it, {figures.without:.2f} s without:"
        f" {figures.ratio:.2f} x (goal: {RATIO_GOAL} x)"
    )
    print(f"written: {write('register.json', vars(figures))}")


if __name__ == "__main__":
    sys.exit(standalone.main("bench", run, EXPECTED_ERRORS))
