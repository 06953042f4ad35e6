"""Runs the Pulumi program: reads, plans, asks the guard, and then declares.

`pulumi up` and `pic up` declare with the same function, on the same stack and state.
"""

import asyncio
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pulumi
from pulumi.runtime.config import CONFIG

from pic.cluster import listing, managed_hosts
from pic.cluster.listing import Transport
from pic.core import model, shares
from pic.core.errors import (
    EngineError,
    PicError,
    RefusedError,
    SettingsError,
    TargetError,
    with_class,
)
from pic.core.model import Owner
from pic.core.notices import Level, Notice
from pic.engine import repair
from pic.engine.backend.state import StackState
from pic.engine.engine import Engine
from pic.engine.event_shares import event_shares
from pic.engine.hooks import Hooks, RunContext
from pic.engine.targets import providers, registration
from pic.engine.targets.registration import Batch
from pic.planning import dns_records, guard
from pic.planning.changes import Changes
from pic.report import event_texts
from pic.report import text as text_report
from pic.run import fingerprint, stack_config, targets
from pic.run import situation as situations
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.run.targets.interface import Declarations, HookSet
from pic.settings.parse import Settings
from pic.settings.stack_file import PROJECT

NewEngine: TypeAlias = Callable[[Path, str, Mapping[str, str]], Engine]

RELEASE = "PIC_RELEASE"
ALL_READ: Mapping[str, TargetError] = {}
SHOWN_NOTICES = 50
NOT_IN_TARGETS = (
    "pic:targets does not have {0}. Put it back; to give it up, deploy once with it and with no"
    " Ingress that asks for it"
)


def run(environment: Mapping[str, str] = os.environ, new_engine: NewEngine = Engine) -> None:
    """Declare what the cluster's Ingresses request. The entry point for `pulumi up`.

    With PIC_RELEASE=1 it declares nothing and only registers the hooks, which a destroy needs.

    Args:
        environment: The environment of this process.
        new_engine: Makes the engine that reads the state of the stack.

    Raises:
        pulumi.RunError: The run failed before it registered anything. It has the whole message.
    """
    # A run is short and frees little memory, so garbage collection only costs time.
    gc.disable()
    hooks = Hooks()
    try:
        config = _config(environment)
        transport = listing.connect(config.settings, environment)
        if environment.get(RELEASE) == "1":
            release(config, transport, hooks, _unreachable_targets(config, environment))
        else:
            situation = situations.read_and_plan(config, transport, environment)
            remarks = (*config.remarks, *_orphans(situation, new_engine))
            situation = replace(situation, config=replace(config, remarks=remarks))
            bind(situation, hooks)
            declare(situation, hooks)
    except PicError as error:
        raise pulumi.RunError(str(error)) from error


def bind(situation: Situation, hooks: Hooks) -> None:
    """Give the hooks the context of the run."""
    settings = situation.settings
    owners = _record_owners(situation)
    context = RunContext(
        situation.transport,
        situation.config.ownership,
        settings.events,
        _unread_reasons(settings, situation.unread_targets),
        owners,
        event_shares(situation.changes, owners, situation.unrecorded).quiet,
    )
    hooks.bind(context)


def _record_owners(situation: Situation) -> dict[str, Sequence[Owner]]:
    """Return the Ingresses of DNS records by host, also of those that are removed."""
    owners: dict[str, Sequence[Owner]] = {}
    for ingress in situation.snapshot.ingresses:
        for host in dns_records.managed_hosts([ingress]):
            owners[host] = (Owner(ingress.namespace, ingress.name, ingress.uid),)
    owners.update({record.host: record.owners for record in situation.plan.records})
    return owners


def release(
    config: StackConfig,
    transport: Transport,
    hooks: Hooks,
    unread_targets: Mapping[str, TargetError] = ALL_READ,
) -> None:
    """Declare nothing, so that the engine may delete everything; only the hooks are registered.

    Args:
        config: The settings of the run.
        transport: Connects to the cluster.
        hooks: The hooks of the run.
        unread_targets: The targets that do not answer, with the reason. Their contents stay.

    Raises:
        RefusedError: This is another cluster.
    """
    settings = config.settings
    reasons = _unread_reasons(settings, unread_targets)
    context = RunContext(transport, config.ownership, settings.events, reasons)
    hooks.bind(context)
    guard.check_cluster(listing.read_cluster_id(transport, settings), settings)


def _unreachable_targets(
    config: StackConfig, environment: Mapping[str, str]
) -> dict[str, TargetError]:
    """Return the active targets that do not answer, without reading the cluster."""
    settings = config.settings
    reasons = {
        str(target.name): target.probe(settings, environment, settings.cluster_id)
        for target in targets.active(settings)
    }
    return {name: error for name, error in reasons.items() if error}


def _unread_reasons(
    settings: Settings, unread_targets: Mapping[str, TargetError]
) -> dict[str, str]:
    """Return why this run does not know what a target holds, by target, as the hooks report it."""
    inactive = {
        str(target.name): with_class(SettingsError([NOT_IN_TARGETS.format(target.name)]))
        for target in targets.TARGETS
        if target.name not in settings.targets
    }
    return {**inactive, **{name: with_class(error) for name, error in unread_targets.items()}}


