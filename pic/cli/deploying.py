"""Holds what the verbs that start an engine share: the stack, progress, signals and the report."""

import argparse
import contextlib
import json
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pic.cli import common, run_log
from pic.cli.run_log import LogContext, LogLine
from pic.core import logs
from pic.core.errors import (
    FailedError,
    InterruptedRunError,
    PicError,
    SettingsError,
    TargetError,
)
from pic.core.notices import Reason
from pic.engine.outcome import Failure, Outcome, counts_as_text
from pic.report import text as text_report
from pic.report.review import held_json
from pic.run import provenance, stack_config
from pic.run.stack_config import StackConfig
from pic.settings.parse import TargetName, Unpublish

if TYPE_CHECKING:
    from pic.engine.engine import Engine
    from pic.engine.result import DeployResult
    from pic.run.situation import Situation

STILL_SERVED = "Pangolin may still serve the hosts that are no longer declared: see docs/limits.md"

PROGRESS_SECONDS = 1.0
_MOST_NAMES = 5  # of what failed for one cause


@dataclass(frozen=True, slots=True)
class Deployment:
    """A stack, its engine, and everything that is known before the engine runs."""

    engine: "Engine"
    situation: "Situation"


def add_acknowledge(verb: argparse.ArgumentParser) -> None:
    """Add the flag that allows refused changes."""
    verb.add_argument(
        "--acknowledge",
        metavar="DIGEST",
        help="allow exactly the changes that the guard held or refused with this digest; several"
        " with commas",
    )


def config(options: argparse.Namespace, environment: Mapping[str, str]) -> tuple[str, StackConfig]:
    """Return the stack and the settings of a deployment.

    Raises:
        SettingsError: The settings are invalid, or this is not the folder of the project.
    """
    stack = options.stack or stack_config.only_stack(Path.cwd())
    settings = stack_config.unparsed_settings(Path.cwd(), stack, options.config)
    if getattr(options, "acknowledge", None):
        settings["acknowledge"] = options.acknowledge
    if not Path("Pulumi.yaml").is_file():
        raise SettingsError(
            ["Pulumi.yaml is not in this folder: run pic in the folder of the project"]
        )
    return stack, common.with_log_level(stack_config.deployable(settings, stack, environment))


def prepare(
    options: argparse.Namespace, environment: Mapping[str, str], *, everything: bool = False
) -> Deployment:
    """Read the settings and the cluster, and make the engine ready.

    Args:
        options: The flags.
        environment: The environment of this process.
        everything: Whether to read all that is ours whole, also where nothing suggests a change.

    Raises:
        SettingsError: The settings are invalid.
        ClusterError: pic cannot read the whole cluster.
        EngineError: There is no Pulumi CLI.
    """
    # These imports take a tenth of a second, which the other verbs save.
    from pic.cluster import listing  # noqa: PLC0415
    from pic.engine import driver  # noqa: PLC0415
    from pic.run import situation as situations  # noqa: PLC0415

    stack, run_config = config(options, environment)
    progress = Progress(options)
    settings = run_config.settings
    steal_after = settings.lock_timeout if getattr(options, "steal_locks", False) else None
    access = listing.resolve(settings, environment)
    engine = driver.engine_for(
        stack, environment, progress.step, access.pinned, steal_after=steal_after
    )
    engine.message = provenance.message(
        provenance.of_environment(environment, settings.acknowledge)
    )
    engine.prefetch_outputs()
    common.progress(options, "reading the cluster")
    transport = listing.connect_to(access)
    situation = situations.read_and_plan(run_config, transport, environment, everything=everything)
    return Deployment(engine, situation)


