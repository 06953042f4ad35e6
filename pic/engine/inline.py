"""The program inside this process: what the engine runs when pic drives it."""

from collections.abc import Callable
from dataclasses import dataclass

import pulumi

from pic.core.errors import EngineError, PicError
from pic.engine import program
from pic.engine.hooks import Hooks
from pic.engine.outcome import Outcome
from pic.run.situation import Situation


@dataclass
class Program:
    """The program as the engine runs it inside this process.

    Attributes:
        body: Declares something, with these hooks.
        error: Why it failed, if it did.
    """

    body: Callable[[Hooks], None]
    error: PicError | None = None

    def __call__(self) -> None:
        """Run it.

        Raises:
            pulumi.RunError: It failed; the engine tells it without a traceback.
        """
        try:
            self.body(Hooks())
        except PicError as error:
            self.error = error
            raise pulumi.RunError(str(error)) from error

    def run(self, operation: Callable[["Program"], Outcome]) -> Outcome:
        """Let the engine run it, and raise what it fails with.

        Raises:
            PicError: The program or the engine has failed.
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

    return Program(declare)


def releasing(situation: Situation) -> Program:
    """Return the program that declares nothing and holds nothing back."""
    return Program(
        lambda hooks: program.release(
            situation.config, situation.transport, hooks, situation.unread
        )
    )
