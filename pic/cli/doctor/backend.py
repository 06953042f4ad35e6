"""Checks the state backend: that it answers, that its secrets can be used, and who holds a lock."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pic.cli.doctor.project import Stack
from pic.core.findings import (
    USAGE,
    Finding,
    failed,
    passed,
    run_check,
    skipped,
)
from pic.core.json_values import (
    MalformedError,
    integer,
    mapping,
    sequence,
    text,
)
from pic.engine.backend import locks, stores
from pic.engine.backend.locks import Lock
from pic.engine.backend.stores import FolderStore
from pic.run.doctor_context import DoctorContext
from pic.settings.parse import Settings
from pic.settings.stack_file import PROJECT, StackFile

CHECKS = ("passphrase", "locks")
NO_STACK = 6  # the CLI's exit code
_USER_INFO = re.compile(r"//[^/@]*@")


def examine(context: DoctorContext, stack: Stack) -> Iterator[Finding]:
    """Yield what is to be said of the state backend, and of a stack in it."""
    if not context.pulumi:
        reason = "there is no pulumi to ask"
        yield from (skipped(name, reason) for name in ("backend", *CHECKS))
        return
    yield from run_check("backend", lambda: _backend(context, stack))
    yield from run_check("passphrase", lambda: _passphrase(context, stack))
    yield from run_check("locks", lambda: _locks(context, stack))


def _url(context: DoctorContext) -> str:
    """Return where the state is, or nothing where nobody is logged in or it is out of reach."""
    answer = context.ask("whoami", "--verbose", "--json")
    return text(mapping(json.loads(answer.stdout), "whoami").get("url")) if answer.code == 0 else ""


def _backend(context: DoctorContext, stack: Stack) -> Iterator[Finding]:
    answer = context.ask("stack", "ls", "--json")
    if answer.code != 0:
        remedy = "set PULUMI_BACKEND_URL, or pulumi login"
        yield failed("backend", answer.reason, remedy)
        return
    listed = sequence(json.loads(answer.stdout), "stacks")
    known = {text(mapping(each, "stack").get("name")) for each in listed}
    # An address may hold a password.
    where = _USER_INFO.sub("//…@", _url(context))
    if stack.name and stack.name not in known:
        advice = f"pulumi stack init {stack.name}; pic up does it by itself"
        yield passed("backend", f"{where} has no stack {stack.name} yet", advice)
    else:
        yield passed("backend", where)


def _passphrase(context: DoctorContext, stack: Stack) -> Iterator[Finding]:
    """Encrypt a word with a copy of the stack file, which needs what a run needs."""
    name = "passphrase"
    if not stack.name:
        yield skipped(name, "the stack is not known")
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "probe.yaml"
        file = StackFile(context.root, stack.name).path
        if file.exists():
            shutil.copyfile(file, copy)
        answer = context.ask(
            *("config", "set", "--secret", "probe", "a word that is no secret"),
            *("--config-file", str(copy), "--stack", stack.name),
        )
    if answer.code == NO_STACK:
        yield skipped(name, "the stack is not in the backend yet")
    elif answer.code != 0:
        remedy = "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE"
        yield failed(name, answer.reason, remedy, USAGE)
    else:
        yield passed(name, "secrets of the stack can be encrypted")


def _locks(context: DoctorContext, stack: Stack) -> Iterator[Finding]:
    name, url = "locks", _url(context)
    if not stack.name:
        yield skipped(name, "the stack is not known")
    elif not url:
        yield skipped(name, "the backend does not answer")
    elif (store := stores.folder(url, context.root)) is None:
        yield skipped(name, "locks can be looked at in a file:// backend only")
    else:
        files = lock_files(store, stack.name)
        for file in files:
            yield _held(file, context, stack.name, stack.settings or Settings())
        if not files:
            yield passed(name, "none is held")


def lock_files(store: FolderStore, stack: str) -> list[Path]:
    """Return the locks of a stack, by name."""
    folder = store.root / "locks" / "organization" / PROJECT / stack
    return sorted(folder.glob("*.json"))


def read_lock(content: str) -> Lock:
    """Read a lock as the CLI writes it.

    Raises:
        ValueError: It is something else.
    """
    raw = mapping(json.loads(content), "lock")
    pid = integer(raw.get("pid"))
    if pid is None:
        raise MalformedError("lock.pid is no number")
    since = datetime.fromisoformat(text(raw.get("timestamp"))).astimezone(UTC)
    return Lock(text(raw.get("username")), text(raw.get("hostname")), pid, since)


def _held(file: Path, context: DoctorContext, stack: str, settings: Settings) -> Finding:
    name, remedy = "locks", f"pulumi cancel --yes --stack {stack}"
    try:
        lock = read_lock(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return passed(name, "one was let go of just now")
    except ValueError as error:
        return failed(name, f"{file.name} cannot be read: {error}", remedy)
    if lock.host != context.host:
        return _held_elsewhere(lock, context, settings, remedy)
    if locks.is_dead(lock, context.host):
        return failed(name, f"held by {lock}, which is dead", f"{remedy}; pic up does it by itself")
    return passed(name, f"held by {lock}, which is alive", "wait for that run to end")


def _held_elsewhere(lock: Lock, context: DoctorContext, settings: Settings, remedy: str) -> Finding:
    """Judge by age what cannot be looked at."""
    said = f"held by {lock}, of which nothing is known here"
    if context.now - lock.since > settings.lock_timeout:
        return failed("locks", said, f"if no run goes on at {lock.host}: {remedy}")
    return passed("locks", said, f"wait for that run to end, or look at {lock.host}")
