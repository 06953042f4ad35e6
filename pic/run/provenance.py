"""Says who deploys, with which commit and in which job, as the environment of a pipeline has it.

The engine keeps it with each deployment, as the message of the update. `pic history` reads it back.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

from pic.core.visible import visible

# An environment can hold anything. A message of the engine is an argument of a process.
LONGEST = 200
HEAD = "pic"
_LINE = re.compile(r"(Actor|Commit|Pipeline|Acknowledged): (.+)")

# The variables of GitHub Actions, GitLab CI and a shell, the first that is set counts.
ACTORS = ("PIC_ACTOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN", "USER", "LOGNAME")
COMMITS = ("PIC_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA")
PIPELINES = ("PIC_PIPELINE", "CI_JOB_URL", "BUILD_URL")


class Provenance(NamedTuple):
    """Who deployed, with what; empty where nothing says so."""

    actor: str = ""
    commit: str = ""
    pipeline: str = ""
    acknowledged: str = ""


def of_environment(environment: Mapping[str, str], acknowledged: str = "") -> Provenance:
    """Return what the environment says about this run.

    Args:
        environment: The environment of this process.
        acknowledged: The digests that were acknowledged, with commas.
    """
    return Provenance(
        _first(environment, ACTORS),
        _first(environment, COMMITS),
        _without_login(_first(environment, PIPELINES) or _github_run(environment)),
        _short(acknowledged),
    )


def message(provenance: Provenance) -> str:
    """Return the message of an update; empty if nothing is known."""
    pairs = zip(("Actor", "Commit", "Pipeline", "Acknowledged"), provenance, strict=True)
    lines = [f"{name}: {value}" for name, value in pairs if value]
    return "\n".join([HEAD, "", *lines]) if lines else ""


def read(text: str, metadata: Mapping[str, str]) -> Provenance:
    """Return who made an update.

    Args:
        text: Its message. That of another tool counts for nothing.
        metadata: What the engine itself has noted about git and the job.
    """
    lines = text.splitlines() if text.startswith(f"{HEAD}\n") else []
    told = {match[1]: match[2] for line in lines if (match := _LINE.fullmatch(line))}
    return Provenance(
        told.get("Actor") or _any(metadata, ("git.committer", "git.author")),
        told.get("Commit") or _any(metadata, ("git.head",)),
        told.get("Pipeline") or _any(metadata, ("ci.build.url", "ci.system")),
        told.get("Acknowledged", ""),
    )


def _github_run(environment: Mapping[str, str]) -> str:
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run = (environment.get(name, "") for name in names)
    return f"{server}/{repository}/actions/runs/{run}" if server and repository and run else ""


def _first(environment: Mapping[str, str], names: Sequence[str]) -> str:
    return next((_short(environment[name]) for name in names if environment.get(name)), "")


def _any(metadata: Mapping[str, str], names: Sequence[str]) -> str:
    return next((_short(metadata[name]) for name in names if metadata.get(name)), "")


def _short(text: str) -> str:
    return visible(text.strip())[:LONGEST]


def _without_login(url: str) -> str:
    """Return an address without the name and the password that it may have."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
