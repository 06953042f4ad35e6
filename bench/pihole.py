"""Times the Pi-hole target: `python -m bench.pihole`, or `make bench-pihole`.

It starts a control plane, and a Pi-hole with the measured latencies of a real one. It prints tables
and writes the figures to bench/out/pihole.json.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from dev.probing import Probe, ProbeCounts
from dev.toolchain import Toolchain
from dev.workspace import ROOT, Workspace, workspace
from pic.settings.stack_file import StackFile

OUT = ROOT / "bench" / "out" / "pihole.json"
NAMESPACE, DOMAIN = "bench", "example.com"
SIZES, ROUNDS = (100, 1_000, 3_000), 3
GOALS = {100: 5.0, 1_000: 15.0}  # seconds until the last name resolves
CHANGE_GOALS = {1_000: 15.0}  # seconds to change every address
MOST_WRITES = 20  # of one run, whatever it changes
FIRST, SECOND, THIRD = "192.168.9.1", "192.168.9.2", "192.168.9.3"
BY_HAND = ("192.168.1.2 nas.lan # by hand", "192.168.1.3 printer.lan")
INGRESSES = f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/ingresses"
PASSWORD = "a password for the bench"  # noqa: S105 - only for this bench

# Pi-hole runs in this process, so more queries would slow it down.
PAUSE_SECONDS = 0.01

Figures = dict[str, Any]


@dataclass(frozen=True)
class Site:
    """Holds what one number of Ingresses is measured with."""

    count: int
    plane: ControlPlane
    project: Workspace
    pihole: PiHole

    @property
    def names(self) -> Sequence[str]:
        """The hosts of all Ingresses."""
        return [f"app-{number}.{DOMAIN}" for number in range(self.count)]

    def reset(self) -> None:
        """Start over: new Ingresses, no state, and only the records made by hand."""
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
        """Set the default address of the names."""
        StackFile(self.project.path, commands.STACK).merge({"piholeTargetIp": address})

    @property
    def command(self) -> Sequence[str]:
        """The command that deploys."""
        return (str(self.project.python), "-m", "pic", "up", "--stack", commands.STACK)

    def up(self) -> Figures:
        """Deploy, and return the time and the number of writes to Pi-hole."""
        before, began = self.pihole.writes, monotonic()
        run(self.project, Command(self.command))
        return {"seconds": monotonic() - began, "writes": self.pihole.writes - before}

    def probed(self, names: Sequence[str], expected: Sequence[str]) -> Figures:
        """Deploy while a probe queries the names, and return the figures of both."""
        with Probe(self.pihole, names, expected) as probe:
            figures = self.up()
        resolved(self.pihole, names, expected[-1], lambda: False)
        return {**figures, **_probe_figures(probe.counts)}


def _probe_figures(counts: ProbeCounts) -> Figures:
    return {"probes": counts.queries, "missing": counts.missing, "strange": counts.unexpected}


def resolved(
    pihole: PiHole, names: Sequence[str], address: str, running: Callable[[], bool]
) -> float:
    """Wait until every name resolves to one address, and return the monotonic time of that.

    Args:
        pihole: The resolver.
        names: The names to resolve.
        address: The address that each name should have.
        running: Says whether the process that registers the names still runs.

    Raises:
        BenchError: The process has ended, but a name does not have the address.
    """
    for name in names:
        while pihole.ask(name) != [address]:
            # The record may have come between the query and the end of the process.
            if not running() and (answer := pihole.ask(name)) != [address]:
                raise BenchError(f"{name} resolves to {answer}, but should resolve to {address}")
            sleep(PAUSE_SECONDS)
    return monotonic()


def cold(site: Site) -> Figures:
    """Register all hosts from an empty state, and time until the last name resolves."""
    site.reset()
    before, began = site.pihole.writes, monotonic()
    with site.project.start(*site.command) as process:
        last = resolved(site.pihole, site.names, FIRST, lambda: process.poll() is None)
        printed, _ = process.communicate(timeout=300)
    if process.returncode:
        raise BenchError(f"pic up ended with {process.returncode}:\n{printed}")
    return {
        "resolvable": last - began,
        "seconds": monotonic() - began,
        "writes": site.pihole.writes - before,
    }


def measure(site: Site, rounds: int) -> Figures:
    """Return every figure of one number of Ingresses."""
    deployments = [cold(site) for _ in range(rounds)]
    figures: Figures = {
        "hosts": site.count,
        "resolvable": [deployment["resolvable"] for deployment in deployments],
        "cold": [deployment["seconds"] for deployment in deployments],
        "writes": max(deployment["writes"] for deployment in deployments),
        "noop": site.up(),
    }
    words = ("annotate", "ingress", "app-0", "--namespace", NAMESPACE)
    site.plane.kubectl(*words, f"pihole.io/target-ip={SECOND}")
    figures["one"] = site.probed(site.names[:1], (FIRST, SECOND))
    site.set_address(THIRD)
    figures["all"] = site.probed(site.names[1:], (FIRST, THIRD))
    site.lose_state()
    lines = site.pihole.lines
    figures["lost"] = site.up()
    figures["lost"]["moved"] = lines != site.pihole.lines
    figures["by_hand"] = [line for line in site.pihole.lines if line in BY_HAND] == [*BY_HAND]
    figures["at_once"], figures["deaths"] = site.pihole.most_at_once, len(site.pihole.deaths)
    return figures


@contextmanager
def open_site(tools: Toolchain, count: int) -> Iterator[Site]:
    """Start everything for one number of Ingresses; everything ends with the block."""
    with (
        ControlPlane(crds="targets", binaries=tools.controlplane) as plane,
        PiHole(password=PASSWORD, pace=MEASURED, dns=True) as pihole,
        workspace(tools, plane.kubeconfig, PIHOLE_PASSWORD=PASSWORD) as project,
    ):
        plane.kubectl("create", "namespace", NAMESPACE)
        namespaces = ("--register-namespace", "kube-system", "--tunnel-namespace", NAMESPACE)
        project.pic("init", "--stack", commands.STACK, *namespaces)
        settings = {"targets": ["pihole"], "piholeUrl": pihole.url, "maxRetargeted": count}
        StackFile(project.path, commands.STACK).merge(settings)
        yield Site(count, plane, project, pihole)


def checks(figures: Figures) -> Iterator[tuple[str, str, str, bool]]:
    """Yield each goal with its limit, the figure, and whether the goal is met."""
    count, last = figures["hosts"], median(figures["resolvable"])
    goal = GOALS.get(count)
    name = f"{count:,} hosts: "
    if goal:
        yield (
            f"{name}first deployment, until the last name resolves",
            f"{goal:g} s",
            f"{last:.1f} s",
            last < goal,
        )
    goal = CHANGE_GOALS.get(count)
    if goal:
        seconds = figures["all"]["seconds"]
        yield (
            f"{name}all addresses changed",
            f"{goal:g} s",
            f"{seconds:.1f} s",
            seconds < goal,
        )
    for what, writes in (
        ("first deployment", figures["writes"]),
        ("all addresses changed", figures["all"]["writes"]),
    ):
        yield f"{name}{what}, writes", f"{MOST_WRITES}", f"{writes}", writes <= MOST_WRITES
    for what, key in ("one address changed", "one"), ("all addresses changed", "all"):
        gaps = figures[key]["missing"] + figures[key]["strange"]
        measured = f"{gaps} of {figures[key]['probes']:,} probes"
        yield f"{name}{what}, gaps", "0", measured, gaps == 0
    for what, key in ("nothing to do", "noop"), ("state lost", "lost"):
        writes = figures[key]["writes"]
        yield f"{name}{what}, writes", "0", f"{writes}", writes == 0
    concurrent = figures["at_once"]
    yield f"{name}concurrent requests", "1", f"{concurrent}", concurrent == 1
    lines = "unchanged" if figures["by_hand"] else "changed"
    yield f"{name}records made by hand", "unchanged", lines, figures["by_hand"]


def times(figures: Figures) -> list[str]:
    """Return the seconds of one number of Ingresses, for a table."""
    seconds = (
        median(figures["resolvable"]),
        median(figures["cold"]),
        *(figures[key]["seconds"] for key in ("noop", "one", "all", "lost")),
    )
    return [f"{figures['hosts']:,}", *(f"{figure:.1f}" for figure in seconds)]


def report(results: Sequence[Figures]) -> bool:
    """Print tables, and return whether every goal is met."""
    headers = ("hosts", "resolvable", "pic up", "nothing to do", "one address", "all", "state lost")
    print("Seconds:\n")
    print(tabulate([times(figures) for figures in results], headers=headers, disable_numparse=True))
    rows = [row for figures in results for row in checks(figures)]
    table = [
        (what, limit, measured, "met" if met else "NOT MET") for what, limit, measured, met in rows
    ]
    print()
    print(tabulate(table, headers=("goal", "at most", "measured", ""), disable_numparse=True))
    return all(met for *_, met in rows)


def numbers(
    variable: str, default: Sequence[int], environment: Mapping[str, str] = os.environ
) -> Sequence[int]:
    """Read whole numbers, separated by commas, from an environment variable.

    Raises:
        BenchError: The variable has other content.
    """
    words = [word.strip() for word in environment.get(variable, "").split(",") if word.strip()]
    if not all(word.isdecimal() and int(word) for word in words):
        raise BenchError(f"{variable} is {','.join(words)}; allowed: whole numbers from 1")
    return [*map(int, words)] or default


def main() -> int:
    """Measure, print and write; return 1 if a goal is not met."""
    results = []
    try:
        sizes = numbers("BENCH_HOSTS", SIZES)
        rounds = numbers("BENCH_ROUNDS", (ROUNDS,))[0]
        tools = toolchain.resolve(echo=lambda line: print(line, file=sys.stderr))
        for count in sizes:
            with open_site(tools, count) as site:
                results.append(measure(site, rounds))
    except (BenchError, PiHoleError, ControlPlaneError, toolchain.ToolchainError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(results, indent=2) + "\n")
    met = report(results)
    print(f"\nThe figures are in {OUT.relative_to(ROOT)}.")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
