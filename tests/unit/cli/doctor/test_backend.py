"""The doctor on the state backend, its passphrase and its locks."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pic.cli.doctor import backend
from pic.cli.doctor.project import Stack
from pic.core.findings import (
    Finding,
    failed,
    passed,
    skipped,
)
from pic.settings.stack_file import StackFile
from tests.support.doctor_contexts import HOST, Clinic

CANCEL = "pulumi cancel --yes --stack prod"


@pytest.fixture
def clinic(tmp_path: Path) -> Clinic:
    made = Clinic(tmp_path)
    made.is_well()
    return made


def found(clinic: Clinic, stack: str | None = "prod") -> list[Finding]:
    return list(backend.examine(clinic.context(), Stack(stack)))


def lock(pid: object, host: str = HOST, since: str = "2026-01-01T11:59:00.242815187Z") -> str:
    return json.dumps({"pid": pid, "username": "ann", "hostname": host, "timestamp": since})


def test_a_backend_in_which_all_is_well(clinic: Clinic) -> None:
    assert found(clinic) == [
        passed("backend", f"file://{clinic.root}/state"),
        passed("passphrase", "secrets of the stack can be encrypted"),
        passed("locks", "none is held"),
    ]


def test_without_a_cli_there_is_nobody_to_ask(tmp_path: Path) -> None:
    assert found(Clinic(tmp_path)) == [
        skipped(name, "there is no pulumi to ask") for name in ("backend", "passphrase", "locks")
    ]


def test_a_backend_out_of_reach_hides_nothing(clinic: Clinic) -> None:
    for verb in ("stack", "whoami"):
        clinic.says(verb, err="error: no route to the bucket", code=1)

    assert found(clinic) == [
        failed("backend", "no route to the bucket", "set PULUMI_BACKEND_URL, or pulumi login"),
        passed("passphrase", "secrets of the stack can be encrypted"),
        skipped("locks", "the backend does not answer"),
    ]


def test_a_password_in_the_address_is_not_shown(clinic: Clinic) -> None:
    clinic.says("whoami", json.dumps({"url": "postgres://ann:secret@db.example.com/pulumi"}))

    assert found(clinic)[::2] == [
        passed("backend", "postgres://…@db.example.com/pulumi"),
        skipped("locks", "locks can be looked at in a file:// backend only"),
    ]


def test_a_stack_that_is_not_there_yet(clinic: Clinic) -> None:
    clinic.says("stack", "[]")
    clinic.says("config", err="error: no stack named 'prod' found", code=6)

    assert found(clinic)[:2] == [
        passed(
            "backend",
            f"file://{clinic.root}/state has no stack prod yet",
            "pulumi stack init prod; pic up does it by itself",
        ),
        skipped("passphrase", "the stack is not in the backend yet"),
    ]


def test_without_a_stack_there_is_nothing_to_look_at(clinic: Clinic) -> None:
    assert found(clinic, None) == [
        passed("backend", f"file://{clinic.root}/state"),
        skipped("passphrase", "the stack is not known"),
        skipped("locks", "the stack is not known"),
    ]


def test_a_wrong_passphrase_is_found_on_a_copy_of_the_stack_file(clinic: Clinic) -> None:
    StackFile(clinic.root, "prod").merge({"maxRemovals": 3})
    before = StackFile(clinic.root, "prod").path.read_bytes()
    clinic.says("config", err="error: incorrect passphrase", code=255)

    assert found(clinic)[1] == failed(
        "passphrase",
        "incorrect passphrase",
        "set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE",
        2,
    )
    [asked] = [line for line in clinic.asked if line.startswith("config")]
    assert asked.startswith("config set --secret probe a word that is no secret --config-file /")
    assert asked.endswith("/probe.yaml --stack prod --non-interactive")
    assert StackFile(clinic.root, "prod").path.read_bytes() == before


def test_a_lock_of_a_process_that_is_gone(clinic: Clinic) -> None:
    process = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        check=True,
        capture_output=True,
        text=True,
    )
    pid = int(process.stdout)
    clinic.lock("one", lock(pid))

    assert found(clinic)[2] == failed(
        "locks",
        f"held by ann@here (pid {pid}) since 2026-01-01 11:59:00 UTC, which is dead",
        f"{CANCEL}; pic up does it by itself",
    )


def test_a_lock_of_a_process_that_lives(clinic: Clinic) -> None:
    now = datetime.now(UTC)
    clinic.lock("one", lock(os.getpid(), since=now.isoformat()))

    since = f"{now:%Y-%m-%d %H:%M:%S}"
    assert found(clinic)[2] == passed(
        "locks",
        f"held by ann@here (pid {os.getpid()}) since {since} UTC, which is alive",
        "wait for that run to end",
    )


@pytest.mark.parametrize(
    ("since", "finding"),
    [
        (
            "11:45:00",
            passed(
                "locks",
                "held by ann@there (pid 7) since 2026-01-01 11:45:00 UTC, of which nothing is known"
                " here",
                "wait for that run to end, or look at there",
            ),
        ),
        (
            "11:29:59",
            failed(
                "locks",
                "held by ann@there (pid 7) since 2026-01-01 11:29:59 UTC, of which nothing is known"
                " here",
                f"if no run goes on at there: {CANCEL}",
            ),
        ),
    ],
)
def test_a_lock_of_another_host_is_judged_by_its_age(
    clinic: Clinic, since: str, finding: Finding
) -> None:
    clinic.lock("one", lock(7, "there", f"2026-01-01T{since}Z"))

    assert found(clinic)[2] == finding


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (lock("x"), "lock.pid is no number"),
        ("[]", "lock is a list, not a map"),
        (lock(1, since="today"), "Invalid isoformat string: 'today'"),
    ],
)
def test_a_lock_that_cannot_be_read_hides_no_other(
    clinic: Clinic, content: str, problem: str
) -> None:
    clinic.lock("one", content)
    clinic.lock("two", lock(7, "there"))

    assert [each.message.partition(" since")[0] for each in found(clinic)[2:]] == [
        f"one.json cannot be read: {problem}",
        "held by ann@there (pid 7)",
    ]


def test_a_lock_that_goes_meanwhile_is_none(clinic: Clinic) -> None:
    clinic.lock("one", "")
    path = clinic.root / "state/.pulumi/locks/organization/pic/prod/one.json"
    path.unlink()
    path.symlink_to(clinic.root / "nowhere")

    assert found(clinic)[2] == passed("locks", "one was let go of just now")


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("file://{root}/my%20state", "my state"),
        ("file://./state", "state"),
        ("file://{root}/state?prefix=team/", "state/team"),
    ],
)
def test_locks_are_where_the_engine_keeps_them(clinic: Clinic, url: str, folder: str) -> None:
    clinic.says("whoami", json.dumps({"url": url.format(root=clinic.root)}))
    place = f"{folder}/.pulumi/locks/organization/pic/prod/one.json"
    clinic.write(place, lock(7, "there"))

    held = "held by ann@there (pid 7)"
    assert found(clinic)[2].message.partition(" since")[0] == held
