"""Runs the Pulumi program: reads, plans, asks the guard, and then declares.

`pulumi up` and `pic up` declare with the same function, on the same stack and state.
"""

import asyncio
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pulumi
from pulumi.runtime.config import CONFIG

from pic.cluster import access, listing, managed_hosts
from pic.cluster.listing import Transport
from pic.core import model, private_folder, shares
from pic.core.errors import (
    PicError,
    RefusedError,
    SettingsError,
    TargetError,
    with_class,
)
from pic.core.model import Owner
from pic.core.names import NAME_LABEL
from pic.core.notices import Level, Notice
from pic.engine import completing, remembering, withholding
from pic.engine.backend import history, place, run_records
from pic.engine.engine import Engine
from pic.engine.event_shares import event_shares
from pic.engine.hooks import Hooks, RunContext
from pic.engine.targets import providers, registration
from pic.engine.targets.registration import Batch
from pic.planning import dns_requests, guard
from pic.planning.changes import Changes
from pic.report import event_texts
from pic.report import text as text_report
from pic.run import fingerprint, register, stack_config, targets
from pic.run import situation as situations
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.run.targets.interface import Declarations, HookSet, Target
from pic.settings.parse import Settings, Unpublish
from pic.settings.stack_file import PROJECT

RELEASE = "PIC_RELEASE"
ALL_READ: Mapping[str, TargetError] = {}
SHOWN_NOTICES = 50
NOT_IN_TARGETS = (
    "pic:targets does not have {0}. Put it back; to give it up, deploy once with it and with no"
    " Ingress that asks for it"
)


@dataclass(frozen=True, slots=True)
class Checks:
    """What a plain `pulumi up` does around the declarations.

    Attributes:
        check_cluster: Raises an error if the engine may have reached another cluster.
        report: Gets the changes at the end, and warns about those that are held.
    """

    check_cluster: Callable[[], None] = lambda: None
    report: Callable[[Changes], None] = lambda _: None


NO_CHECKS = Checks()


def run(
    environment: Mapping[str, str] = os.environ,
    new_engine: completing.NewEngine = Engine,
    service_account: Path = access.SERVICE_ACCOUNT,
) -> None:
    """Declare what the cluster's Ingresses request. The entry point for `pulumi up`.

    With PIC_RELEASE=1 it declares nothing and only registers the hooks, which a destroy needs.

    Args:
        environment: The environment of this process.
        new_engine: Makes the engine that reads the state of the stack.
        service_account: The folder with the files of a pod's service account.

    Raises:
        pulumi.RunError: The run failed before it registered anything. It has the whole message.
    """
    # A run is short and frees little memory, so garbage collection only costs time.
    gc.disable()
    _record_cli(environment)
    hooks = Hooks()
    try:
        config = _config(environment, service_account)
        resolve = partial(
            access.resolve, config.settings, environment, service_account=service_account
        )
        cluster = resolve()
        transport = listing.connect_to(cluster)
        if environment.get(RELEASE) == "1":
            release(config, transport, hooks, _unreachable_targets(config, environment))
        else:
            situation = situations.read_and_plan(config, transport, environment)
            situation = completing.settle(situation, environment)
            situation = completing.remember(situation, new_engine)
            situation = completing.complete(situation, new_engine)
            bind(situation, hooks)
            checks = Checks(lambda: cluster.check_unchanged(resolve()), _report_held)
            declare(situation, hooks, checks)
            for failure in withholding.failures(situation.withheld):
                pulumi.log.warn(f"{failure.host}: {failure.message}")
    except PicError as error:
        raise pulumi.RunError(str(error)) from error


