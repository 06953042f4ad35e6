"""Has the engine run the program inside this process: guarded, fast and healing.

Where there is nothing to do Pulumi is not even imported.
"""

import importlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pic.cluster import managed_hosts
from pic.cluster.events import EVENTS_A_RUN
from pic.core import model
from pic.core.errors import RefusedError, TargetError, with_class
from pic.core.json_values import (
    Raw,
    mapping,
    sequence,
    text,
)
from pic.core.model import LiveResource, Plan, Record
from pic.engine import repair
from pic.engine.backend import history
from pic.engine.backend.state import StackState
from pic.engine.engine import Engine
from pic.engine.outcome import Failure, Outcome
from pic.planning import changes, guard
from pic.planning.changes import Changes
from pic.run import fingerprint
from pic.run import situation as looking
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.settings.parse import PiholeApi, Settings
from pic.settings.stack_file import PROJECT

if TYPE_CHECKING:
    from pic.engine.inline import Program

Tell = Callable[[str], None]

UP_AGAIN, DESTROY_AGAIN = "pic up --acknowledge {}", "pic destroy --acknowledge {}"
# What the engine calls a step after which an object is gone, if only for a moment.
GONE = ("delete", "replace", "delete-replaced", "create-replacement", "import-replacement")


@dataclass(frozen=True, slots=True)
class DeployResult:
    """What a run did.

    Attributes:
        changes: What it set out to do.
        outcome: What the engine did; None where there was nothing to do and it did not run.
        unanswered: Why Pi-hole's records are not situation, so that some of them may be left as they
            were; None where they are, or do not matter.
    """

    changes: Changes
    outcome: Outcome | None = None
    unread: Mapping[str, TargetError] = field(default_factory=dict)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The resources that failed."""
        return self.outcome.failures if self.outcome else ()

    @property
    def reported(self) -> tuple[Failure, ...]:
        """What failed, with the targets that did not answer."""
        unread = (Failure("", with_class(error), name) for name, error in self.unread.items())
        return (*self.failures, *unread)


def up(engine: Engine, situation: Situation, tell: Tell) -> DeployResult:
    """Bring about what is planned.

    Raises:
        PicError: The guard refuses, the stack is locked, or the engine cannot do its work.
    """
    guard.check(situation.changes, situation.settings, UP_AGAIN)
    with engine.alone():
        outputs = engine.outputs()
        if outputs is not None and unchanged(situation, outputs):
            _annotate(situation, situation.plan, tell)
            return DeployResult(situation.changes, None, situation.unread)
        _import_ahead()
        if outputs is None:
            engine.create()
        # A first run that was interrupted has left resources, and no outputs.
        state = StackState() if outputs is None else engine.state()
        try:
            situation = replace(_owning(situation, state), told=_told(outputs or {}))
            return _Up(engine, situation, tell).run(state, outputs or {})
        finally:
            _prune(engine, situation.settings, tell)


def _owning(situation: Situation, state: StackState) -> Situation:
    """Plan anew where the engine knows of records of ours that bear no mark.

    Raises:
        RefusedError: With these, the guard refuses.
    """
    if situation.settings.pihole_api is not PiholeApi.DNS_LOCAL:
        return situation
    owned = looking.owning(situation, {each.host for each in state.records.values()})
    guard.check(owned.changes, owned.settings, UP_AGAIN)
    return owned


def unchanged(situation: Situation, outputs: Raw) -> bool:
    """Say whether everything is as it was declared last, by the same means."""
    deployment = {
        "digest": outputs.get("digest"),
        "deployed": outputs.get("deployed"),
        # Only the engine remembers what was told.
        "told": sorted(_told(outputs)),
    }
    return not situation.changes and deployment == fingerprint.deployment(situation)


@dataclass(frozen=True, slots=True)
class _Up:
    engine: Engine
    situation: Situation
    tell: Tell

    def run(self, state: StackState, outputs: Raw) -> DeployResult:
        moved = self.has_moved(outputs)
        # The engine still knows the way to the former Pi-hole only, which may be gone.
        read = self.refresh(replace(state, records={}) if moved else state)
        if read.failures:
            return self.result(read)
        differing = list(
            repair.scope_changes(_deployed(outputs), fingerprint.means(self.situation))
        )
        if differing:
            self.tell(f"asking the engine first, since {', '.join(differing)}")
            self.foresee(", ".join(differing))
        lost = repair.strays(self.situation.changes, state)
        records = repair.stray_records(self.situation.changes, state, self.situation.settings)
        if lost or records:
            count = len(lost) + len(records)
            self.tell(f"taking up {count} objects that an interrupted run has left")
            plan = repair.adopting(self.situation.plan, lost, state)
            first = self.declare(replace(plan, records=(*plan.records, *records)), state)
            if first.failures:
                return self.result(first)
        self.tell("deploying")
        done = self.declare(self.situation.plan, state)
        return self.result(self.fill(done, state) if moved else done)

    def has_moved(self, outputs: Raw) -> bool:
        """Say whether the records were declared in another Pi-hole the last time."""
        former = _deployed(outputs).get("piholeUrl")
        return former not in (None, fingerprint.means(self.situation).get("piholeUrl"))

    def fill(self, first: Outcome, state: StackState) -> Outcome:
        """Declare once more: by now the engine knows the way to the Pi-hole that lacks records."""
        if first.failures:
            return first
        read = self.refresh(state)
        if read.failures:
            return read
        return self.declare(self.situation.plan, state).after(first)

    def result(self, outcome: Outcome) -> DeployResult:
        return DeployResult(self.situation.changes, outcome, self.situation.unread)

    def refresh(self, state: StackState) -> Outcome:
        stale = repair.stale(
            self.situation.snapshot,
            self.situation.plan,
            state,
            owner_references=self.situation.settings.owner_references,
        )
        if not stale:
            return Outcome()
        self.tell(f"reading {len(stale)} objects anew that were changed or deleted by others")
        return self.engine.refresh(stale)

    def foresee(self, why: str) -> None:
        """Let the engine preview, and ask the guard again about what it would do."""
        if extra := beyond(self.situation, preview(self.engine, self.situation)):
            more = replace(
                self.situation.changes, removed=(*self.situation.changes.removed, *extra)
            )
            try:
                guard.check(more, self.situation.settings, _again(self.situation.settings))
            except RefusedError as error:
                raise RefusedError(
                    f"The engine would do more than the plan says, since {why}.\n{error}",
                    digest=error.digest,
                ) from error

    def declare(self, plan: Plan, state: StackState) -> Outcome:
        situation = replace(self.situation, plan=plan)
        unknown = sum(each.host not in state.resources for each in plan.resources)
        unknown += sum(model.record_id(each) not in state.records for each in plan.records)
        # Each hook call costs time, also that for an object which is only found again.
        bulk = replace(situation, bulk=unknown > EVENTS_A_RUN)
        return _declaring(bulk).run(self.engine.up)


def _again(settings: Settings) -> str:
    """Return the command for a second digest: the plan alone may need one as well."""
    first = f"{settings.acknowledge}," if settings.acknowledge else ""
    return UP_AGAIN.replace("{}", f"{first}{{}}")


def preview(engine: Engine, situation: Situation) -> Outcome:
    """Ask the engine what it would do; nothing is refused, and nothing is changed.

    Raises:
        PicError: The stack is not there, or the engine cannot do its work.
    """
    return _declaring(situation).run(engine.preview)


def beyond(situation: Situation, outcome: Outcome) -> tuple[LiveResource, ...]:
    """Return the objects that the engine would take away though the plan keeps them."""
    hosts, kept = set(outcome.hosts(*GONE)), {each.key for each in situation.plan.resources}
    return tuple(
        live for live in situation.snapshot.live if live.host in hosts and live.key in kept
    )


def destroy(engine: Engine, situation: Situation, tell: Tell) -> DeployResult:
    """Delete everything of ours in the cluster, also what the engine has forgotten.

    Raises:
        PicError: The guard refuses, the stack is locked, or the engine cannot do its work.
    """
    going = everything(situation)
    guard.check(going, situation.settings, DESTROY_AGAIN)
    with engine.alone():
        if engine.outputs() is None:
            engine.create()
        state = engine.state()
        if first := _take_up(engine, situation, going, state, tell):
            return DeployResult(going, first)
        tell("deleting")
        try:
            outcome = _releasing(situation).run(engine.destroy)
        finally:
            _prune(engine, situation.settings, tell)
        if not outcome.failures:
            _annotate(situation, Plan(), tell)
        return DeployResult(going, outcome, situation.unread)


def _take_up(
    engine: Engine, situation: Situation, going: Changes, state: StackState, tell: Tell
) -> Outcome | None:
    """Make situation to the engine what it has forgotten; return what failed."""
    lost, records = (
        repair.strays(going, state),
        repair.stray_records(going, state, situation.settings),
    )
    if not lost and not records:
        return None
    tell(f"taking up {len(lost) + len(records)} objects that the engine does not know")
    kept = Plan(tuple(repair.as_live(live, live.host) for live in going.removed))
    plan = repair.adopting(_known_only(kept, state), lost, state)
    # What is remembered stays declared, or it would go in this pass already.
    remembered = (Record(each.host, each.ip, ()) for each in state.records.values())
    plan = replace(plan, records=(*remembered, *records))
    # Nothing is written back to an Ingress for records that are about to go.
    config = replace(situation.config, settings=replace(situation.settings, pihole_annotate=False))
    nothing = Changes(going.stack, going.cluster_id)
    taking = replace(situation, config=config, plan=plan, changes=nothing)
    first = _declaring(taking).run(engine.up)
    return first if first.failures else None


def _annotate(situation: Situation, plan: Plan, tell: Tell) -> None:
    """Repair the annotations of the Ingresses, where no program runs that does it."""
    if notes := managed_hosts.stale_annotations(
        situation.snapshot.ingresses, plan, situation.settings
    ):
        managed_hosts.write_annotations(situation.transport, notes, tell)


def everything(situation: Situation) -> Changes:
    """Return the changes that leave nothing of ours."""
    asked = situation.config
    return changes.between(situation.snapshot, Plan(), asked.label, asked.ownership)


def _known_only(plan: Plan, state: StackState) -> Plan:
    return replace(plan, resources=tuple(e for e in plan.resources if e.key in state.keys))


def _declaring(situation: Situation) -> "Program":
    from pic.engine import inline  # noqa: PLC0415 - a fifth of a second, for Pulumi

    return inline.declaring(situation)


def _releasing(situation: Situation) -> "Program":
    from pic.engine import inline  # noqa: PLC0415 - as above

    return inline.releasing(situation)


def _import_ahead() -> None:
    """Begin to import what a pass of the engine needs, while the backend is asked."""
    # One after the other: two threads could meet in modules that import each other.
    threading.Thread(target=_import, args=("pic.engine.inline", "pic.engine.automation")).start()


def _import(*names: str) -> None:
    for name in names:
        importlib.import_module(name)


def _prune(engine: Engine, settings: Settings, tell: Tell) -> None:
    """Keep the history short: each run leaves a copy of the whole state in it."""
    backend = history.backend_url(engine.root, engine.environment)
    history.prune(backend, PROJECT, engine.stack, settings.keep_history, tell)


def _told(outputs: Raw) -> tuple[str, ...]:
    return tuple(map(text, sequence(outputs.get("told") or [], "told")))


def _deployed(outputs: Raw) -> Raw:
    return mapping(outputs.get("deployed") or {}, "deployed")


def engine_for(
    asked: StackConfig,
    stack: str,
    environment: Mapping[str, str],
    tell: Callable[[Outcome], None],
    *,
    steal_locks: bool = False,
) -> Engine:
    """Return the engine of a stack of the project in the working directory.

    Args:
        asked: The settings.
        stack: Its name.
        environment: That of this process.
        tell: Told of progress during a run.
        steal_locks: Locks of other hosts that are older than `pic:lockTimeout` are taken away.
    """
    left_after = asked.settings.lock_timeout if steal_locks else None
    wanted = {"KUBECONFIG": asked.settings.kubeconfig} if asked.settings.kubeconfig else {}
    return Engine(Path.cwd(), stack, {**environment, **wanted}, tell, left_after=left_after)