def settled(
    deployment: Deployment, options: argparse.Namespace, environment: Mapping[str, str]
) -> Deployment:
    """Wait a few seconds for objects that planned hosts need to be gone, and plan again.

    Raises:
        ClusterError: pic cannot read the whole cluster.
    """
    if not deployment.situation.changes.waiting:
        return deployment
    # Only such a run needs this import.
    from pic.cluster.wait import Clock  # noqa: PLC0415
    from pic.run import settling  # noqa: PLC0415

    clock = Clock(progress_reporter(options))
    return replace(deployment, situation=settling.settle(deployment.situation, environment, clock))


def progress_reporter(options: argparse.Namespace) -> Callable[[str], None]:
    """Return a function that prints what pic does now, as `common.progress` does."""
    return lambda action: common.progress(options, action)


@dataclass
class Progress:
    """Prints how many steps the engine has done, at most once a second."""

    options: argparse.Namespace
    last: float = field(default_factory=time.monotonic)

    def step(self, outcome: Outcome) -> None:
        """Print the number of steps, unless the last line is less than a second old."""
        now = time.monotonic()
        if now - self.last >= PROGRESS_SECONDS:
            self.last = now
            common.progress(self.options, f"{outcome.done} steps done")


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGINT and SIGTERM end a run cleanly, also between two passes of the engine.

    Raises:
        InterruptedRunError: A signal arrived between two passes.
    """
    # Python allows signal handlers in the main thread only.
    in_main_thread = threading.current_thread() is threading.main_thread()
    # SIGTERM has no default action in process 1 of a container, so pic needs a handler.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler) if in_main_thread else None
    try:
        yield
    except KeyboardInterrupt as error:
        raise InterruptedRunError(
            "interrupted between two steps: pic has saved what it did. Run again to finish"
        ) from error
    finally:
        if in_main_thread:
            signal.signal(signal.SIGTERM, before)


def log_start(situation: "Situation") -> None:
    """Log the Ingresses that the run changes something for."""
    context = LogContext(situation.plan, situation.changes, situation.snapshot.ingresses)
    _log(run_log.start_lines(context))


def conclude(options: argparse.Namespace, situation: "Situation", result: "DeployResult") -> None:
    """Log and print what the run did.

    Raises:
        PicError: A later pass of the engine could not do its work.
        FailedError: Some resources failed.
        TargetError: No resource failed, but a target did not answer.
    """
    if result.outcome is None:
        _raise_unread(result)
        print("Nothing to do: everything is as it was deployed.")
        _print_held(result)
        _print_going(situation)
        return
    context = LogContext(situation.plan, result.changes, situation.snapshot.ingresses)
    _log_outcome(options, result.outcome, context)
    if result.changes:
        print(text_report.render_changes(result.changes))
    if result.changes.removed and situation.settings.publishes:
        print(_unpublished(situation, [live.host for live in result.changes.removed]))
    elif result.changes.removed and situation.settings.unpublish is Unpublish.OFF:
        print(STILL_SERVED)
    # Before the result, so that a run with an error shows it too.
    _print_held(result)
    if result.error:
        print(f"Done before the error: {counts_as_text(result.outcome.changed)}.")
        raise result.error
    if result.failures:
        raise FailedError(_failure_message(result.failures))
    print(f"Done: {counts_as_text(result.outcome.changed) or 'nothing changed'}.")
    _raise_unread(result)


def _unpublished(situation: "Situation", hosts: Sequence[str]) -> str:
    """Look whether Pangolin has given hosts up, and say it."""
    from pic.run import published_status  # noqa: PLC0415 - as in prepare

    try:
        left = published_status.still_published(situation, hosts)
    except TargetError as error:
        return f"pic could not look whether Pangolin still has them: {error}"
    if left:
        return f"Pangolin still has {', '.join(left)}: see the failures, and run pic up again"
    return "Pangolin has no resource for the removed hosts any more."


def _print_held(result: "DeployResult") -> None:
    if result.changes.held:
        print(text_report.render_held(result.changes.held, "pic up --acknowledge {}"))


def _print_going(situation: "Situation") -> None:
    """Print what finalizers keep from being deleted, since there may be nothing else to tell."""
    notices = situation.plan.notices
    for notice in [it for it in notices if it.reason is Reason.HELD_BY_FINALIZER]:
        print(text_report.notice_text(notice))


def _raise_unread(result: "DeployResult") -> None:
    for error in result.unread_targets.values():
        raise error


def _log_outcome(options: argparse.Namespace, outcome: Outcome, context: LogContext) -> None:
    """Log what the run did. Without `--log-format`, the printed changes already show most of it."""
    logged = set()
    if options.log_format:
        _log(run_log.notice_lines(context))
        logged = {text_report.notice_text(notice) for notice in context.plan.notices}
    # The program passes the notices to the engine as warnings, so they come back here.
    for warning in outcome.warnings:
        if warning not in logged:
            logs.log(logs.WARN, warning)
    if options.log_format or logs.is_debug():
        _log(run_log.outcome_lines(outcome, context))


def _log(lines: Iterable[LogLine]) -> None:
    for line in lines:
        logs.log(line.level, line.message, **line.fields)


def _failure_message(failures: tuple[Failure, ...]) -> str:
    hosts: dict[str, list[str]] = {}
    for failure in failures:
        cause = f"({failure.kind.value}): {failure.plain_message}"
        hosts.setdefault(cause, []).append(failure.host)
    lines = [f"{_listed(names)} {cause}" for cause, names in hosts.items()]
    only_records = all(failure.target == TargetName.PIHOLE for failure in failures)
    noun = "DNS record" if only_records else "resource"
    noun = noun if len(failures) == 1 else f"{noun}s"
    return "\n".join([f"{len(failures)} {noun} failed; the others are done:", *lines])


def _listed(names: Sequence[str]) -> str:
    """Return the names of what failed for one cause, which may be hundreds."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"


