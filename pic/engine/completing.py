"""Completes what a plain `pulumi up` has read, before it declares: with time, and with the state.

`pic up` does the same around the engine, with more passes (`pic.engine.repair`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pulumi

from pic.core.errors import EngineError
from pic.engine import remembering, repair
from pic.engine.backend.state import StackState
from pic.engine.engine import Engine
from pic.engine.withholding import withhold
from pic.planning import record_ownership
from pic.run.situation import Situation
from pic.settings.parse import PiholeApi
from pic.settings.stack_file import PROJECT

NewEngine: TypeAlias = Callable[[Path, str, Mapping[str, str]], Engine]


def settle(situation: Situation, environment: Mapping[str, str]) -> Situation:
    """Wait for what is going, except in a preview."""
    if not situation.changes.waiting or pulumi.runtime.is_dry_run():
        return situation
    # Only such a run needs this import.
    from pic.cluster.wait import Clock  # noqa: PLC0415
    from pic.run import settling  # noqa: PLC0415

    return settling.settle(situation, environment, Clock(pulumi.log.info))


def complete(situation: Situation, new_engine: NewEngine) -> Situation:
    """Add what only the state shows, if it matters: what is going, and what nothing declares."""
    changes = situation.changes
    # Only the state proves a record without a marker whose address the register does not have.
    unmarked = situation.settings.pihole_api is PiholeApi.DNS_LOCAL
    unclear = any(
        record_ownership.is_unclear(record) or (unmarked and not record.ours)
        for record in situation.snapshot.records or ()
    )
    silent = situation.snapshot.silent is not None
    if not (silent or changes.going or unclear or any(it.removals for it in changes.parts)):
        return situation
    state = _find_state(new_engine)
    if state is None:
        return situation
    situation = remembering.with_own_records(situation, state)
    changes = situation.changes
    records = repair.stray_records(changes, state, situation.settings)
    orphans = repair.orphans(repair.strays(changes, state), records)
    config = situation.config
    remarks = (*config.remarks, *orphans)
    return withhold(replace(situation, config=replace(config, remarks=remarks)), state)


def remember(situation: Situation, new_engine: NewEngine) -> Situation:
    """Plan again with what the state knows, if the register leaves a question open."""
    if not remembering.needs_state(situation, {}):
        return situation
    state = _find_state(new_engine)
    if state is None:
        return situation
    return remembering.with_state(situation, state, state.outputs)


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
