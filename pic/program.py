"""The Pulumi program: reads, plans, guards, and then declares. One function, however it is run."""

import gc
import os
from collections.abc import Mapping, Sequence

import pulumi
from pulumi.runtime.config import CONFIG

from pic import changes, cluster, declared, guard, report, situation, sources
from pic.cluster import Transport
from pic.config import Settings
from pic.errors import PicError, RefusedError
from pic.hooks import EVENTS_A_RUN, Hooks, Surroundings
from pic.notices import Level, Notice
from pic.situation import Situation
from pic.sources import Run
from pic.stackfile import PROJECT
from pic.targets import pangolin

RELEASE = "PIC_RELEASE"
SHOWN_NOTICES = 50


def run(environment: Mapping[str, str] = os.environ) -> None:
    """Declare what the cluster's Ingresses ask for, as `pulumi up` has it run.

    With PIC_RELEASE=1 nothing is declared and only the hooks are there, as a destroy needs them.

    Raises:
        pulumi.RunError: With the whole message; nothing was registered.
    """
    # A run is short and what it makes stays to its end: looking for garbage finds none.
    gc.disable()
    hooks = Hooks()
    try:
        asked = _asked(environment)
        transport = cluster.connect(asked.settings, environment)
        if environment.get(RELEASE) == "1":
            release(asked, transport, hooks)
        else:
            bind(asked, transport, hooks)
            seen = cluster.read(transport, asked.settings)
            declare(situation.consider(asked, transport, seen), hooks)
    except PicError as error:
        raise pulumi.RunError(str(error)) from error


def bind(asked: Run, transport: Transport, hooks: Hooks) -> None:
    """Give the hooks what they work with."""
    hooks.bind(Surroundings(transport, asked.ownership, asked.settings.events))


def release(asked: Run, transport: Transport, hooks: Hooks) -> None:
    """Declare nothing, so that everything may go; only the hooks are there.

    Raises:
        RefusedError: This is another cluster.
    """
    bind(asked, transport, hooks)
    guard.check_cluster(cluster.cluster_id(transport, asked.settings), asked.settings)


def declare(known: Situation, hooks: Hooks) -> None:
    """Declare a plan, once the guard agrees.

    Raises:
        RefusedError: The guard does not, and this is no preview.
    """
    settings, planned = known.settings, known.plan
    _tell([*known.asked.remarks, *planned.notices])
    _ask(known.changes, settings)
    provider = pangolin.provider(known.snapshot.cluster_id, settings)
    binding = hooks.binding(events=_tells(known.changes, settings))
    pangolin.declare(planned.resources, provider, binding, settings)
    pulumi.export("resources", len(planned.resources))
    pulumi.export("digest", declared.digest(planned, settings))
    pulumi.export("deployed", declared.means(known))


def _tells(found: changes.Changes, settings: Settings) -> bool:
    """Say whether single hosts are told of in Events: not when very many change at once."""
    count = len(found.created) + len(found.updated) + len(found.moved)
    if settings.events and count > EVENTS_A_RUN:
        pulumi.log.info(f"{count} hosts change at once: their Ingresses get no Events")
    return settings.events and count <= EVENTS_A_RUN


def _asked(environment: Mapping[str, str]) -> Run:
    prefix = f"{PROJECT}:"
    raw = {
        key.removeprefix(prefix): value
        for key, value in CONFIG.get().items()
        if key.startswith(prefix)
    }
    return sources.deployable(
        raw, pulumi.get_stack(), environment, lambda settings: _unreachable(settings, environment)
    )


def _unreachable(settings: Settings, environment: Mapping[str, str]) -> list[str]:
    if settings.kubeconfig in ("", environment.get("KUBECONFIG")):
        return []
    return [
        "pic:kubeconfig cannot reach the engine's Kubernetes plugin by itself: run with"
        f" KUBECONFIG={settings.kubeconfig}, or use pic up"
    ]


def _tell(notices: Sequence[Notice]) -> None:
    """Show the loudest notices in the engine's own log."""
    ordered = sorted(notices, key=lambda each: (each.level is not Level.WARNING, each.order))
    for each in ordered[:SHOWN_NOTICES]:
        log = pulumi.log.warn if each.level is Level.WARNING else pulumi.log.info
        log(report.remark(each))
    if len(ordered) > SHOWN_NOTICES:
        pulumi.log.warn(f"and {len(ordered) - SHOWN_NOTICES} more notices: see pic plan")


def _ask(found: changes.Changes, settings: Settings) -> None:
    """Ask the guard; a preview shows what a real run would refuse."""
    try:
        guard.check(found, settings)
    except RefusedError as error:
        if not pulumi.runtime.is_dry_run():
            raise
        pulumi.log.warn(f"`pulumi up` would refuse this:\n{error}")
