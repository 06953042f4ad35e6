"""The Pulumi program: reads, plans, guards, and then declares. One function, however it is run."""

import gc
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import pulumi
from pulumi.runtime.config import CONFIG

from pic import assemble, changes, cluster, guard, plan, report, sources, wire
from pic.cluster import Transport
from pic.config import Settings, TargetName, parse
from pic.errors import PicError, RefusedError, SettingsError
from pic.hooks import EVENTS_A_RUN, Hooks, Surroundings
from pic.inventory import Ownership
from pic.model import Plan
from pic.notices import Level, Notice
from pic.stackfile import PROJECT
from pic.targets import pangolin

RELEASE = "PIC_RELEASE"
SHOWN_NOTICES = 50
DISTRIBUTION = "pangolin-ingress-controller"


def run(environment: Mapping[str, str] = os.environ) -> None:
    """Declare what the cluster's Ingresses ask for.

    With PIC_RELEASE=1 nothing is declared and only the hooks are there, as a destroy needs them.

    Raises:
        pulumi.RunError: With the whole message; nothing was registered.
    """
    # A run is short and what it makes stays to its end: looking for garbage finds none.
    gc.disable()
    hooks = Hooks()
    try:
        _Run(hooks, environment).run()
    except PicError as error:
        raise pulumi.RunError(str(error)) from error


class _Run:
    """One run of the program."""

    def __init__(self, hooks: Hooks, environment: Mapping[str, str]) -> None:
        self.hooks = hooks
        self.environment = environment
        self.label = sources.stack_label(pulumi.get_stack())

    def run(self) -> None:
        settings, remarks = _settings(self.environment)
        ownership = Ownership(self.label, adopt=settings.adopt)
        transport = cluster.connect(settings, self.environment)
        self.hooks.bind(Surroundings(transport, ownership, settings.events))
        if self.environment.get(RELEASE) == "1":
            guard.check_cluster(cluster.cluster_id(transport, settings), settings)
            return
        self.plan_and_declare(transport, settings, ownership, remarks)

    def plan_and_declare(
        self,
        transport: Transport,
        settings: Settings,
        ownership: Ownership,
        remarks: Sequence[Notice],
    ) -> None:
        snapshot = assemble.snapshot(cluster.read(transport, settings))
        planned = plan.build(snapshot, settings, self.label, ownership)
        _tell([*remarks, *planned.notices])
        found = changes.between(
            snapshot,
            planned,
            self.label,
            ownership,
            owner_references=settings.owner_references,
        )
        _ask(found, settings)
        provider = pangolin.provider(snapshot.cluster_id, settings)
        hooks = self.hooks.binding(events=_tells(found, settings))
        pangolin.declare(planned.resources, provider, hooks, settings)
        pulumi.export("resources", len(planned.resources))
        pulumi.export("digest", digest(planned, settings))


def _tells(found: changes.Changes, settings: Settings) -> bool:
    """Say whether single hosts are told of in Events: not when very many change at once."""
    count = len(found.created) + len(found.updated) + len(found.moved)
    if settings.events and count > EVENTS_A_RUN:
        pulumi.log.info(f"{count} hosts change at once: their Ingresses get no Events")
    return settings.events and count <= EVENTS_A_RUN


def digest(planned: Plan, settings: Settings) -> str:
    """Return what names everything that is declared, and the version that declares it."""
    # Being held changes nothing of what is declared.
    declared = [
        [wire.resource(replace(each, held=False)), [owner.uid for owner in each.owners]]
        for each in planned.resources
    ]
    text = json.dumps([installed_version(), settings.owner_references, declared], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def installed_version(distribution: str = DISTRIBUTION) -> str:
    """Return the version of pic, which a checkout with only the requirements does not have."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "uninstalled"


def _settings(environment: Mapping[str, str]) -> tuple[Settings, tuple[Notice, ...]]:
    prefix = f"{PROJECT}:"
    raw = {
        key.removeprefix(prefix): value
        for key, value in CONFIG.get().items()
        if key.startswith(prefix)
    }
    unbound = [] if raw.get("clusterId") else [_unbound()]
    try:
        settings, remarks = parse(raw, environment)
    except SettingsError as error:
        raise SettingsError([*error.problems, *unbound]) from error
    if problems := [*unbound, *_problems(settings, environment)]:
        raise SettingsError(problems)
    return settings, remarks


def _unbound() -> str:
    return (
        "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run"
        f" pic init --stack {pulumi.get_stack()}"
    )


def _problems(settings: Settings, environment: Mapping[str, str]) -> Sequence[str]:
    """Return what can be planned with, but not deployed."""
    found = []
    if settings.kubeconfig and settings.kubeconfig != environment.get("KUBECONFIG"):
        found.append(
            "pic:kubeconfig cannot reach the engine's Kubernetes plugin by itself: run with"
            f" KUBECONFIG={settings.kubeconfig}"
        )
    if TargetName.PIHOLE in settings.targets:
        found.append("pic:targets: pihole can be planned, but not deployed yet: leave it out")
    if settings.adopt_from:
        found.append("pic:adoptFrom has no effect yet: leave it out")
    return found


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
