"""Tests what the doctor finds in the state backend: its passphrase and its locks."""

import json
import os
from pathlib import Path

import pytest

from pic.cli.doctor import backend
from pic.cli.doctor.project import Stack
from pic.core import private_folder
from pic.core.findings import Finding, failed, passed, skipped
from pic.engine.backend import place, processes
from pic.settings.stack_file import StackFile
from tests.support.doctor_contexts import HOST, FakeCheckout
from tests.support.processes import ended_process_id

CANCEL = "pulumi cancel --yes --stack prod"
UNKNOWN = "pic cannot see from this host whether that process is running"


@pytest.fixture
def checkout(tmp_path: Path) -> FakeCheckout:
    checkout = FakeCheckout(tmp_path)
    checkout.make_healthy()
    return checkout


def findings(checkout: FakeCheckout, stack: str | None = "prod") -> list[Finding]:
    """Return what the doctor finds in the backend of a checkout."""
    return list(backend.examine(checkout.context(), Stack(stack)))


def lock(pid: object, host: str = HOST, since: str = "2026-01-01T11:59:00.242815187Z") -> str:
    return json.dumps({"pid": pid, "username": "ann", "hostname": host, "timestamp": since})


def test_a_healthy_backend_passes_every_check(checkout: FakeCheckout) -> None:
    assert findings(checkout) == [
        passed("backend", f"file://{checkout.root}/state"),
        passed("passphrase", "it can encrypt secrets of the stack"),
        passed("locks", "no run holds a lock"),
    ]


def test_without_a_cli_every_check_is_skipped(tmp_path: Path) -> None:
    assert findings(FakeCheckout(tmp_path)) == [
        skipped(name, "there is no pulumi on PATH to read the backend with")
        for name in ("backend", "passphrase", "locks")
    ]


def test_an_unreachable_backend_does_not_stop_the_other_checks(checkout: FakeCheckout) -> None:
    for verb in ("stack", "whoami"):
        checkout.answer(verb, err="error: no route to the bucket", code=1)

    assert findings(checkout) == [
        failed("backend", "no route to the bucket", "set PULUMI_BACKEND_URL, or run pulumi login"),
        passed("passphrase", "it can encrypt secrets of the stack"),
        skipped("locks", "the backend does not answer"),
    ]


def test_a_password_in_the_url_is_not_printed(checkout: FakeCheckout) -> None:
    checkout.answer("whoami", json.dumps({"url": "postgres://ann:secret@db.example.com/pulumi"}))

    assert findings(checkout)[::2] == [
        passed("backend", "postgres://…@db.example.com/pulumi"),
        skipped("locks", "pic can read locks only in a file:// backend"),
    ]


def test_a_stack_that_does_not_exist_yet_is_no_failure(checkout: FakeCheckout) -> None:
    checkout.answer("stack", "[]")
    checkout.answer("config", err="error: no stack named 'prod' found", code=6)

    assert findings(checkout)[:2] == [
        passed(
            "backend",
            f"file://{checkout.root}/state has no stack prod yet",
            "pic up creates it, or run pulumi stack init prod",
        ),
        skipped("passphrase", "the backend does not have the stack yet"),
    ]


def test_without_a_stack_the_checks_of_the_stack_are_skipped(checkout: FakeCheckout) -> None:
    assert findings(checkout, None) == [
        passed("backend", f"file://{checkout.root}/state"),
        skipped("passphrase", "the name of the stack is unknown"),
        skipped("locks", "the name of the stack is unknown"),
    ]


def test_a_wrong_passphrase_is_detected_with_a_copy_of_the_stack_file(
    checkout: FakeCheckout,
) -> None:
    StackFile(checkout.root, "prod").merge({"maxRemovals": 3})
    before = StackFile(checkout.root, "prod").path.read_bytes()
    checkout.answer("config", err="error: incorrect passphrase", code=255)

    assert findings(checkout)[1] == failed(
        "passphrase",
        "incorrect passphrase",
        "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE",
        2,
    )
    [command] = [line for line in checkout.commands if line.startswith("config")]
    assert command.startswith("config set --secret probe a text that is no secret --config-file /")
    assert command.endswith("/probe.yaml --stack prod --non-interactive")
    assert StackFile(checkout.root, "prod").path.read_bytes() == before


