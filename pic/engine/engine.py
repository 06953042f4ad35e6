"""Runs the Pulumi engine for one stack, with the program inside this process.

Reading outputs and state takes the CLI alone. Only an operation imports the Automation API.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pic.cluster.pinned import Pinned
from pic.core import logs, private_folder
from pic.core.command_result import CommandResult
from pic.core.errors import EngineError, InterruptedRunError, LockedError
from pic.core.json_values import MalformedError, Raw, mapping
from pic.engine import private_kubeconfig
from pic.engine.backend import history, locks, place, run_records, state, stores
from pic.engine.backend.run_records import Recording
from pic.engine.backend.state import StackState
from pic.engine.outcome import Outcome
from pic.engine.pulumi_command import Command

NO_STACK = 6  # the exit code of the CLI if the backend has no such stack

Program = Callable[[], None]


@dataclass
class Engine:
    """The engine for one stack of the project in a folder.

    Attributes:
        root: The folder of Pulumi.yaml.
        environment: The environment of this process.
        on_progress: Gets the outcome so far, during an operation.
        steal_after: The age from which a lock of an unknown owner counts as abandoned; None never
            removes such a lock.
        kubeconfig: The only way to a cluster that an operation gets; None leaves it to the
            environment.
        message: What the history of the stack says about each deployment; empty leaves that to
            the CLI.
        runtime_folder: Where runs keep their locks and records, the same for all of this user.
    """

    root: Path
    stack: str
    environment: Mapping[str, str]
    on_progress: Callable[[Outcome], None] = lambda _: None
    command: Command = field(default_factory=Command)
    steal_after: timedelta | None = None
    runtime_folder: Path = field(default_factory=private_folder.path)
    kubeconfig: Pinned | None = None
    message: str = ""
    _contexts: frozenset[str] = frozenset()
    _prefetched: "Future[Raw | None] | None" = None

    def prefetch_outputs(self) -> None:
        """Start to read the stack's outputs in the background."""
        self._prefetched = ThreadPoolExecutor(1).submit(self._read_outputs)

    def outputs(self) -> Raw | None:
        """Return the stack's outputs; None when the backend has no such stack.

        Raises:
            EngineError: The backend cannot be read.
        """
        prefetched, self._prefetched = self._prefetched, None
        return prefetched.result() if prefetched else self._read_outputs()

    def _read_outputs(self) -> Raw | None:
        answer = self._run_cli("stack", "output", "--json")
        if answer.code == NO_STACK:
            return None
        return _json(_checked(answer).stdout)

    def state(self) -> StackState:
        """Return the state of the stack; an empty one if the backend has no such stack.

        Raises:
            EngineError: The backend cannot be read.
        """
        return self.find_state() or StackState()

    def find_state(self) -> StackState | None:
        """Return the state of the stack; None if the backend has no such stack."""
        answer = self._run_cli("stack", "export")
        if answer.code == NO_STACK:
            return None
        try:
            found = state.read(_json(_checked(answer).stdout))
        except MalformedError as error:
            raise EngineError(f"the state of stack {self.stack} cannot be read: {error}") from error
        self._contexts = found.contexts
        return found

    def create(self) -> None:
        """Create the stack in the backend.

        Raises:
            EngineError: The backend refuses.
        """
        _checked(self._run_cli("stack", "init", "--no-select"))

    def up(self, program: Program) -> Outcome:
        """Run the program and deploy what it declares. The engine trusts its state: no refresh.

        Raises:
            PicError: The program refused, the stack is locked, or the engine could not start.
        """
        return self._run("up", program=program, **self._told)

    def preview(self, program: Program) -> Outcome:
        """Run the program and return what `up` would do; raises as `up` does."""
        return self._run("preview", program=program)

    def refresh(self, urns: Sequence[str]) -> Outcome:
        """Refresh some resources from the cluster; raises as `up` does."""
        return self._run("refresh", target=list(urns), run_program=False)

    def destroy(self, program: Program) -> Outcome:
        """Delete everything in the state; raises as `up` does. The program registers the hooks."""
        return self._run("destroy", program=program, run_program=True, **self._told)

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other runs of pic of this user away from this stack, whatever their checkout.

        Raises:
            LockedError: Another run has the stack.
            SettingsError: The folder of the lock is not private.
        """
        path = private_folder.prepare(self.runtime_folder) / f"{self._key}.lock"
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

    @property
    def _told(self) -> dict[str, str]:
        return {"message": self.message} if self.message else {}

    @property
    def _backend(self) -> str:
        return history.backend_url(self.root, self.environment)

    @property
    def _key(self) -> str:
        return place.key(self._backend, self.stack)

    def _run_cli(self, *arguments: str) -> CommandResult:
        command = [*arguments, "--stack", self.stack]
        answer = self.command.run(command, str(self.root), {"PULUMI_SKIP_UPDATE_CHECK": "true"})
        self._check_interrupted()
        return answer

    def _check_interrupted(self) -> None:
        if self.command.interrupted:
            raise InterruptedRunError(
                "interrupted: the engine has stopped and saved what was done. Run again to finish"
            )

    def _run(self, operation: str, **arguments: object) -> Outcome:
        try:
            return self._attempt(operation, **arguments)
        except _DeadLocksError as error:
            self._remove_dead_locks(error.owners)
            return self._attempt(operation, **arguments)

    def _attempt(self, operation: str, **arguments: object) -> Outcome:
        from pic.engine import automation  # noqa: PLC0415 - a fifth of a second to import

        outcome, errors = Outcome(), list[str]()
        record = self._begin_record(operation)

        def add(line: str) -> None:
            record.confirm()
            outcome.add_line(line)
            self.on_progress(outcome)

        with self._pinned_environment() as environment:
            # A refresh has no program.
            parallel = getattr(arguments.get("program"), "parallel", automation.PARALLEL)
            api = automation.Automation(
                self.root, self.stack, environment, self.command, record.path, parallel
            )
            try:
                api.run(operation, on_output=add, on_error=errors.append, **arguments)
            except RuntimeError as error:
                # A preview raises this when the engine did not finish; _check says why.
                if self.command.code == 0:
                    raise EngineError(str(error)) from error
        if self.command.code == 0:
            record.discard()
        self._check(outcome, "\n".join(errors).strip())
        return outcome

    def _begin_record(self, operation: str) -> Recording:
        if operation == "preview":  # it takes no lock
            return Recording(None, self._key)
        return run_records.begin(self.runtime_folder, self._key)

    @contextlib.contextmanager
    def _pinned_environment(self) -> Iterator[Mapping[str, str]]:
        """Return the environment in which the engine finds the cluster of this run and no other."""
        if self.kubeconfig is None:
            yield self.environment
            return
        # A provider in the state may name a context that has another name here, or that leads
        # elsewhere by now. All of them are names of the pinned context.
        with private_kubeconfig.written(self.kubeconfig.as_text(self._contexts)) as path:
            yield {**self.environment, "KUBECONFIG": str(path)}

    def _check(self, outcome: Outcome, stderr: str) -> None:
        self._check_interrupted()
        if self.command.code == 0 or outcome.failures or outcome.pardoned:
            return
        owners = locks.parse(stderr)
        if owners is not None:
            raise self._locked(owners)
        errors = (
            "\n".join(outcome.other_errors()) or stderr or "the engine failed and gave no reason"
        )
        raise EngineError(errors.removeprefix("error: "))

    def _locked(self, owners: Sequence[locks.Lock]) -> LockedError:
        message = _lock_message(self.stack, owners)
        if any(map(self._judge().is_dead, owners)):
            return _DeadLocksError(message, owners)
        return LockedError(message)

    def _judge(self) -> locks.Judge:
        before = datetime.now(UTC) - self.steal_after if self.steal_after else None
        return locks.Judge(run_records.read(self.runtime_folder, self._key), before)

    def _remove_dead_locks(self, owners: Sequence[locks.Lock]) -> None:
        """Remove the dead locks of the stack, and no other where pic reaches the backend.

        Args:
            owners: The locks as the CLI has named them.

        Raises:
            PicError: pic does not reach the backend, and a lock is not dead, or the CLI fails.
        """
        judge = self._judge()
        try:
            with stores.open_store(self._backend, self.environment) as store:
                removed = locks.remove_dead(store, self.stack, judge)
        except EngineError:
            # The CLI can only remove all locks of a stack at once.
            if not all(map(judge.is_dead, owners)):
                raise LockedError(_lock_message(self.stack, owners)) from None
            removed = tuple(owners)
            _checked(self._run_cli("cancel", "--yes"))
        if abandoned := ", ".join(str(lock) for lock in removed if judge.is_abandoned(lock)):
            logs.log(logs.WARN, f"removing the lock that was left by {abandoned}")


class _DeadLocksError(LockedError):
    """A lock of the stack belongs to a run that ended.

    Attributes:
        owners: All locks of the stack, as the CLI has named them.
    """

    def __init__(self, message: str, owners: Sequence[locks.Lock]) -> None:
        self.owners = owners
        super().__init__(message)


def _checked(answer: CommandResult) -> CommandResult:
    if answer.code != 0:
        message = answer.stderr.strip() or answer.stdout.strip()
        raise EngineError(message.removeprefix("error: "))
    return answer


def _json(answer: str) -> Raw:
    try:
        return mapping(json.loads(answer or "{}"), "the answer of pulumi")
    except (ValueError, MalformedError) as error:
        raise EngineError(f"pulumi did not answer with JSON: {error}") from error


def _lock_message(stack: str, owners: Sequence[locks.Lock]) -> str:
    names = ", ".join(map(str, owners)) or "an owner that it does not name"
    return (
        f"stack {stack} is locked by a live run of {names}: wait for it to end. If that run is"
        f" gone for good: pulumi cancel --stack {stack}"
    )
