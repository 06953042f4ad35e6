"""Runs the Pulumi engine for one stack, with the program inside this process.

Reading outputs and state takes the CLI alone. Only an operation imports the Automation API.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pic.core import logs
from pic.core.command_result import CommandResult
from pic.core.errors import EngineError, InterruptedRunError, LockedError
from pic.core.json_values import MalformedError, Raw, mapping
from pic.engine.backend import locks, state
from pic.engine.backend.state import StackState
from pic.engine.outcome import Outcome
from pic.engine.pulumi_command import Command

NO_STACK = 6  # the CLI's exit code

Program = Callable[[], None]


@dataclass
class Engine:
    """The engine for one stack of the project in a folder.

    Attributes:
        root: The folder of Pulumi.yaml.
        environment: The environment of this process.
        on_progress: Gets the outcome so far, during an operation.
        left_after: The age from which a lock of another host counts as left behind; None never
            removes such a lock.
    """

    root: Path
    stack: str
    environment: Mapping[str, str]
    on_progress: Callable[[Outcome], None] = lambda _: None
    command: Command = field(default_factory=Command)
    left_after: timedelta | None = None
    _ahead: "Future[Raw | None] | None" = None

    def ask_ahead(self) -> None:
        """Begin to read the stack's outputs in the background."""
        self._ahead = ThreadPoolExecutor(1).submit(self._outputs)

    def outputs(self) -> Raw | None:
        """Return the stack's outputs; None when the backend has no such stack.

        Raises:
            EngineError: The backend cannot be read.
        """
        ahead, self._ahead = self._ahead, None
        return ahead.result() if ahead else self._outputs()

    def _outputs(self) -> Raw | None:
        answer = self._ask("stack", "output", "--json")
        if answer.code == NO_STACK:
            return None
        return _json(_good(answer).stdout)

    def state(self) -> StackState:
        """Return the state of the stack; an empty one if the backend has no such stack.

        Raises:
            EngineError: The backend cannot be read.
        """
        return self.existing_state() or StackState()

    def existing_state(self) -> StackState | None:
        """Return the state of the stack; None if the backend has no such stack."""
        answer = self._ask("stack", "export")
        if answer.code == NO_STACK:
            return None
        try:
            return state.read(_json(_good(answer).stdout))
        except MalformedError as error:
            raise EngineError(f"the state of stack {self.stack} cannot be read: {error}") from error

    def create(self) -> None:
        """Create the stack in the backend.

        Raises:
            EngineError: The backend refuses.
        """
        _good(self._ask("stack", "init", "--no-select"))

    def up(self, program: Program) -> Outcome:
        """Run the program and bring about what it declares, by the state alone (no refresh).

        Raises:
            PicError: The program refused, the stack is locked, or the engine could not start.
        """
        return self._run("up", program=program)

    def preview(self, program: Program) -> Outcome:
        """Run the program and return what `up` would do; raises as `up` does."""
        return self._run("preview", program=program)

    def refresh(self, urns: Sequence[str]) -> Outcome:
        """Refresh some resources from the cluster; raises as `up` does."""
        return self._run("refresh", target=list(urns), run_program=False)

    def destroy(self, program: Program) -> Outcome:
        """Delete everything in the state; raises as `up` does. The program registers the hooks."""
        return self._run("destroy", program=program, run_program=True)

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other runs of pic for this stack out of this host.

        Otherwise one run could remove a lock that another run has just created.

        Raises:
            LockedError: There is another run.
        """
        path = Path(tempfile.gettempdir()) / f"pic-{os.getuid()}-{self._fingerprint()}.lock"
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "r+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                owner = file.read().strip() or "unknown"
                raise LockedError(
                    f"another pic on this host (pid {owner}) is deploying stack {self.stack}: wait"
                    " for it to end"
                ) from error
            file.truncate(0)
            print(os.getpid(), file=file, flush=True)
            yield

    def _fingerprint(self) -> str:
        backend = self.environment.get("PULUMI_BACKEND_URL", "")
        text = f"{backend}\n{self.root.resolve()}\n{self.stack}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _ask(self, *arguments: str) -> CommandResult:
        whole = [*arguments, "--stack", self.stack]
        answer = self.command.run(whole, str(self.root), {"PULUMI_SKIP_UPDATE_CHECK": "true"})
        self._check_interrupted()
        return answer

    def _check_interrupted(self) -> None:
        if self.command.interrupted:
            raise InterruptedRunError(
                "interrupted: the engine has stopped and saved what was done. Run again to finish"
            )

    def _run(self, operation: str, **more: object) -> Outcome:
        try:
            return self._attempt(operation, **more)
        except _DeadLocksError:
            # The CLI can only remove all locks of a stack at once, and all of them are dead.
            _good(self._ask("cancel", "--yes"))
            return self._attempt(operation, **more)

    def _attempt(self, operation: str, **more: object) -> Outcome:
        from pic.engine import automation  # noqa: PLC0415 - a fifth of a second to import

        outcome, errors = Outcome(), list[str]()

        def add(line: str) -> None:
            outcome.feed(line)
            self.on_progress(outcome)

        api = automation.Automation(self.root, self.stack, self.environment, self.command)
        try:
            api.run(operation, on_output=add, on_error=errors.append, **more)
        except RuntimeError as error:
            # A preview raises this when the engine did not finish; _judge says why.
            if self.command.code == 0:
                raise EngineError(str(error)) from error
        self._judge(outcome, "\n".join(errors).strip())
        return outcome

    def _judge(self, outcome: Outcome, words: str) -> None:
        self._check_interrupted()
        if self.command.code == 0 or outcome.failures:
            return
        held = locks.parse(words)
        if held is not None:
            raise self._locked(held)
        errors = "\n".join(outcome.unplaced()) or words or "the engine failed and gave no reason"
        raise EngineError(errors.removeprefix("error: "))

    def _locked(self, held: Sequence[locks.Lock]) -> LockedError:
        before = datetime.now(UTC) - self.left_after if self.left_after else None
        if not locks.all_dead(held, before):
            return LockedError(_held(self.stack, held))
        if others := locks.of_others(held):
            logs.log(logs.WARN, f"removing the lock that was left by {', '.join(map(str, others))}")
        return _DeadLocksError(_held(self.stack, held))


class _DeadLocksError(LockedError):
    """Only runs that ended hold the locks of the stack."""


def _good(answer: CommandResult) -> CommandResult:
    if answer.code != 0:
        words = answer.stderr.strip() or answer.stdout.strip()
        raise EngineError(words.removeprefix("error: "))
    return answer


def _json(words: str) -> Raw:
    try:
        return mapping(json.loads(words or "{}"), "the answer of pulumi")
    except (ValueError, MalformedError) as error:
        raise EngineError(f"pulumi did not answer with JSON: {error}") from error


def _held(stack: str, held: Sequence[locks.Lock]) -> str:
    owners = ", ".join(map(str, held)) or "an owner that it does not name"
    return (
        f"stack {stack} is locked by a live run of {owners}: wait for it to end. If that host is"
        f" gone for good: pulumi cancel --stack {stack}"
    )
