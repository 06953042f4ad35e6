"""Holds what the verbs for a pull request share: their flags, the comparison, and the report."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from pic.cli import common, file_summary
from pic.core.errors import RefusedError, SettingsError
from pic.core.visible import visible
from pic.planning.serialise import Json
from pic.report import accounts, html, markdown, summary
from pic.report import review as reviews
from pic.report import text as text_report
from pic.report.review import Review
from pic.run import comparison
from pic.run.comparison import Comparison
from pic.snapshot.branch import Branch, check_stdin

# A job of GitHub Actions shows the Markdown in the file that this variable names.
SUMMARY = "GITHUB_STEP_SUMMARY"
STDOUT = "-"
DIFFERENT = 7

FORMATS: Mapping[str, Callable[[Review], str]] = {
    "text": lambda review: f"{text_report.render_review(review)}\n",
    "json": lambda review: json.dumps(_json(review), indent=2, ensure_ascii=False) + "\n",
    "markdown": markdown.render_review,
    "html": html.render_review,
}


def _json(review: Review) -> Json:
    sources = accounts.as_json(review.sources, rows=review.all_sources)
    return {**reviews.as_json(review), **({"sources": sources} if review.sources else {})}


def add_all(verb: argparse.ArgumentParser) -> None:
    """Add the flag that shows every Ingress."""
    verb.add_argument(
        "--all", action="store_true", help="show what became of each Ingress, ignored ones as well"
    )


def add(verb: argparse.ArgumentParser) -> None:
    """Add the flags for the files of a branch, and for the report."""
    common.add_manifests(verb)
    verb.add_argument(
        "--base",
        nargs="+",
        default=[],
        metavar="PATH",
        help="the same files on the target branch: the branch deletes the objects that only these"
        " contain",
    )
    verb.add_argument(
        "--removed",
        nargs="+",
        default=[],
        metavar="FILE",
        help="files with the objects that the branch deletes",
    )
    add_snapshot(verb)
    verb.add_argument(
        "--output", choices=tuple(FORMATS), default="text", help="report format (default: text)"
    )
    verb.add_argument(
        "--out",
        default=STDOUT,
        metavar="FILE",
        help="write the report to a file (default: standard output)",
    )
    add_all(verb)
    verb.add_argument(
        "--expect-no-changes", action="store_true", help="exit with 7 if there are changes"
    )


def add_snapshot(verb: argparse.ArgumentParser) -> None:
    """Add the flag that names a snapshot file."""
    verb.add_argument(
        "--snapshot",
        default="",
        metavar="FILE",
        help="use a file of pic snapshot instead of the cluster: this needs no credentials",
    )


def add_offline(verb: argparse.ArgumentParser) -> None:
    """Add the flags that plan from files alone."""
    verb.add_argument(
        "--offline", action="store_true", help="plan from --manifests only, without a cluster"
    )
    verb.add_argument(
        "--complete",
        action="store_true",
        help="with --offline: what the files lack of a kind that they have does not exist",
    )


def check_sources(options: argparse.Namespace) -> None:
    """Refuse flags that contradict each other about what to read.

    Raises:
        SettingsError: They do.
    """
    if options.offline and not options.manifests:
        raise SettingsError(["--offline needs --manifests, since it reads nothing else"])
    if options.complete and not options.offline:
        raise SettingsError(["--complete needs --offline: a cluster is always read as a whole"])
    if options.offline and options.snapshot:
        raise SettingsError(["--offline and --snapshot exclude each other: use one of them"])
    check_stdin(options.manifests, [options.snapshot])


def compare(options: argparse.Namespace, environment: Mapping[str, str]) -> Comparison:
    """Compare the cluster, or its snapshot file, with the branch that the flags name.

    Raises:
        SettingsError: Settings, flags or files are wrong.
        ClusterError: pic cannot read the whole cluster.
    """
    check_stdin(options.manifests, options.base, options.removed, [options.snapshot])
    stack, config = common.load(options, environment)
    if not options.snapshot:
        common.progress(options, "reading the cluster")
    read = common.file_options(options)
    branch = Branch(options.manifests, options.base, options.removed, read)
    result = comparison.compare(stack, config, environment, branch, options.snapshot)
    file_summary.say(options, result.snapshot.files)
    file_summary.say_unselected(options, result.snapshot, result.plan, config.settings)
    return result


def deliver(review: Review, options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Write the whole report and return the exit code: 3 if the guard refuses, 7 for changes.

    Raises:
        SettingsError: A file cannot be written.
    """
    review = replace(review, all_sources=options.all)
    text = FORMATS[options.output](review)
    if options.out == STDOUT:
        sys.stdout.write(text)
    else:
        _write(text, options.out, "w")
    if path := environment.get(SUMMARY):
        _write(markdown.render_review(review), path, "a")
    return _conclude(review, options)


def _write(text: str, path: str, mode: str) -> None:
    try:
        with Path(path).open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise SettingsError([f"{path} cannot be written: {error.strerror}"]) from error


def _conclude(review: Review, options: argparse.Namespace) -> int:
    if review.refusals:
        # The report may go to a file, but the log of a job must show why the job fails.
        reasons = visible(" ".join(refusal.message for refusal in review.refusals))
        digest = review.changes.digest if review.acknowledgeable else ""
        code = RefusedError.exit_code
        common.fail(options, f"the guard refuses these changes: {reasons}", code, digest)
        return code
    if options.expect_no_changes and review.has_changes:
        common.fail(options, f"there are changes: {summary.counts(review)}", DIFFERENT)
        return DIFFERENT
    return 0
