"""Says on standard error what pic read from manifest files, where that may surprise a user."""

import argparse
import json
import re
import shlex
from collections.abc import Iterator, Mapping

from pic.cli import common
from pic.core.files import FilesRead
from pic.core.model import Plan, Snapshot
from pic.core.visible import visible
from pic.planning import foreign_classes, selection
from pic.settings.parse import Settings, TargetName

MOST_CLASSES = 10
_ODD, _LONGEST = re.compile(r"[^A-Za-z0-9._/-]"), 253


def say(options: argparse.Namespace, files: FilesRead | None) -> None:
    """Say how many files were left out, if any were."""
    if files is None or not (files.skipped or files.excluded):
        return
    left_out = {"--skip-broken": len(files.skipped), "--exclude": files.excluded}
    parts = ", ".join(f"{flag} left out {count}" for flag, count in left_out.items() if count)
    common.say(options, f"read {_many(files.files, 'file')}; {parts}")


def say_unselected(
    options: argparse.Namespace, snapshot: Snapshot, plan: Plan, settings: Settings
) -> None:
    """Say that none of the Ingresses in the files counts, and how to try them."""
    files = snapshot.files
    if files is None or not files.ingresses or _counts(snapshot, files, plan, settings):
        return
    read = (
        f"read {_many(files.files, 'file')}, {_many(files.objects, 'object')},"
        f" {_many(files.ingresses, 'Ingress')}"
    )
    if settings.namespaces and not snapshot.ingresses and not snapshot.unreadable:
        common.say(options, f"{read}; none is in a namespace of pic:namespaces")
    elif not _any_ours(snapshot, files, settings):
        tally = visible(", ".join(_tally(files.classes)))
        common.say(options, f"{read}; of our classes none ({tally})")
        common.say(options, f"to try them, add {_flag(files.classes)}")


def _counts(snapshot: Snapshot, files: FilesRead, plan: Plan, settings: Settings) -> bool:
    """Say whether an Ingress of the files may count, whatever its class is."""
    if not settings.exposes:
        return True
    # In a cluster, the plan has the hosts of other Ingresses as well.
    if snapshot.cluster_id:
        unknown = "" in files.classes and "" in settings.ingress_classes
        return unknown or TargetName.PIHOLE in settings.targets
    return bool(plan.resources or plan.records)


def _any_ours(snapshot: Snapshot, files: FilesRead, settings: Settings) -> bool:
    # An Ingress that cannot be read counts as well: its notice says what is wrong.
    named = any(foreign_classes.is_ours(name, settings) for name in files.classes if name)
    if named or snapshot.cluster_id:
        return named
    return selection.any_ours(snapshot.ingresses, snapshot.classes, settings)


def _tally(classes: Mapping[str, int]) -> Iterator[str]:
    ordered = sorted(classes.items(), key=lambda item: (not item[0], -item[1], item[0]))
    for name, count in ordered[:MOST_CLASSES]:
        yield f"{name or 'without a class'} {count}"
    if len(ordered) > MOST_CLASSES:
        yield f"{len(ordered) - MOST_CLASSES} more classes"


def _flag(classes: Mapping[str, int]) -> str:
    """Return the flag that selects some classes, as a shell reads it."""
    # The setting takes only the characters of class names. In its patterns, ? matches any other.
    patterns = sorted({_ODD.sub("?", name[:_LONGEST]) for name in classes})
    return f"--config ingressClasses={shlex.quote(json.dumps(patterns))}"


def _many(count: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"
