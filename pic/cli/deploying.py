"""What the verbs that start an engine share: what they work on, progress, and their report."""

import argparse
import contextlib
import json
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pic.cli import common, run_log
from pic.cli.run_log import Action, Scene
from pic.core import logs
from pic.core.errors import (
    FailedError,
    InterruptedRunError,
    PicError,
    SettingsError,
)
from pic.engine.outcome import Failure, Outcome, counted
from pic.report import text as text_report
from pic.run import stack_config
from pic.run.stack_config import StackConfig

if TYPE_CHECKING:
    from pic.engine.driver import DeployResult
    from pic.engine.engine import Engine
    from pic.run.situation import Situation

EVERY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Deployment:
    """A stack and everything that is situation of it before an engine runs."""

    engine: "Engine"
    situation: "Situation"


def add_acknowledge(verb: argparse.ArgumentParser) -> None:
    """Add the flag that lets refused changes through."""
    verb.add_argument(
        "--acknowledge",
        metavar="DIGEST",
        help="let exactly the changes through that a refusal has printed this digest of",
    )


def config(options: argparse.Namespace, environment: Mapping[str, str]) -> tuple[str, StackConfig]:
    """Return the stack and the settings to deploy with.

    Raises:
        SettingsError: The settings cannot be right.
    """
    stack = options.stack or stack_config.only_stack(Path.cwd())
    raw = stack_config.stored(Path.cwd(), stack, options.config)
    if getattr(options, "acknowledge", None):
        raw["acknowledge"] = options.acknowledge
    if not Path("Pulumi.yaml").is_file():
        raise SettingsError(["there is no Pulumi.yaml here: run pic in the project's folder"])
    return stack, common.with_log_level(stack_config.deployable(raw, stack, environment))


def work(options: argparse.Namespace, environment: Mapping[str, str]) -> Deployment:
    """Read the settings and the cluster.

    Raises:
        SettingsError: The settings cannot be right.
        ClusterError: The cluster could not be read whole.
        EngineError: There is no engine.
    """
    # They take a tenth of a second to import, which other verbs do without.
    from pic.engine import driver  # noqa: PLC0415
    from pic.run import situation as looking  # noqa: PLC0415

    stack, stack_settings = config(options, environment)
    progress = Progress(options)
    steal = getattr(options, "steal_locks", False)
    engine = driver.engine_for(stack_settings, stack, environment, progress.step, steal_locks=steal)
    engine.ask_ahead()
    common.progress(options, "reading the cluster")
    return Deployment(engine, looking.survey(stack_settings, environment))


def teller(options: argparse.Namespace) -> Callable[[str], None]:
    """Return what says on a terminal what is being done."""
    return lambda what: common.progress(options, what)


@dataclass
class Progress:
    """Says on a terminal how far an engine is, at most once a second."""

    options: argparse.Namespace
    last: float = field(default_factory=time.monotonic)

    def step(self, outcome: Outcome) -> None:
        """Take note of a step."""
        now = time.monotonic()
        if now - self.last >= EVERY_SECONDS:
            self.last = now
            common.progress(self.options, f"{outcome.done} steps done")


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Let a signal between two passes of the engine end a run like one during a pass.

    Raises:
        InterruptedRunError: There was one.
    """
    main = threading.current_thread() is threading.main_thread()
    # As process 1 of a container, nothing would happen by default.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler) if main else None
    try:
        yield
    except KeyboardInterrupt as error:
        raise InterruptedRunError(
            "interrupted between two steps: what was done is saved. Run again to finish"
        ) from error
    finally:
        if main:
            signal.signal(signal.SIGTERM, before)


def begin(situation: "Situation") -> None:
    """Log which Ingresses something is to be done for."""
    _log(run_log.begun(Scene(situation.plan, situation.changes, situation.snapshot.ingresses)))


def conclude(options: argparse.Namespace, situation: "Situation", result: "DeployResult") -> None:
    """Log and print what was done.

    Raises:
        FailedError: Some resources failed.
        TargetError: None did, but a target did not answer.
    """
    if result.outcome is None:
        _raise_unread(result)
        print("Nothing to do: everything is as it was deployed.")
        return
    _tell(
        options, result.outcome, Scene(situation.plan, result.changes, situation.snapshot.ingresses)
    )
    if result.changes:
        print(text_report.render_changes(result.changes))
    if result.failures:
        raise FailedError(_failed(result.failures))
    print(f"Done: {counted(result.outcome.changed) or 'nothing had to be changed'}.")
    _raise_unread(result)


def _raise_unread(result: "DeployResult") -> None:
    for error in result.unread.values():
        raise error


def _tell(options: argparse.Namespace, outcome: Outcome, scene: Scene) -> None:
    """Log each thing once: a person reads in the report what was done."""
    told = set()
    if options.log_format:
        _log(run_log.noticed(scene))
        told = {text_report.notice_text(each) for each in scene.plan.notices}
    for warning in outcome.warnings:
        if warning not in told:
            logs.log(logs.WARN, warning)
    if options.log_format or logs.is_debug():
        _log(run_log.done(outcome, scene))


def _log(lines: Iterable[Action]) -> None:
    for each in lines:
        logs.log(each.level, each.message, **each.fields)


def _failed(failures: tuple[Failure, ...]) -> str:
    lines = [f"{each.host} ({each.kind.value}): {each.words}" for each in failures]
    return "\n".join([f"{len(failures)} resources failed; the others are done:", *lines])


def check_report(path: str | None) -> None:
    """Make the file of the report, before anything is done.

    Raises:
        SettingsError: It cannot be written.
    """
    try:
        if path:
            Path(path).write_text("")
    except OSError as failed:
        raise SettingsError([f"--report {path} cannot be written: {failed}"]) from failed


def write_report(
    path: str | None,
    result: "DeployResult | None",
    error: PicError | None,
    situation: "Situation | None" = None,
) -> None:
    """Write what happened as JSON, for what decides whether and when to try again (DESIGN 9.15).

    Where neither is situation there is nothing to say. Only where all went well it says what is
    deployed since, which was situation before.
    """
    if not path or (result is None and error is None):
        return
    failures = result.failures if result else ()
    body: dict[str, object] = {
        "version": 1,
        "exitCode": _exit_code(failures, error),
        "changed": dict(result.outcome.changed) if result and result.outcome else {},
        "failures": [
            {
                "target": each.target,
                "host": each.host,
                "class": each.kind.value,
                "retryAfter": each.retry_after,
                "message": each.words,
            }
            for each in (result.reported if result else ())
        ],
        "error": str(error) if error else None,
    }
    if situation and not error:
        body["deployed"] = _deployment(situation)
    Path(path).write_text(json.dumps(body, indent=2, ensure_ascii=False) + "\n")


def _deployment(situation: "Situation") -> dict[str, object]:
    from pic.run import fingerprint  # noqa: PLC0415 - see work

    return fingerprint.deployment(situation)


def _exit_code(failures: tuple[Failure, ...], error: PicError | None) -> int:
    if error:
        return error.exit_code
    return FailedError.exit_code if failures else 0
