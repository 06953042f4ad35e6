"""Drives the engine through one run: guards it, keeps it short, and heals interrupted runs.

A deployment has up to four passes of the engine: a refresh of what others changed, a preview if
the engine may see the plan differently, an adopting pass for what the state lacks, and the
deployment itself. If nothing has to be done, there is no pass, and Pulumi is not even imported.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pic.cluster import managed_hosts
from pic.cluster.pinned import Pinned
from pic.core import model
from pic.core.errors import PicError, RefusedError
from pic.core.json_values import Raw, mapping, sequence, text
from pic.core.model import LiveResource, Plan, Record
from pic.engine import private_kubeconfig, remembering, repair, withholding
from pic.engine.backend import history
from pic.engine.backend.state import StackState
from pic.engine.engine import Engine
from pic.engine.importing import import_ahead
from pic.engine.outcome import Outcome
from pic.engine.pulumi_command import Command
from pic.engine.result import DeployResult
from pic.planning import changes as comparing
from pic.planning import guard, record_ownership
from pic.planning.changes import Changes
from pic.planning.memory import recall
from pic.run import fingerprint
from pic.run.situation import Situation
from pic.settings.parse import Settings
from pic.settings.stack_file import PROJECT

if TYPE_CHECKING:
    from pic.engine.inline import Program

Tell = Callable[[str], None]

UP_AGAIN, DESTROY_AGAIN = "pic up --acknowledge {}", "pic destroy --acknowledge {}"


def up(engine: Engine, situation: Situation, tell: Tell) -> DeployResult:
    """Make the cluster and the targets match the plan.

    Raises:
        PicError: The guard refuses, the stack is locked, or the engine cannot do its work.
    """
    guard.check(situation.changes, situation.settings, UP_AGAIN)
    with engine.exclusive():
        outputs = engine.outputs()
        state, situation = _remembering(engine, situation, outputs)
        if outputs is not None and unchanged(situation, outputs):
            _annotate(situation, situation.plan, tell)
            return DeployResult(situation.changes, None, situation.unread_targets)
        import_ahead()
        if outputs is None:
            engine.create()
        # An interrupted first run leaves resources, but no outputs.
        if state is None:
            state = StackState() if outputs is None else engine.state()
        try:
            known = None if outputs is None else state
            complete = replace(
                withholding.withhold(_with_records_of_state(situation, known), state),
                reported_warnings=_reported_warnings(outputs or {}),
            )
            return _Deployment(engine, complete, tell).run(state, outputs or {})
        finally:
            _prune(engine, situation.settings, tell)


def _remembering(
    engine: Engine, situation: Situation, outputs: Raw | None
) -> tuple[StackState | None, Situation]:
    """Read the state and plan again with it, if the register leaves a question open.

    Raises:
        RefusedError: The guard refuses what the state shows.
    """
    if outputs is None or not remembering.needs_state(situation, outputs):
        return None, situation
    state = engine.state()
    complete = remembering.with_state(situation, state, outputs)
    guard.check(complete.changes, complete.settings, UP_AGAIN)
    return state, complete


def _with_records_of_state(situation: Situation, state: StackState | None) -> Situation:
    """Plan again with the records of the state as ours, if their markers do not say so.

    Args:
        situation: The situation so far.
        state: None if the stack has no state.

    Raises:
        RefusedError: The guard refuses the changes with these records.
    """
    complete = remembering.with_own_records(situation, state)
    guard.check(complete.changes, complete.settings, UP_AGAIN)
    return complete


def unchanged(situation: Situation, outputs: Raw) -> bool:
    """Say whether everything is as the last deployment declared it, under the same conditions."""
    deployment = {
        "digest": outputs.get("digest"),
        "deployed": outputs.get("deployed"),
        # Only the stack outputs say which warnings were reported.
        "told": sorted(_reported_warnings(outputs)),
    }
    wanted = fingerprint.deployment(situation)
    if situation.snapshot.silent:
        # Without an answer of Pangolin, its hosts are in no plan, and stay as they are.
        deployment, wanted = {"deployed": deployment["deployed"]}, {"deployed": wanted["deployed"]}
    return not situation.changes.needs_run and deployment == wanted


@dataclass(frozen=True, slots=True)
class _Deployment:
    """The passes of one deployment."""

    engine: Engine
    situation: Situation
    tell: Tell

    def run(self, state: StackState, outputs: Raw) -> DeployResult:
        return _result(self.situation.changes, self.situation, self.passes(state, outputs))

    def passes(self, state: StackState, outputs: Raw) -> Iterator[Outcome]:
        moved = self.pihole_moved(outputs)
        # The state still has the provider of the former Pi-hole, which may not exist any more. So a
        # refresh of the records has to wait until the engine has the new provider.
        yield self.refresh(replace(state, records={}) if moved else state)
        self.preview_first(outputs)
        yield self.adopt(state)
        self.tell("deploying")
        yield self.declare(self.situation.plan, state)
        if moved:
            # The new Pi-hole lacks the records. The state had them, so the engine only replaced the
            # provider. After a refresh it sees that they are missing, and creates them.
            yield self.refresh(state)
            yield self.declare(self.situation.plan, state)

    def preview_first(self, outputs: Raw) -> None:
        """Preview first if the conditions differ from those of the last deployment."""
        conditions = fingerprint.conditions(self.situation)
        changed = ", ".join(repair.changed_conditions(_deployed(outputs), conditions))
        if changed:
            self.tell(f"asking the engine for a preview first, since {changed}")
            self.check_preview(changed)

    def adopt(self, state: StackState) -> Outcome:
        """Import what interrupted runs left behind, so that the engine can delete it."""
        changes, settings = self.situation.changes, self.situation.settings
        strays = repair.strays(changes, state)
        records = repair.stray_records(changes, state, settings)
        if not strays and not records:
            return Outcome()
        count = _counted(len(strays) + len(records))
        self.tell(f"importing {count} that an interrupted run left")
        plan = repair.adopting(self.situation.plan, strays, state)
        return self.declare(replace(plan, records=(*plan.records, *records)), state)

    def pihole_moved(self, outputs: Raw) -> bool:
        """Say whether the last deployment declared the records in another Pi-hole."""
        former = _deployed(outputs).get("piholeUrl")
        return former not in (None, fingerprint.conditions(self.situation).get("piholeUrl"))

    def refresh(self, state: StackState) -> Outcome:
        stale = repair.stale(
            self.situation.snapshot,
            self.situation.plan,
            state,
            owner_references=self.situation.settings.owner_references,
            declared=repair.declared_in_pangolin(self.situation),
        )
        if not stale:
            return Outcome()
        self.tell(f"refreshing {_counted(len(stale))} that others changed or deleted")
        return self.engine.refresh(stale)

    def check_preview(self, reason: str) -> None:
        """Ask the guard about what the engine would do beyond the plan.

        Raises:
            RefusedError: The guard refuses it.
        """
        situation = self.situation
        previewed = preview(self.engine, situation)
        if removed := repair.unplanned_removals(situation.snapshot, situation.plan, previewed):
            changes = replace(situation.changes, removed=(*situation.changes.removed, *removed))
            try:
                guard.check_unplanned(
                    changes, removed, situation.settings, _up_again(situation.settings)
                )
            except RefusedError as error:
                raise RefusedError(
                    f"The engine would do more than the plan says, since {reason}.\n{error}",
                    digest=error.digest,
                ) from error

    def declare(self, plan: Plan, state: StackState) -> Outcome:
        names = {resource.host for resource in plan.resources} - state.resources.keys()
        names |= set(map(model.record_id, plan.records)) - state.records.keys()
        situation = replace(self.situation, plan=plan, unrecorded=frozenset(names))
        return _declaring(situation).run(self.engine.up)


def _result(changes: Changes, situation: Situation, passes: Iterable[Outcome]) -> DeployResult:
    """Run passes up to the first with a failure, and return what all of them did.

    Raises:
        PicError: A pass could not do its work, and no earlier pass changed anything.
    """
    done, error = Outcome(), None
    try:
        for outcome in passes:
            done = outcome.including(done)
            if done.failures:
                break
    except PicError as raised:
        if not done.changed:
            raise
        error = raised
    withheld = withholding.failures(situation.withheld)
    return DeployResult(changes, done, situation.unread_targets, error, withheld)


def _up_again(settings: Settings) -> str:
    """Return the command that acknowledges a second digest, next to the one of the plan."""
    first = f"{settings.acknowledge}," if settings.acknowledge else ""
    return UP_AGAIN.replace("{}", f"{first}{{}}")


def preview(engine: Engine, situation: Situation) -> Outcome:
    """Ask the engine what it would do. This refuses nothing and changes nothing.

    Raises:
        PicError: The stack does not exist, or the engine cannot do its work.
    """
    return _declaring(situation).run(engine.preview)


def destroy(engine: Engine, situation: Situation, tell: Tell) -> DeployResult:
    """Delete everything of ours in the cluster, even what the state does not have.

    Raises:
        PicError: The guard refuses, the stack is locked, or the engine cannot do its work.
    """
    removal = full_removal(situation)
    guard.check(removal, situation.settings, DESTROY_AGAIN)
    with engine.exclusive():
        if engine.outputs() is None:
            engine.create()
        state = engine.state()
        # Nothing is made here, so no host waits.
        situation = replace(withholding.withhold(situation, state), withheld={})
        try:
            passes = _removing_passes(engine, situation, removal, state, tell)
            result = _result(removal, situation, passes)
        finally:
            _prune(engine, situation.settings, tell)
        if not result.failures and not result.error:
            _annotate(situation, Plan(), tell)
        return result


def _removing_passes(
    engine: Engine, situation: Situation, removal: Changes, state: StackState, tell: Tell
) -> Iterator[Outcome]:
    yield _import_unknown(engine, situation, removal, state, tell)
    tell("deleting")
    yield _releasing(situation).run(engine.destroy)


def _import_unknown(
    engine: Engine, situation: Situation, removal: Changes, state: StackState, tell: Tell
) -> Outcome:
    """Import what the state does not have, so that the engine can delete it."""
    strays = repair.strays(removal, state)
    records = repair.stray_records(removal, state, situation.settings)
    if not strays and not records:
        return Outcome()
    tell(f"importing {_counted(len(strays) + len(records))} that the state does not have")
    plan = repair.adopting(_in_state(removal.removed, state), strays, state)
    # What the state has stays declared, or this pass would already delete it.
    recorded = (Record(entry.host, entry.ip, ()) for entry in state.records.values())
    plan = replace(plan, records=(*recorded, *records))
    # No Ingress is annotated with records that are about to go.
    settings = replace(situation.settings, pihole_annotate=False)
    importing = replace(
        situation,
        config=replace(situation.config, settings=settings),
        plan=plan,
        changes=Changes(removal.stack, removal.cluster_id),
    )
    return _declaring(importing).run(engine.up)


def _counted(count: int) -> str:
    return "1 object" if count == 1 else f"{count} objects"


def _annotate(situation: Situation, plan: Plan, tell: Tell) -> None:
    """Repair the annotations of Ingresses; in a deployment the program does that."""
    ingresses = situation.snapshot.ingresses
    if stale := managed_hosts.stale_annotations(ingresses, plan, situation.settings):
        managed_hosts.write_annotations(situation.transport, stale, tell)


def full_removal(situation: Situation) -> Changes:
    """Return the changes that remove everything of ours.

    Only the engine knows which of the records with the earlier marker it deletes.
    """
    config, snapshot = situation.config, situation.snapshot
    memory = recall(snapshot, config.ownership, config.settings)
    changes = comparing.between(snapshot, Plan(), config.label, memory)
    unclear = tuple(filter(record_ownership.is_unclear, snapshot.records or ()))
    records = replace(
        changes.records,
        live_count=changes.records.live_count + len(unclear),
        removed=(*changes.records.removed, *unclear),
    )
    return replace(
        changes,
        records=records,
        no_host_survives=bool(changes.removed),
        no_record_survives=bool(records.removed),
    )


def _in_state(removed: Sequence[LiveResource], state: StackState) -> Plan:
    names = {resource.identity: name for name, resource in state.resources.items()}
    resources = (
        repair.resource_as_live(live, names[live.identity])
        for live in removed
        if live.identity in names
    )
    return Plan(tuple(resources))


def _declaring(situation: Situation) -> "Program":
    from pic.engine import inline  # noqa: PLC0415 - a fifth of a second, for Pulumi

    return inline.declaring(situation)


def _releasing(situation: Situation) -> "Program":
    from pic.engine import inline  # noqa: PLC0415 - as above

    return inline.releasing(situation)


def _prune(engine: Engine, settings: Settings, tell: Tell) -> None:
    """Keep the history short: each run adds a copy of the whole state to it."""
    backend = history.backend_url(engine.root, engine.environment)
    history.prune(backend, PROJECT, engine.stack, settings.keep_history, tell)


def _reported_warnings(outputs: Raw) -> tuple[str, ...]:
    return tuple(map(text, sequence(outputs.get("told") or [], "told")))


def _deployed(outputs: Raw) -> Raw:
    return mapping(outputs.get("deployed") or {}, "deployed")


def engine_for(
    stack: str,
    environment: Mapping[str, str],
    on_progress: Callable[[Outcome], None],
    kubeconfig: Pinned,
    *,
    steal_after: timedelta | None = None,
) -> Engine:
    """Return the engine for a stack of the project in the working directory.

    Args:
        stack: The name of the stack.
        environment: The environment of this process.
        on_progress: Gets the outcome so far, during a run.
        kubeconfig: Leads to the cluster that the run has read.
        steal_after: Remove locks of unknown owners that are older than this; None removes none.
    """
    private_kubeconfig.remove_abandoned()
    root, command = Path.cwd(), Command(environment)
    return Engine(
        root, stack, environment, on_progress, command, steal_after, kubeconfig=kubeconfig
    )