def _record_cli(environment: Mapping[str, str]) -> None:
    """Record the CLI that runs this program, so that a later run knows whether its lock is dead."""
    try:
        key = place.key(history.backend_url(Path.cwd(), environment), pulumi.get_stack())
        run_records.record_cli(private_folder.path(environment), key)
    except PicError as error:
        pulumi.log.info(f"if this run is killed, its lock stays: {error}")


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
        _publishers(situation),
        event_shares(situation.changes, owners, situation.unrecorded).quiet
        | situation.going_namespaces,
        unpublish=settings.unpublish is Unpublish.BLOCK,
    )
    hooks.bind(context)


def _record_owners(situation: Situation) -> dict[str, Sequence[Owner]]:
    """Return the Ingresses of DNS records by host, also of those that are removed."""
    owners: dict[str, Sequence[Owner]] = {}
    for ingress in situation.snapshot.ingresses:
        for host in dns_requests.managed_hosts([ingress]):
            owners[host] = (Owner(ingress.namespace, ingress.name, ingress.uid),)
    owners.update({record.host: record.owners for record in situation.plan.records})
    return owners


def _publishers(situation: Situation) -> dict[str, Sequence[Owner]]:
    """Return the Ingresses of the hosts in Pangolin itself, also of those that are removed."""
    ingresses = {it.key: it for it in situation.snapshot.ingresses}
    publishers: dict[str, Sequence[Owner]] = {}
    for live in situation.snapshot.live:
        key = live.namespace, live.labels.get(NAME_LABEL, "")
        if live.published and key in ingresses:
            publishers[live.host] = (Owner(*key, ingresses[key].uid),)
    publishers.update({it.host: it.owners for it in situation.plan.resources})
    return publishers


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
    unpublish = settings.unpublish is Unpublish.BLOCK
    context = RunContext(transport, config.ownership, settings.events, reasons, unpublish=unpublish)
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


def declare(situation: Situation, hooks: Hooks, checks: Checks = NO_CHECKS) -> None:
    """Declare a plan if the guard agrees.

    Args:
        situation: What to declare.
        hooks: The hooks of the run.
        checks: What else a plain `pulumi up` does, which `pic up` does itself.

    Raises:
        RefusedError: The guard refuses, and this is not a preview.
    """
    settings, plan = situation.settings, situation.plan
    _log_notices([*situation.config.remarks, *plan.notices])
    _ask_guard(situation.changes, settings)
    batches = _batches(situation, hooks)
    # The SDK awaits this coroutine before it waits for the remaining outputs.
    pulumi.run(partial(_register, situation, batches, hooks, checks))
    pulumi.export("resources", len(plan.resources))
    pulumi.export("digest", fingerprint.digest(plan, settings, situation.changes.going))
    pulumi.export("deployed", fingerprint.conditions(situation))
    pulumi.export("told", event_texts.digests(situation.warnings))
    if plan.register:
        serials = {digit: bucket.serial for digit, bucket in plan.register.buckets.items()}
        pulumi.export(remembering.OUTPUT, serials)


def _batches(situation: Situation, hooks: Hooks) -> list[Batch]:
    settings, changes, snapshot = situation.settings, situation.changes, situation.snapshot
    shares = event_shares(changes, _record_owners(situation), situation.unrecorded)
    if settings.events and shares.message:
        pulumi.log.info(shares.message)
    declared = [_declarations(target, situation) for target in targets.active(settings)]
    if situation.plan.register:
        # The register comes first: a run that is killed must not have forgotten what it exposed.
        stack = situation.config.label
        declared.insert(0, register.declarations(situation.plan, snapshot, settings, stack))
    shared: dict[str, pulumi.ProviderResource] = {}
    return [
        _batch(declarations, hooks, shared, shares.silent, events=settings.events)
        for declarations in declared
    ]


def _declarations(target: Target, situation: Situation) -> Declarations:
    """Return what a target declares: its part of the plan, and what it keeps as it is."""
    planned = target.declare(situation.plan, situation.snapshot, situation.settings)
    kept = situation.kept.get(str(target.name), ())
    return replace(planned, resources=[*planned.resources, *kept])


