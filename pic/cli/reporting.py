"""What the verbs of a pull request share: their flags, what they compare, and their report."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from pic.cli import common
from pic.core.errors import RefusedError, SettingsError
from pic.core.visible import visible
from pic.report import (
    html,
    markdown,
    review,
    tables,
)
from pic.report import (
    text as text_report,
)
from pic.report.review import Review
from pic.run import comparison
from pic.run.comparison import Comparison
from pic.snapshot.branch import Branch, check_stdin

SUMMARY = "GITHUB_STEP_SUMMARY"
STDOUT = "-"
DIFFERENT = 7

FORMS: Mapping[str, Callable[[Review], str]] = {
    "text": lambda value: f"{text_report.render_review(value)}\n",
    "json": lambda value: json.dumps(review.as_json(value), indent=2, ensure_ascii=False) + "\n",
    "markdown": markdown.render_review,
    "html": html.render_review,
}


def add(verb: argparse.ArgumentParser) -> None:
    """Add the flags of a report and of the files of a branch."""
    common.add_manifests(verb)
    verb.add_argument(
        "--base",
        nargs="+",
        default=[],
        metavar="PATH",
        help="the same files of the target branch: what only they hold is deleted by the branch",
    )
    verb.add_argument(
        "--removed",
        nargs="+",
        default=[],
        metavar="FILE",
        help="files of objects that the branch deletes",
    )
    add_snapshot(verb)
    verb.add_argument(
        "--output", choices=tuple(FORMS), default="text", help="form of the report (text)"
    )
    verb.add_argument(
        "--out", default=STDOUT, metavar="FILE", help="where it is written (standard output)"
    )
    verb.add_argument(
        "--expect-no-changes", action="store_true", help="exit with 7 if there are changes"
    )


def add_snapshot(verb: argparse.ArgumentParser) -> None:
    """Add the flag of the snapshot file."""
    verb.add_argument(
        "--snapshot",
        default="",
        metavar="FILE",
        help="what pic snapshot wrote, instead of the cluster: needs no credentials",
    )


def compare(options: argparse.Namespace, environment: Mapping[str, str]) -> Comparison:
    """Compare the cluster, or its snapshot file, with the branch that the flags name.

    Raises:
        SettingsError: Settings, flags or files are wrong.
        ClusterError: The cluster could not be read whole.
    """
    check_stdin(options.manifests, options.base, options.removed, [options.snapshot])
    stack, config = common.load(options, environment)
    if not options.snapshot:
        common.progress(options, "reading the cluster")
    branch = Branch(options.manifests, options.base, options.removed)
    return comparison.compare(stack, config, environment, branch, options.snapshot)


def deliver(value: Review, options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Write the report, whole, and return the exit code: 3 if refused, 7 if not as expected.

    Raises:
        SettingsError: A file cannot be written.
    """
    text = FORMS[options.output](value)
    if options.out == STDOUT:
        sys.stdout.write(text)
    else:
        _write(text, options.out, "w")
    if summary := environment.get(SUMMARY):
        _write(markdown.render_review(value), summary, "a")
    return _conclude(value, options)


def _write(text: str, path: str, mode: str) -> None:
    try:
        with Path(path).open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise SettingsError([f"{path} cannot be written: {error.strerror}"]) from error


def _conclude(value: Review, options: argparse.Namespace) -> int:
    if value.refusals:
        # A log shows why a job fails, wherever the report went.
        reasons = visible(" ".join(refusal.message for refusal in value.refusals))
        digest = value.changes.digest if value.acknowledgeable else ""
        code = RefusedError.exit_code
        common.fail(options, f"the guard refuses this: {reasons}", code, digest)
        return code
    if options.expect_no_changes and value.changes:
        common.fail(options, f"there are changes: {tables.counts(value)}", DIFFERENT)
        return DIFFERENT
    return 0