def declare(situation: Situation, hooks: Hooks) -> None:
    """Declare a plan if the guard agrees.

    Raises:
        RefusedError: The guard refuses, and this is not a preview.
    """
    settings, plan = situation.settings, situation.plan
    _log_notices([*situation.config.remarks, *plan.notices])
    _ask_guard(situation.changes, settings)
    batches = _batches(situation, hooks)
    # The SDK awaits this coroutine before it waits for the remaining outputs.
    pulumi.run(partial(_register, situation, batches, hooks))
    pulumi.export("resources", len(plan.resources))
    pulumi.export("digest", fingerprint.digest(plan, settings, situation.changes.going))
    pulumi.export("deployed", fingerprint.conditions(situation))
    pulumi.export("told", event_texts.digests(situation.warnings))


def _batches(situation: Situation, hooks: Hooks) -> list[Batch]:
    settings, changes = situation.settings, situation.changes
    shared = event_shares(changes, _record_owners(situation), situation.unrecorded)
    if settings.events and shared.message:
        pulumi.log.info(shared.message)
    return [
        _batch(
            target.declare(situation.plan, situation.snapshot, settings),
            hooks,
            shared.silent,
            events=settings.events,
        )
        for target in targets.active(settings)
    ]


def _batch(
    declarations: Declarations, hooks: Hooks, silent: frozenset[str], *, events: bool
) -> Batch:
    bind_hooks = hooks.record_binding if declarations.hooks is HookSet.RECORD else hooks.binding
    provider = providers.provider_resource(declarations.provider)
    bindings = {True: bind_hooks(events=events), False: bind_hooks(events=False)}
    return Batch(declarations, provider, bindings, silent)


async def _register(situation: Situation, batches: Sequence[Batch], hooks: Hooks) -> None:
    if pulumi.runtime.is_dry_run():
        await registration.register_all(batches)
        return
    warning = asyncio.ensure_future(_warn(situation, hooks))
    try:
        failed = await registration.register_all(batches)
    finally:
        await warning
    missing = [record for record in situation.plan.records if model.record_id(record) in failed]
    stale = managed_hosts.stale_annotations(
        situation.snapshot.ingresses, situation.plan, situation.settings, missing
    )
    if stale:
        await asyncio.to_thread(
            managed_hosts.write_annotations, situation.transport, stale, pulumi.log.warn
        )


async def _warn(situation: Situation, hooks: Hooks) -> None:
    """Post new warnings as Events. A failure does not fail the run."""
    if unposted := await hooks.warn(
        event_texts.unreported(situation.warnings, situation.reported_warnings)
    ):
        pulumi.log.info(f"{unposted} warnings could not be posted as Events at their Ingresses")


def _config(environment: Mapping[str, str]) -> StackConfig:
    prefix = f"{PROJECT}:"
    values = {
        key.removeprefix(prefix): value
        for key, value in CONFIG.get().items()
        if key.startswith(prefix)
    }
    find_problems = partial(_kubeconfig_problems, environment=environment)
    return stack_config.deployable(values, pulumi.get_stack(), environment, find_problems)


def _kubeconfig_problems(settings: Settings, environment: Mapping[str, str]) -> list[str]:
    if settings.kubeconfig in ("", environment.get("KUBECONFIG")):
        return []
    return [
        "the engine's Kubernetes plugin does not know pic:kubeconfig: run with"
        f" KUBECONFIG={settings.kubeconfig}, or use pic up"
    ]


def _log_notices(notices: Sequence[Notice]) -> None:
    """Show notices in the engine's log, warnings first. If there are many, namespaces share it."""
    ordered = sorted(notices, key=lambda notice: (notice.level is not Level.WARNING, notice.order))
    for notice in shares.shared_out(ordered, SHOWN_NOTICES, lambda notice: notice.about.namespace):
        log = pulumi.log.warn if notice.level is Level.WARNING else pulumi.log.info
        log(text_report.notice_text(notice))
    if len(ordered) > SHOWN_NOTICES:
        pulumi.log.warn(f"and {len(ordered) - SHOWN_NOTICES} more notices: see pic plan")


def _orphans(situation: Situation, new_engine: NewEngine) -> Sequence[Notice]:
    """Return notices about what the engine will leave, because its state does not have it."""
    changes = situation.changes
    if not any(part.removals for part in changes.parts):
        return ()
    state = _find_state(new_engine)
    if state is None:
        return ()
    records = repair.stray_records(changes, state, situation.settings)
    return tuple(repair.orphans(repair.strays(changes, state), records))


def _find_state(new_engine: NewEngine) -> StackState | None:
    """Return the state of the stack; None, with a log message, if it cannot be read."""
    stack = f"{pulumi.get_organization()}/{PROJECT}/{pulumi.get_stack()}"
    reason = f"the backend has no stack {stack}"
    try:
        state = new_engine(Path.cwd(), stack, {}).find_state()
    except EngineError as error:
        state, reason = None, str(error)
    if state is None:
        pulumi.log.info(f"pic does not look for what interrupted runs may have left: {reason}")
    return state


def _ask_guard(changes: Changes, settings: Settings) -> None:
    """Ask the guard. A preview only warns about what a real run would refuse."""
    try:
        guard.check(changes, settings)
    except RefusedError as error:
        if not pulumi.runtime.is_dry_run():
            raise
        pulumi.log.warn(f"`pulumi up` would refuse this:\n{error}")