def record(checkout: FakeCheckout, pid: int, start: int | None) -> None:
    """Write a record of a run on this machine that may have made a lock at any time."""
    machine = processes.this_machine()
    assert machine is not None
    fields = {
        "boot": machine.boot,
        "namespace": machine.namespace,
        "host": HOST,
        "pid": pid,
        "start": start,
        "since": 0,
        "until": 2e9,
    }
    folder = private_folder.prepare(private_folder.path(checkout.context().environment))
    name = f"{place.key(f'file://{checkout.root}/state', 'prod')}-a.json"
    (folder / "runs").mkdir()
    (folder / "runs" / name).write_text(json.dumps(fields))


def test_the_lock_of_a_process_that_has_ended_is_a_failure(checkout: FakeCheckout) -> None:
    pid = ended_process_id()
    record(checkout, pid, 1)
    checkout.lock("one", lock(pid))

    assert findings(checkout)[2] == failed(
        "locks",
        f"held by ann@{HOST} (pid {pid}) since 2026-01-01 11:59:00 UTC; that process has ended",
        f"pic up removes it, or run {CANCEL}",
    )


def test_the_lock_of_a_running_process_passes(checkout: FakeCheckout) -> None:
    record(checkout, os.getpid(), processes.start_of(os.getpid()))
    checkout.lock("one", lock(os.getpid()))

    assert findings(checkout)[2] == passed(
        "locks",
        f"held by ann@{HOST} (pid {os.getpid()}) since 2026-01-01 11:59:00 UTC; that process is"
        " running",
        "wait until that run ends",
    )


@pytest.mark.parametrize(
    ("since", "finding"),
    [
        (
            "11:45:00",
            passed(
                "locks",
                f"held by ann@other-host (pid 7) since 2026-01-01 11:45:00 UTC; {UNKNOWN}",
                "wait until that run ends, or check on other-host",
            ),
        ),
        (
            "11:29:59",
            failed(
                "locks",
                f"held by ann@other-host (pid 7) since 2026-01-01 11:29:59 UTC; {UNKNOWN}",
                f"if no run is active on other-host: {CANCEL}",
            ),
        ),
    ],
)
def test_a_lock_without_a_record_is_judged_by_its_age(
    checkout: FakeCheckout, since: str, finding: Finding
) -> None:
    checkout.lock("one", lock(7, "other-host", f"2026-01-01T{since}Z"))

    assert findings(checkout)[2] == finding


def test_10_a_lock_with_the_name_of_this_host_needs_a_record_too(checkout: FakeCheckout) -> None:
    checkout.lock("one", lock(2**22 + 1))

    assert UNKNOWN in findings(checkout)[2].message


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (lock("x"), "lock.pid is not a number"),
        ("[]", "lock is a list, not a map"),
        (lock(1, since="today"), "Invalid isoformat string: 'today'"),
    ],
)
def test_an_unreadable_lock_does_not_hide_the_other_locks(
    checkout: FakeCheckout, content: str, problem: str
) -> None:
    checkout.lock("one", content)
    checkout.lock("two", lock(7, "other-host"))

    assert [finding.message.partition(" since")[0] for finding in findings(checkout)[2:]] == [
        f"one.json cannot be read: {problem}",
        "held by ann@other-host (pid 7)",
    ]


def test_a_lock_that_is_released_meanwhile_passes(checkout: FakeCheckout) -> None:
    checkout.lock("one", "")
    path = checkout.root / "state/.pulumi/locks/organization/pic/prod/one.json"
    path.unlink()
    path.symlink_to(checkout.root / "nowhere")

    assert findings(checkout)[2] == passed("locks", "a run has just released its lock")


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("file://{root}/my%20state", "my state"),
        ("file://./state", "state"),
        ("file://{root}/state?prefix=team/", "state/team"),
    ],
)
def test_locks_are_read_where_the_engine_writes_them(
    checkout: FakeCheckout, url: str, folder: str
) -> None:
    checkout.answer("whoami", json.dumps({"url": url.format(root=checkout.root)}))
    path = f"{folder}/.pulumi/locks/organization/pic/prod/one.json"
    checkout.write(path, lock(7, "other-host"))

    message = findings(checkout)[2].message
    assert message.partition(" since")[0] == "held by ann@other-host (pid 7)"
