"""The Pulumi program: reads, plans, guards, and then declares. One function, however it is run."""

import asyncio
import gc
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pulumi
from pulumi.runtime.config import CONFIG

from pic.cluster import listing, managed_hosts
from pic.cluster.events import EVENTS_A_RUN
from pic.cluster.listing import Transport
from pic.core import model
from pic.core.errors import (
    EngineError,
    PicError,
    PiholeError,
    RefusedError,
    SettingsError,
    classed,
)
from pic.core.model import Owner
from pic.core.notices import Level, Notice
from pic.engine import repair
from pic.engine.backend.state import StackState
from pic.engine.engine import Engine
from pic.engine.hooks import Hooks, Surroundings
from pic.engine.targets import pangolin, pihole, registration
from pic.engine.targets.registration import Batch
from pic.planning import changes, dns_records, guard
from pic.report import event_texts
from pic.report import text as text_report
from pic.run import fingerprint, situation, stack_config
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings, TargetName
from pic.settings.stack_file import PROJECT

RELEASE = "PIC_RELEASE"
SHOWN_NOTICES = 50
GIVEN_UP = (
    "pic:targets does not have {0}. Put it back; to give it up, deploy once with it and with no"
    " Ingress that asks for it"
)


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
        transport = listing.connect(asked.settings, environment)
        if environment.get(RELEASE) == "1":
            release(asked, transport, hooks, _pihole(asked, transport, environment))
        else:
            known = situation.look(asked, transport, environment)
            known = replace(known, asked=replace(asked, remarks=(*asked.remarks, *_orphans(known))))
            bind(known, hooks)
            declare(known, hooks)
    except PicError as error:
        raise pulumi.RunError(str(error)) from error


def bind(known: Situation, hooks: Hooks) -> None:
    """Give the hooks what they work with."""
    asked, settings = known.asked, known.settings
    unread = _unread(settings, known.pihole)
    owners: dict[str, Sequence[Owner]] = {}
    for ingress in known.snapshot.ingresses:
        for host in dns_records.managed_hosts([ingress]):
            owners[host] = (Owner(ingress.namespace, ingress.name, ingress.uid),)
    owners.update({each.host: each.owners for each in known.plan.records})
    tells = settings.events and not known.bulk
    surroundings = Surroundings(known.transport, asked.ownership, tells, unread, owners)
    hooks.bind(surroundings)


def release(
    asked: StackConfig, transport: Transport, hooks: Hooks, unanswered: PiholeError | None = None
) -> None:
    """Declare nothing, so that everything may go; only the hooks are there.

    Args:
        asked: What the run is to do.
        transport: Asks the cluster.
        hooks: Those of the run.
        unanswered: Why Pi-hole did not answer; its records stay then.

    Raises:
        RefusedError: This is another cluster.
    """
    unread = _unread(asked.settings, unanswered)
    hooks.bind(Surroundings(transport, asked.ownership, asked.settings.events, unread))
    guard.check_cluster(listing.cluster_id(transport, asked.settings), asked.settings)


def _pihole(
    asked: StackConfig, transport: Transport, environment: Mapping[str, str]
) -> PiholeError | None:
    """Say why Pi-hole does not answer; None where it does, or is no target."""
    if TargetName.PIHOLE not in asked.settings.targets:
        return None
    return situation.look(asked, transport, environment).pihole


def _unread(settings: Settings, unanswered: PiholeError | None) -> dict[str, str]:
    """Return the targets that this run does not know, and why."""
    found = {
        str(target): classed(SettingsError([GIVEN_UP.format(target)]))
        for target in TargetName
        if target not in settings.targets
    }
    return {**found, **({str(TargetName.PIHOLE): classed(unanswered)} if unanswered else {})}


def declare(known: Situation, hooks: Hooks) -> None:
    """Declare a plan, once the guard agrees.

    Raises:
        RefusedError: The guard does not, and this is no preview.
    """
    settings, planned = known.settings, known.plan
    _tell([*known.asked.remarks, *planned.notices])
    _ask(known.changes, settings)
    batches = _batches(known, hooks)
    # What runs as the program's entry point is awaited before the SDK waits for what is left.
    pulumi.run(partial(_register, known, batches, hooks))
    pulumi.export("resources", len(planned.resources))
    pulumi.export("digest", fingerprint.digest(planned, settings))
    pulumi.export("deployed", fingerprint.means(known))
    pulumi.export("told", event_texts.digests(known.warnings))


