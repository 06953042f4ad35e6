"""Builds the commands to measure: those of pic, the engine, kubectl and the naive program."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError
from bench.running import Command, run
from dev.workspace import ROOT, Workspace

STACK = "dev"
DIFFERS = 1  # the exit code of kubectl diff if it finds a difference
REFUSED = 3
# Yardsticks run with their default settings, not with those of the toolchain.
WITH_DEFAULTS = ("env", "-u", "GOGC", "-u", "PULUMI_PARALLEL")
# Steps wait for the API server, not for a processor, so more of them can run at once.
PARALLEL = "32"
RECOMMENDED = {"PULUMI_SKIP_CHECKPOINTS": "true", "PULUMI_PARALLEL": PARALLEL}
_ACKNOWLEDGE = re.compile(r"(?:--acknowledge[ =]|PIC_ACKNOWLEDGE=)([0-9a-f]+)")


@dataclass(frozen=True)
class Driver:
    """Deploys and destroys a stack without prompts.

    Attributes:
        prepare: Makes what a first deployment needs; this is not measured.
        up: Returns the command that deploys.
        destroy: Returns the command that destroys; finding it is not measured.
    """

    prepare: Callable[[Workspace], None]
    up: Callable[[Workspace], Command]
    destroy: Callable[[Workspace], Command]


def driver(*, plain: bool) -> Driver:
    """Return a driver that uses `pic up` and `pic destroy`, or plain `pulumi`."""
    if plain:
        return Driver(make_stack, _pulumi_up, _pulumi_destroy)
    return Driver(lambda _: None, _pic_up, _pic_destroy)


def engine_up(project: Workspace, *, refresh: bool) -> Command:
    """Return a plain `pulumi up`."""
    flags = ("--yes", "--skip-preview", "--stack", STACK, f"--refresh={str(refresh).lower()}")
    return Command(project.pulumi_command("up", *flags), {"PULUMI_PARALLEL": PARALLEL})


def first_engine_up(project: Workspace) -> Command:
    """Return the first plain `pulumi up` after a deployment.

    It changes the state of every resource, and would write the whole state after each one.
    """
    plain = engine_up(project, refresh=False)
    return Command(plain.words, RECOMMENDED)


def naive_up(project: Workspace) -> Command:
    """Return the naive program's `pulumi up`, with default settings."""
    flags = ("--yes", "--skip-preview", "--stack", STACK)
    return Command((*WITH_DEFAULTS, *project.pulumi_command("up", *flags)))


def engine_alone(project: Workspace, objects: Path) -> Command:
    """Return what makes the same objects by the engine, with the least that it needs."""
    here = {"PYTHONPATH": str(ROOT)}
    return Command((str(project.python), "-m", "bench.floor", str(objects)), here)


def make_stack(project: Workspace) -> None:
    """Create the empty stack."""
    project.pulumi("stack", "init", STACK, "--no-select")


def kubectl(project: Workspace, *words: str, good: tuple[int, ...] = (0,)) -> Command:
    """Return a kubectl command."""
    whole = (*WITH_DEFAULTS, *project.tools.controlplane.kubectl, *words)
    # The default cache may hold the API of an earlier server on this port.
    cache = {"KUBECACHEDIR": str(project.path / "kubectl")}
    return Command(whole, cache, good)


def kubectl_apply(project: Workspace, objects: Path) -> Command:
    """Return the command that creates the same objects."""
    return kubectl(project, "apply", "--server-side", "--filename", str(objects))


def kubectl_diff(project: Workspace, objects: Path) -> Command:
    """Return the command that compares the same objects."""
    words = ("diff", "--server-side", "--filename", str(objects))
    return kubectl(project, *words, good=(0, DIFFERS))


def kubectl_delete(project: Workspace, objects: Path) -> Command:
    """Return the command that deletes the same objects.

    They have no finalizers, so each is deleted when the API server answers. Without --wait=false
    kubectl would watch one object after the other, which takes longer than the deletion.
    """
    return kubectl(project, "delete", "--wait=false", "--filename", str(objects))


def _pic(project: Workspace, *words: str, good: tuple[int, ...] = (0,)) -> Command:
    return Command((str(project.python), "-m", "pic", *words, "--stack", STACK), good=good)


def _pic_up(project: Workspace) -> Command:
    return _pic(project, "up")


def _pic_destroy(project: Workspace) -> Command:
    """Return `pic destroy` with the acknowledgement from a first, refused attempt."""
    printed = run(project, _pic(project, "destroy", good=(REFUSED,)))
    match = _ACKNOWLEDGE.search(printed)
    if not match:
        raise BenchError(f"pic destroy printed no acknowledgement:\n{printed}")
    return _pic(project, "destroy", "--acknowledge", match[1])


def _pulumi_up(project: Workspace) -> Command:
    """Return `pulumi up` with the environment variables that the documentation recommends."""
    recommended = {**RECOMMENDED, "PULUMI_RUN_PROGRAM": "true"}
    flags = ("--yes", "--skip-preview", "--stack", STACK)
    return Command(project.pulumi_command("up", *flags), recommended)


def _pulumi_destroy(project: Workspace) -> Command:
    recommended = {**RECOMMENDED, "PIC_RELEASE": "1"}
    flags = ("--yes", "--skip-preview", "--stack", STACK, "--run-program", "--refresh=false")
    return Command(project.pulumi_command("destroy", *flags), recommended)
