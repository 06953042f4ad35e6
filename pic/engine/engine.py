"""Drives the Pulumi engine: one stack, one program inside this process.

What is asked of it needs the CLI alone; only an operation imports the Automation API.
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
        environment: That of this process.
        tell: Told of progress during a run.
        left_after: How old the lock of another host has to be to count as left behind; None leaves
            such locks alone.
    """

    root: Path
    stack: str
    environment: Mapping[str, str]
    tell: Callable[[Outcome], None] = lambda _: None
    command: Command = field(default_factory=Command)
    left_after: timedelta | None = None
    _ahead: "Future[Raw | None] | None" = None

    def ask_ahead(self) -> None:
        """Begin to ask for the stack's outputs, while something else is done."""
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
        """Return what the engine remembers: nothing where there is no such stack.

        Raises:
            EngineError: The backend cannot be read.
        """
        return self.remembered() or StackState()

    def remembered(self) -> StackState | None:
        """Return the same, and None when the backend has no such stack."""
        answer = self._ask("stack", "export")
        if answer.code == NO_STACK:
            return None
        try:
            return state.read(_json(_good(answer).stdout))
        except MalformedError as error:
            raise EngineError(f"the state of stack {self.stack} cannot be read: {error}") from error

    def create(self) -> None:
        """Make the stack in the backend.

        Raises:
            EngineError: The backend refuses.
        """
        _good(self._ask("stack", "init", "--no-select"))

    def up(self, program: Program) -> Outcome:
        """Run the program and do what it declares; the state is the truth (no refresh).

        Raises:
            PicError: The program refused, the stack is locked, or the engine could not start.
        """
        return self._run("up", program=program)

    def preview(self, program: Program) -> Outcome:
        """Run the program and say what would be done, or raise as `up`."""
        return self._run("preview", program=program)

    def refresh(self, urns: Sequence[str]) -> Outcome:
        """Read some resources anew, or raise as `up`."""
        return self._run("refresh", target=list(urns), run_program=False)

    def destroy(self, program: Program) -> Outcome:
        """Delete everything that the stack has, or raise as `up`; the program has the hooks."""
        return self._run("destroy", program=program, run_program=True)

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other runs of pic for this stack on this host out.

        So that nobody takes a lock away that another one has just made.

        Raises:
            LockedError: There is one.
        """
        path = Path(tempfile.gettempdir()) / f"pic-{os.getuid()}-{self._fingerprint()}.lock"
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "r+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                owner = file.read().strip() or "unknown"
                raise LockedError(
                    f"stack {self.stack} is being deployed by another pic of this host (pid"
                    f" {owner}): wait for it to end"
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
        self._heed()
        return answer

    def _heed(self) -> None:
        if self.command.interrupted:
            raise InterruptedRunError(
                "interrupted: the engine has stopped and saved what was done. Run again to finish"
            )

    def _run(self, operation: str, **more: object) -> Outcome:
        try:
            return self._attempt(operation, **more)
        except _DeadLocksError:
            # The CLI can only take all locks of a stack away, and all of them are dead.
            _good(self._ask("cancel", "--yes"))
            return self._attempt(operation, **more)

    def _attempt(self, operation: str, **more: object) -> Outcome:
        from pic.engine import automation  # noqa: PLC0415 - a fifth of a second to import

        outcome, words = Outcome(), list[str]()

        def feed(line: str) -> None:
            outcome.feed(line)
            self.tell(outcome)

        api = automation.Automation(self.root, self.stack, self.environment, self.command)
        try:
            api.run(operation, on_output=feed, on_error=words.append, **more)
        except RuntimeError as error:
            # A preview says so when the engine came to no end; why, is told below.
            if self.command.code == 0:
                raise EngineError(str(error)) from error
        self._judge(outcome, "\n".join(words).strip())
        return outcome

    def _judge(self, outcome: Outcome, words: str) -> None:
        self._heed()
        if self.command.code == 0 or outcome.failures:
            return
        held = locks.told(words)
        if held is not None:
            raise self._locked(held)
        errors = "\n".join(outcome.unplaced()) or words or "the engine ended and does not say why"
        raise EngineError(errors.removeprefix("error: "))

    def _locked(self, held: Sequence[locks.Lock]) -> LockedError:
        before = datetime.now(UTC) - self.left_after if self.left_after else None
        if not locks.all_dead(held, before):
            return LockedError(_held(self.stack, held))
        if others := locks.of_others(held):
            logs.log(logs.WARN, f"taking away what is left of {', '.join(map(str, others))}")
        return _DeadLocksError(_held(self.stack, held))


class _DeadLocksError(LockedError):
    """The stack is locked, by runs that are no more."""


def _good(answer: CommandResult) -> CommandResult:
    if answer.code != 0:
        words = answer.stderr.strip() or answer.stdout.strip()
        raise EngineError(words.removeprefix("error: "))
    return answer


def _json(words: str) -> Raw:
    try:
        return mapping(json.loads(words or "{}"), "the answer of pulumi")
    except (ValueError, MalformedError) as error:
        raise EngineError(f"pulumi answered with something else than JSON: {error}") from error


def _held(stack: str, held: Sequence[locks.Lock]) -> str:
    owners = ", ".join(map(str, held)) or "somebody that it does not name"
    return (
        f"stack {stack} is locked by a live run of {owners}: wait for it to end. If that host is"
        f" gone for good: pulumi cancel --stack {stack}"
    )