def _batches(known: Situation, hooks: Hooks) -> list[Batch]:
    settings, snapshot, planned = known.settings, known.snapshot, known.plan
    events, found = not known.bulk and _tells(known.changes, settings), []
    if TargetName.PANGOLIN in settings.targets:
        provider = pangolin.provider(snapshot.cluster_id, settings)
        binding = hooks.binding(events=events)
        found.append(pangolin.batch(planned.resources, provider, binding, settings))
    if TargetName.PIHOLE in settings.targets:
        door = pihole.provider(snapshot.cluster_id, settings)
        binding = hooks.record_binding(events=events)
        found.append(pihole.batch(planned.records, snapshot.records or (), door, binding))
    return found


async def _register(known: Situation, batches: Sequence[Batch], hooks: Hooks) -> None:
    if pulumi.runtime.is_dry_run():
        await registration.register_all(batches)
        return
    warning = asyncio.ensure_future(_warn(known, hooks))
    try:
        failed = await registration.register_all(batches)
    finally:
        await warning
    missing = [each for each in known.plan.records if model.record_id(each) in failed]
    notes = managed_hosts.notes(known.snapshot.ingresses, known.plan, known.settings, missing)
    if notes:
        await asyncio.to_thread(managed_hosts.write, known.transport, notes, pulumi.log.warn)


async def _warn(known: Situation, hooks: Hooks) -> None:
    """Tell Ingresses of new warnings; that fails no run."""
    if untold := await hooks.warn(event_texts.news(known.warnings, known.told)):
        pulumi.log.info(f"{untold} warnings could not be told to their Ingresses as Events")


def _tells(found: changes.Changes, settings: Settings) -> bool:
    """Say whether single hosts are told of in Events: not when very many change at once."""
    records = len(found.records.created) + len(found.records.updated)
    count = len(found.created) + len(found.updated) + len(found.moved) + records
    if settings.events and count > EVENTS_A_RUN:
        pulumi.log.info(f"{count} hosts change at once: their Ingresses get no Events")
    return settings.events and count <= EVENTS_A_RUN


def _asked(environment: Mapping[str, str]) -> StackConfig:
    prefix = f"{PROJECT}:"
    raw = {
        key.removeprefix(prefix): value
        for key, value in CONFIG.get().items()
        if key.startswith(prefix)
    }
    return stack_config.deployable(
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
        log(text_report.remark(each))
    if len(ordered) > SHOWN_NOTICES:
        pulumi.log.warn(f"and {len(ordered) - SHOWN_NOTICES} more notices: see pic plan")


def _orphans(known: Situation) -> Sequence[Notice]:
    """Return what to tell of what the engine will leave, since it does not know of it."""
    going = known.changes
    if not (going.removed or going.moved or going.records.removed):
        return ()
    state = _remembered()
    if state is None:
        return ()
    records = repair.stray_records(going, state, known.settings)
    return tuple(repair.orphans(repair.strays(going, state), records))


def _remembered() -> StackState | None:
    """Return what the engine knows of the stack; None, and told so, where it cannot be asked."""
    stack = f"{pulumi.get_organization()}/{PROJECT}/{pulumi.get_stack()}"
    why = f"the backend has no stack {stack}"
    try:
        state = Engine(Path.cwd(), stack, {}).remembered()
    except EngineError as error:
        state, why = None, str(error)
    if state is None:
        pulumi.log.info(f"what interrupted runs may have left is not looked for: {why}")
    return state


def _ask(found: changes.Changes, settings: Settings) -> None:
    """Ask the guard; a preview shows what a real run would refuse."""
    try:
        guard.check(found, settings)
    except RefusedError as error:
        if not pulumi.runtime.is_dry_run():
            raise
        pulumi.log.warn(f"`pulumi up` would refuse this:\n{error}")
