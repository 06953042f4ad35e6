"""Checks the state backend: does it answer, does the passphrase work, and who holds a lock?"""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import assert_never

from pic.cli.doctor.project import Stack
from pic.core import private_folder
from pic.core.findings import USAGE, Finding, failed, passed, run_check, skipped
from pic.core.json_values import mapping, sequence, text
from pic.engine.backend import locks, place, run_records, stores
from pic.engine.backend.locks import Judge, Lock, Owner
from pic.engine.backend.stores import FolderStore
from pic.run.doctor_context import DoctorContext
from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile

CHECKS = ("passphrase", "locks")
NO_STACK = 6  # the exit code of the Pulumi CLI if the backend has no such stack
UNKNOWN_STACK = "the name of the stack is unknown"
_USER_INFO = re.compile(r"//[^/@]*@")


def examine(context: DoctorContext, stack: Stack) -> Iterator[Finding]:
    """Yield the findings on the state backend, and on the stack in it."""
    if not context.pulumi:
        reason = "there is no pulumi on PATH to read the backend with"
        yield from (skipped(name, reason) for name in ("backend", *CHECKS))
        return
    yield from run_check("backend", lambda: _backend(context, stack))
    yield from run_check("passphrase", lambda: _passphrase(context, stack))
    yield from run_check("locks", lambda: _locks(context, stack))


def _url(context: DoctorContext) -> str:
    """Return the URL of the backend; empty if the CLI is not logged in or cannot reach it."""
    result = context.run_pulumi("whoami", "--verbose", "--json")
    return text(mapping(json.loads(result.stdout), "whoami").get("url")) if result.code == 0 else ""


def _backend(context: DoctorContext, stack: Stack) -> Iterator[Finding]:
    result = context.run_pulumi("stack", "ls", "--json")
    if result.code != 0:
        remedy = "set PULUMI_BACKEND_URL, or run pulumi login"
        yield failed("backend", result.reason, remedy)
        return
    stacks = sequence(json.loads(result.stdout), "stacks")
    names = {text(mapping(entry, "stack").get("name")) for entry in stacks}
    # The URL of a PostgreSQL backend may contain a password.
    url = _USER_INFO.sub("//…@", _url(context))
    if stack.name and stack.name not in names:
        advice = f"pic up creates it, or run pulumi stack init {stack.name}"
        yield passed("backend", f"{url} has no stack {stack.name} yet", advice)
    else:
        yield passed("backend", url)


def _passphrase(context: DoctorContext, stack: Stack) -> Iterator[Finding]:
    """Encrypt a text with a copy of the stack file: this needs the same passphrase as a run."""
    name = "passphrase"
    if not stack.name:
        yield skipped(name, UNKNOWN_STACK)
        return
    # `config set` writes the stack file, so it gets a copy.
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "probe.yaml"
        file = StackFile(context.root, stack.name).path
        if file.exists():
            shutil.copyfile(file, copy)
        result = context.run_pulumi(
            *("config", "set", "--secret", "probe", "a text that is no secret"),
            *("--config-file", str(copy), "--stack", stack.name),
        )
    if result.code == NO_STACK:
        yield skipped(name, "the backend does not have the stack yet")
    elif result.code != 0:
        remedy = "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE"
        yield failed(name, result.reason, remedy, USAGE)
    else:
        yield passed(name, "it can encrypt secrets of the stack")


def _locks(context: DoctorContext, stack: Stack) -> Iterator[Finding]:
    name, url = "locks", _url(context)
    if not stack.name:
        yield skipped(name, UNKNOWN_STACK)
    elif not url:
        yield skipped(name, "the backend does not answer")
    elif (store := stores.folder(url, context.root)) is None:
        yield skipped(name, "pic can read locks only in a file:// backend")
    else:
        files = lock_files(store, stack.name)
        judge = _judge(context, stores.absolute(url, context.root), stack.name)
        for file in files:
            yield _lock(file, context, judge, stack)
        if not files:
            yield passed(name, "no run holds a lock")


def lock_files(store: FolderStore, stack: str) -> list[Path]:
    """Return the lock files of a stack, by name."""
    return sorted((store.root / locks.folder(stack)).glob("*.json"))


def _judge(context: DoctorContext, url: str, stack: str) -> Judge:
    folder = private_folder.path(context.environment)
    return Judge(run_records.read(folder, place.key(url, stack)), host=context.host)


def _lock(file: Path, context: DoctorContext, judge: Judge, stack: Stack) -> Finding:
    name, remedy = "locks", f"pulumi cancel --yes --stack {stack.name}"
    try:
        lock = locks.read(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return passed(name, "a run has just released its lock")
    except ValueError as error:
        return failed(name, f"{file.name} cannot be read: {error}", remedy)
    match judge.owner(lock):
        case Owner.RUNNING:
            message = f"held by {lock}; that process is running"
            return passed(name, message, "wait until that run ends")
        case Owner.ENDED:
            message = f"held by {lock}; that process has ended"
            return failed(name, message, f"pic up removes it, or run {remedy}")
        case Owner.UNKNOWN:
            return _lock_of_unknown_run(lock, context, stack.settings or Settings(), remedy)
        case owner:
            assert_never(owner)


def _lock_of_unknown_run(
    lock: Lock, context: DoctorContext, settings: Settings, remedy: str
) -> Finding:
    """Judge a lock by its age, since this machine has no record of its run."""
    message = f"held by {lock}; pic cannot see from this host whether that process is running"
    if context.now - lock.since > settings.lock_timeout:
        return failed("locks", message, f"if no run is active on {lock.host}: {remedy}")
    return passed("locks", message, f"wait until that run ends, or check on {lock.host}")