def check_report(path: str | None) -> None:
    """Create the file of the report, before the run does anything.

    Raises:
        SettingsError: The file cannot be written.
    """
    try:
        if path:
            Path(path).write_text("")
    except OSError as error:
        raise SettingsError([f"--report {path} cannot be written: {error}"]) from error


def write_report(
    path: str | None,
    result: "DeployResult | None",
    error: PicError | None,
    situation: "Situation | None" = None,
    exit_code: int = 0,
) -> None:
    """Write what happened as JSON, for a program that decides whether and when to retry.

    An unexpected error writes nothing: the file stays empty. `version` changes when readers have
    to change.

    Args:
        path: The file; None writes nothing.
        result: What the engine did; None if it did not run to its end.
        error: Why the run failed; None if it succeeded.
        situation: What the run was based on. The report contains what is now deployed only if
            the run succeeded.
        exit_code: The exit code of a run that did not fail.
    """
    if not path or (result is None and error is None):
        return
    failures = result.failures if result else ()
    body: dict[str, object] = {
        "version": 1,
        "exitCode": _exit_code(failures, error) or exit_code,
        "changed": dict(result.outcome.changed) if result and result.outcome else {},
        "failures": [
            {
                "target": failure.target,
                "host": failure.host,
                "class": failure.kind.value,
                "retryAfter": failure.retry_after,
                "message": failure.plain_message,
            }
            for failure in (result.all_failures if result else ())
        ],
        "error": str(error) if error else None,
        "held": [held_json(held) for held in (result.changes.held if result else ())],
    }
    if situation and not error:
        body["deployed"] = _deployment(situation)
    Path(path).write_text(json.dumps(body, indent=2, ensure_ascii=False) + "\n")


def _deployment(situation: "Situation") -> dict[str, object]:
    from pic.run import fingerprint  # noqa: PLC0415 - as in prepare

    return fingerprint.deployment(situation)


def _exit_code(failures: tuple[Failure, ...], error: PicError | None) -> int:
    if error:
        return error.exit_code
    return FailedError.exit_code if failures else 0
