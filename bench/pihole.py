"""Times the Pi-hole target: `python -m bench.pihole`, or `make bench-pihole`.

A control plane and a Pi-hole of its own, which takes as long as a real one was measured to take.
Figures go to bench/out/pihole.json, as tables to the terminal.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import monotonic, sleep
from typing import Any

from tabulate import tabulate

from bench import commands
from bench.errors import BenchError
from bench.running import Command, run
from dev import toolchain
from dev.controlplane import ControlPlane, ControlPlaneError
from dev.pihole import MEASURED, PiHole, PiHoleError
from dev.probing import Heard, Probe
from dev.toolchain import Toolchain
from dev.workspace import ROOT, Workspace, workspace
from pic.settings.stack_file import StackFile

OUT = ROOT / "bench" / "out" / "pihole.json"
NAMESPACE, DOMAIN = "bench", "example.com"
SIZES, ROUNDS = (100, 1_000), 3
GOALS = {100: 5.0, 1_000: 15.0}  # seconds until the last name resolves
FIRST, SECOND, THIRD = "192.168.9.1", "192.168.9.2", "192.168.9.3"
BY_HAND = ("192.168.1.2 nas.lan # by hand", "192.168.1.3 printer.lan")
INGRESSES = f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/ingresses"
PASSWORD = "a password for the bench"  # noqa: S105 - protects nothing

# More questions would keep Pi-hole, which is in this process, from its work.
PAUSE_SECONDS = 0.01

Figures = dict[str, Any]


@dataclass(frozen=True)
class Site:
    """Where one number of Ingresses is registered."""

    count: int
    plane: ControlPlane
    project: Workspace
    pihole: PiHole

    @property
    def names(self) -> Sequence[str]:
        """The hosts of all Ingresses."""
        return [f"app-{number}.{DOMAIN}" for number in range(self.count)]

    def empty(self) -> None:
        """Begin anew: Ingresses that were never registered, no state, no records but by hand."""
        self.plane.kubectl("delete", "--raw", INGRESSES)
        self.plane.kubectl(
            *("apply", "--server-side", "--filename=-"),
            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [*self.ingresses()]}),
        )
        self.lose_state()
        self.pihole.lines = list(BY_HAND)
        self.set_address(FIRST)

    def ingresses(self) -> Iterator[Figures]:
        """Yield an Ingress for each host."""
        for number, name in enumerate(self.names):
            annotations = {"pihole.io/register": "true"}
            metadata = {"name": f"app-{number}", "namespace": NAMESPACE, "annotations": annotations}
            backend = {"service": {"name": "web", "port": {"number": 80}}}
            path = {"path": "/", "pathType": "Prefix", "backend": backend}
            spec = {"rules": [{"host": name, "http": {"paths": [path]}}]}
            kind = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress"}
            yield {**kind, "metadata": metadata, "spec": spec}

    def lose_state(self) -> None:
        """Remove the whole state."""
        shutil.rmtree(self.project.state)
        self.project.state.mkdir()

    def set_address(self, address: str) -> None:
        """Say which address names have by default."""
        StackFile(self.project.path, commands.STACK).merge({"piholeTargetIp": address})

    @property
    def command(self) -> Sequence[str]:
        """What deploys."""
        return (str(self.project.python), "-m", "pic", "up", "--stack", commands.STACK)

    def up(self) -> Figures:
        """Deploy, and return how long that took and how often the records were written."""
        before, began = self.pihole.writes, monotonic()
        run(self.project, Command(self.command))
        return {"seconds": monotonic() - began, "writes": self.pihole.writes - before}

    def probed(self, names: Sequence[str], expected: Sequence[str]) -> Figures:
        """Deploy while names are asked for all the time, and return both."""
        with Probe(self.pihole, names, expected) as probe:
            done = self.up()
        resolved(self.pihole, names, expected[-1], lambda: False)
        return {**done, **_told(probe.heard)}


def _told(heard: Heard) -> Figures:
    return {"probes": heard.asked, "missing": heard.missing, "strange": heard.strange}


def resolved(
    pihole: PiHole, names: Sequence[str], address: str, works: Callable[[], bool]
) -> float:
    """Wait until every name has one address, and return when that was, by the monotonic clock.

    Args:
        pihole: Who is asked.
        names: What for.
        address: What each should have.
        works: Says whether what registers them still does.

    Raises:
        BenchError: A name has another address, or none, although nobody works on it any more.
    """
    for name in names:
        while (found := pihole.ask(name)) != [address]:
            if not works() and (found := pihole.ask(name)) != [address]:
                raise BenchError(f"{name} has {found} where it should have {address}")
            sleep(PAUSE_SECONDS)
    return monotonic()


def cold(site: Site) -> Figures:
    """Register everything from nothing, and time until the last name resolves."""
    site.empty()
    began = monotonic()
    with site.project.start(*site.command) as process:
        last = resolved(site.pihole, site.names, FIRST, lambda: process.poll() is None)
        printed, _ = process.communicate(timeout=300)
    if process.returncode:
        raise BenchError(f"pic up ended with {process.returncode}:\n{printed}")
    return {"resolvable": last - began, "seconds": monotonic() - began}


def measure(site: Site, rounds: int) -> Figures:
    """Return every figure of one number of Ingresses."""
    firsts = [cold(site) for _ in range(rounds)]
    found: Figures = {
        "hosts": site.count,
        "resolvable": [each["resolvable"] for each in firsts],
        "cold": [each["seconds"] for each in firsts],
        "noop": site.up(),
    }
    words = ("annotate", "ingress", "app-0", "--namespace", NAMESPACE)
    site.plane.kubectl(*words, f"pihole.io/target-ip={SECOND}")
    found["one"] = site.probed(site.names[:1], (FIRST, SECOND))
    site.set_address(THIRD)
    found["all"] = site.probed(site.names[1:], (FIRST, THIRD))
    site.lose_state()
    lines = site.pihole.lines
    found["lost"] = site.up()
    found["lost"]["moved"] = lines != site.pihole.lines
    found["by_hand"] = [line for line in site.pihole.lines if line in BY_HAND] == [*BY_HAND]
    found["at_once"], found["deaths"] = site.pihole.most_at_once, len(site.pihole.deaths)
    return found


@contextmanager
def site(tools: Toolchain, count: int) -> Iterator[Site]:
    """Start everything for one number of Ingresses; end all of it with the block."""
    with (
        ControlPlane(crds="targets", binaries=tools.controlplane) as plane,
        PiHole(password=PASSWORD, pace=MEASURED, dns=True) as pihole,
        workspace(tools, plane.kubeconfig, PIHOLE_PASSWORD=PASSWORD) as project,
    ):
        plane.kubectl("create", "namespace", NAMESPACE)
        project.pic("init", "--stack", commands.STACK)
        settings = {"targets": ["pihole"], "piholeUrl": pihole.url}
        StackFile(project.path, commands.STACK).merge(settings)
        yield Site(count, plane, project, pihole)


def checks(found: Figures) -> Iterator[tuple[str, str, str, bool]]:
    """Yield each goal with its limit, the figure, and whether it is met."""
    count, last = found["hosts"], median(found["resolvable"])
    goal = GOALS.get(count)
    name = f"{count:,} hosts: "
    if goal:
        yield f"{name}resolvable from nothing", f"{goal:g} s", f"{last:.1f} s", last < goal
    for what, key in ("one address changed", "one"), ("all addresses changed", "all"):
        gaps = found[key]["missing"] + found[key]["strange"]
        told = f"{gaps} of {found[key]['probes']:,} probes"
        yield f"{name}{what}, gaps", "0", told, gaps == 0
    for what, key in ("nothing to do", "noop"), ("state lost", "lost"):
        writes = found[key]["writes"]
        yield f"{name}{what}, writes", "0", f"{writes}", writes == 0
    yield f"{name}requests at once", "1", f"{found['at_once']}", found["at_once"] == 1
    kept = "kept" if found["by_hand"] else "changed"
    yield f"{name}lines by hand", "kept", kept, found["by_hand"]


def times(found: Figures) -> list[str]:
    """Return the seconds of one number of Ingresses, for a table."""
    seconds = (
        median(found["resolvable"]),
        median(found["cold"]),
        *(found[key]["seconds"] for key in ("noop", "one", "all", "lost")),
    )
    return [f"{found['hosts']:,}", *(f"{each:.1f}" for each in seconds)]


def report(figures: Sequence[Figures]) -> bool:
    """Print tables, and say whether every goal is met."""
    headers = ("hosts", "resolvable", "pic up", "nothing to do", "one address", "all", "state lost")
    print("Seconds:\n")
    print(tabulate([times(each) for each in figures], headers=headers, disable_numparse=True))
    rows = [row for each in figures for row in checks(each)]
    table = [(what, limit, seen, "met" if met else "NOT MET") for what, limit, seen, met in rows]
    print()
    print(tabulate(table, headers=("goal", "at most", "found", ""), disable_numparse=True))
    return all(met for *_, met in rows)


def numbers(variable: str, usual: Sequence[int]) -> Sequence[int]:
    """Read whole numbers with commas from the environment.

    Raises:
        BenchError: They are something else.
    """
    words = [each.strip() for each in os.environ.get(variable, "").split(",") if each.strip()]
    if not all(each.isdecimal() and int(each) for each in words):
        raise BenchError(f"{variable} is {','.join(words)}; allowed: whole numbers from 1")
    return [*map(int, words)] or usual


def main() -> int:
    """Measure, print and write; the exit code is 1 where a goal is not met."""
    figures = []
    try:
        sizes = numbers("BENCH_HOSTS", SIZES)
        rounds = numbers("BENCH_ROUNDS", (ROUNDS,))[0]
        tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
        for count in sizes:
            with site(tools, count) as made:
                figures.append(measure(made, rounds))
    except (BenchError, PiHoleError, ControlPlaneError, toolchain.ToolchainError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(figures, indent=2) + "\n")
    met = report(figures)
    print(f"\nEvery figure is in {OUT.relative_to(ROOT)}.")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
