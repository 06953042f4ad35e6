"""Runs the program inside this process when pic itself drives the engine."""

from collections.abc import Callable
from dataclasses import dataclass

import pulumi

from pic.core.errors import EngineError, PicError
from pic.engine import program
from pic.engine.automation import PARALLEL
from pic.engine.hooks import Hooks
from pic.engine.outcome import Outcome
from pic.run.situation import Situation
from pic.run.targets.pihole.declaration import RECORDS_AT_ONCE


@dataclass
class Program:
    """The program as the engine runs it inside this process.

    Attributes:
        body: Declares resources that bind these hooks.
        parallel: How many steps the engine takes at the same time.
        error: The expected error that the body raised, if any.
    """

    body: Callable[[Hooks], None]
    parallel: int = PARALLEL
    error: PicError | None = None

    def __call__(self) -> None:
        """Run the body.

        Raises:
            pulumi.RunError: The body failed. The engine reports it without a traceback.
        """
        try:
            self.body(Hooks())
        except PicError as error:
            self.error = error
            raise pulumi.RunError(str(error)) from error

    def run(self, operation: Callable[["Program"], Outcome]) -> Outcome:
        """Let the engine run the program, and raise the error of the body rather than the engine's.

        Raises:
            PicError: The program or the engine failed.
        """
        try:
            return operation(self)
        except EngineError as error:
            if self.error:
                raise self.error from error
            raise


def declaring(situation: Situation) -> Program:
    """Return the program that declares a plan."""

    def declare(hooks: Hooks) -> None:
        program.bind(situation, hooks)
        program.declare(situation, hooks)

    return Program(declare, _parallel(situation))


def releasing(situation: Situation) -> Program:
    """Return the program that only registers the hooks, which the engine needs to delete."""
    return Program(
        lambda hooks: program.release(
            situation.config, situation.transport, hooks, situation.unread_targets
        ),
        _parallel(situation),
    )


def _parallel(situation: Situation) -> int:
    """Return how many steps at once suit a run: the provider of records batches its steps."""
    has_records = bool(situation.plan.records or situation.changes.records)
    return RECORDS_AT_ONCE if has_records else PARALLEL