def _batch(
    declarations: Declarations,
    hooks: Hooks,
    providers_by_package: dict[str, pulumi.ProviderResource],
    silent: frozenset[str],
    *,
    events: bool,
) -> Batch:
    bind_hooks = {
        HookSet.RECORD: hooks.record_binding,
        HookSet.RESOURCE: hooks.binding,
        HookSet.PUBLIC: hooks.public_binding,
    }.get(declarations.hooks, hooks.no_binding)
    name = declarations.provider.package
    if name not in providers_by_package:
        providers_by_package[name] = providers.provider_resource(declarations.provider)
    bindings = {True: bind_hooks(events=events), False: bind_hooks(events=False)}
    return Batch(declarations, providers_by_package[name], bindings, silent)


async def _register(
    situation: Situation, batches: Sequence[Batch], hooks: Hooks, checks: Checks
) -> None:
    if pulumi.runtime.is_dry_run():
        await registration.register_in_order(_phases(batches))
        checks.report(situation.changes)
        return
    checks.check_cluster()
    warning = asyncio.ensure_future(_warn(situation, hooks))
    try:
        failed = await registration.register_in_order(_phases(batches))
    finally:
        await warning
    # By now the plugin has read its kubeconfig. The engine deletes only after the program's end.
    checks.check_cluster()
    checks.report(situation.changes)
    missing = [record for record in situation.plan.records if model.record_id(record) in failed]
    stale = managed_hosts.stale_annotations(
        situation.snapshot.ingresses, situation.plan, situation.settings, missing
    )
    if stale:
        await asyncio.to_thread(
            managed_hosts.write_annotations, situation.transport, stale, pulumi.log.warn
        )


def _report_held(changes: Changes) -> None:
    """Warn, last of all, about what waits for an acknowledgement."""
    if changes.held:
        pulumi.log.warn(text_report.render_held(changes.held, guard.BY_PULUMI))


def _phases(batches: Sequence[Batch]) -> list[list[Batch]]:
    """Return the register, and then all targets together."""
    first = [batch for batch in batches if batch.declarations.hooks is HookSet.NONE]
    return [first, [batch for batch in batches if batch not in first]]


async def _warn(situation: Situation, hooks: Hooks) -> None:
    """Post new warnings as Events. A failure does not fail the run."""
    if unposted := await hooks.warn(
        event_texts.unreported(situation.warnings, situation.reported_warnings)
    ):
        pulumi.log.info(f"{unposted} warnings could not be posted as Events at their Ingresses")


def _config(environment: Mapping[str, str], service_account: Path) -> StackConfig:
    prefix = f"{PROJECT}:"
    values = {
        key.removeprefix(prefix): value
        for key, value in CONFIG.get().items()
        if key.startswith(prefix)
    }
    find_problems = partial(
        access.plugin_problems, environment=environment, service_account=service_account
    )
    return stack_config.deployable(values, pulumi.get_stack(), environment, find_problems)


def _log_notices(notices: Sequence[Notice]) -> None:
    """Show notices in the engine's log, warnings first. If there are many, namespaces share it."""
    ordered = sorted(notices, key=lambda notice: (notice.level is not Level.WARNING, notice.order))
    for notice in shares.shared_out(ordered, SHOWN_NOTICES, lambda notice: notice.about.namespace):
        log = pulumi.log.warn if notice.level is Level.WARNING else pulumi.log.info
        log(text_report.notice_text(notice))
    if len(ordered) > SHOWN_NOTICES:
        pulumi.log.warn(f"and {len(ordered) - SHOWN_NOTICES} more notices: see pic plan")


def _ask_guard(changes: Changes, settings: Settings) -> None:
    """Ask the guard. A preview only warns about what a real run would refuse."""
    try:
        guard.check(changes, settings)
    except RefusedError as error:
        if not pulumi.runtime.is_dry_run():
            raise
        pulumi.log.warn(f"`pulumi up` would refuse this:\n{error}")
