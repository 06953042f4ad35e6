"""The commands that are measured: this project's, the engine's, kubectl's, the naive program's."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError
from bench.running import Command, run
from dev.workspace import ROOT, Workspace

STACK = "dev"
DIFFERS = 1  # the exit code of kubectl diff where something does
REFUSED = 3
# Yardsticks run with the settings they have by themselves, not with those of the toolchain.
BY_ITSELF = ("env", "-u", "GOGC", "-u", "PULUMI_PARALLEL")
_ACKNOWLEDGE = re.compile(r"(?:--acknowledge[ =]|PIC_ACKNOWLEDGE=)([0-9a-f]+)")


@dataclass(frozen=True)
class Driver:
    """How a stack is deployed and destroyed, each time without a question.

    Attributes:
        prepare: Makes what a first deployment expects; not measured.
        destroy: Returns the command once it is known; the look for it is not measured.
    """

    prepare: Callable[[Workspace], None]
    up: Callable[[Workspace], Command]
    destroy: Callable[[Workspace], Command]


def driver(*, plain: bool) -> Driver:
    """Return `pic up` and `pic destroy`, or plain `pulumi` in their place."""
    if plain:
        return Driver(make_stack, _pulumi_up, _pulumi_destroy)
    return Driver(lambda _: None, _pic_up, _pic_destroy)


def engine_up(project: Workspace, *, refresh: bool) -> Command:
    """Return a plain `pulumi up`."""
    flags = ("--yes", "--skip-preview", "--stack", STACK, f"--refresh={str(refresh).lower()}")
    return Command(project.pulumi_command("up", *flags))


def first_engine_up(project: Workspace) -> Command:
    """Return the plain `pulumi up` that is the first after a deployment.

    It notes in the state of every resource what the deployment left out, so it would write the
    state once for each.
    """
    plain = engine_up(project, refresh=False)
    return Command(plain.words, {"PULUMI_SKIP_CHECKPOINTS": "true"})


def naive_up(project: Workspace) -> Command:
    """Return the naive program's `pulumi up`, with default settings."""
    flags = ("--yes", "--skip-preview", "--stack", STACK)
    return Command((*BY_ITSELF, *project.pulumi_command("up", *flags)))


def engine_alone(project: Workspace, objects: Path) -> Command:
    """Return what makes the same objects by the engine, with the least that it needs."""
    here = {"PYTHONPATH": str(ROOT)}
    return Command((str(project.python), "-m", "bench.floor", str(objects)), here)


def make_stack(project: Workspace) -> None:
    """Make the empty stack."""
    project.pulumi("stack", "init", STACK, "--no-select")


def kubectl(project: Workspace, *words: str, good: tuple[int, ...] = (0,)) -> Command:
    """Return a command of kubectl."""
    whole = (*BY_ITSELF, *project.tools.controlplane.kubectl, *words)
    # In the usual place it may find what another server on this port had to offer.
    cache = {"KUBECACHEDIR": str(project.path / "kubectl")}
    return Command(whole, cache, good)


def kubectl_apply(project: Workspace, objects: Path) -> Command:
    """Return what creates the same objects."""
    return kubectl(project, "apply", "--server-side", "--filename", str(objects))


def kubectl_diff(project: Workspace, objects: Path) -> Command:
    """Return what compares the same objects."""
    words = ("diff", "--server-side", "--filename", str(objects))
    return kubectl(project, *words, good=(0, DIFFERS))


def kubectl_delete(project: Workspace, objects: Path) -> Command:
    """Return what deletes the same objects.

    Nothing keeps them, so each is gone when the answer is there. Waiting for that takes kubectl
    longer than the deletion: it watches one object after the other.
    """
    return kubectl(project, "delete", "--wait=false", "--filename", str(objects))


def _pic(project: Workspace, *words: str, good: tuple[int, ...] = (0,)) -> Command:
    return Command((str(project.python), "-m", "pic", *words, "--stack", STACK), good=good)


def _pic_up(project: Workspace) -> Command:
    return _pic(project, "up")


def _pic_destroy(project: Workspace) -> Command:
    """Return the destroy with the acknowledgement that a first one asks for."""
    refused = run(project, _pic(project, "destroy", good=(REFUSED,)))
    found = _ACKNOWLEDGE.search(refused)
    if not found:
        raise BenchError(f"pic destroy is refused without an acknowledgement:\n{refused}")
    return _pic(project, "destroy", "--acknowledge", found[1])


def _pulumi_up(project: Workspace) -> Command:
    """Return `pulumi up` in the environment that the documentation recommends."""
    recommended = {"PULUMI_SKIP_CHECKPOINTS": "true", "PULUMI_RUN_PROGRAM": "true"}
    flags = ("--yes", "--skip-preview", "--stack", STACK)
    return Command(project.pulumi_command("up", *flags), recommended)


def _pulumi_destroy(project: Workspace) -> Command:
    recommended = {"PULUMI_SKIP_CHECKPOINTS": "true", "PIC_RELEASE": "1"}
    flags = ("--yes", "--skip-preview", "--stack", STACK, "--run-program", "--refresh=false")
    return Command(project.pulumi_command("destroy", *flags), recommended)
