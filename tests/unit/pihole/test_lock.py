"""Tests that one run at a time works with a Pi-hole on this machine."""

import os
import stat
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pic.core import private_folder
from pic.core.errors import FailureClass
from pic.pihole.lock import LockTimeouts, hold_lock, holder, lock_path
from tests.support.pihole_fakes import refused
from tests.support.waiting import end


@pytest.fixture
def url() -> Iterator[str]:
    name = f"http://pi.hole/{uuid.uuid4()}"
    yield name
    lock_path(name).unlink(missing_ok=True)


HOLD_LOCK = """
import sys
from pic.pihole.lock import hold_lock
with hold_lock(sys.argv[1]):
    print()
    input()
"""


def lock_once(url: str, timeouts: LockTimeouts | None = None) -> None:
    with hold_lock(url, timeouts):
        pass


def test_the_lock_is_in_the_folder_that_all_users_share(url: str) -> None:
    assert lock_path(url).parent == private_folder.shared()


def test_the_lock_is_released_whatever_happens(url: str) -> None:
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), hold_lock(url):
            raise KeyboardInterrupt
    lock_once(url)


def test_the_lock_is_an_empty_file_that_all_users_can_lock(url: str) -> None:
    before = os.umask(0o077)
    try:
        lock_once(url)
    finally:
        os.umask(before)

    status = lock_path(url).stat()
    assert (stat.S_IMODE(status.st_mode), status.st_size) == (0o644, 0)


def test_pic_waits_for_the_lock_until_a_deadline_and_names_its_holder(url: str) -> None:
    pauses: list[float] = []
    timeouts = LockTimeouts(60.0, 20.0, pauses.append, lambda: sum(pauses))

    with hold_lock(url):
        error = refused(lambda: lock_once(url, timeouts))

    assert pauses == [20.0] * 3
    assert error == (
        FailureClass.TEMPORARY,
        60,
        f"another pic on this machine (pid {os.getpid()}) has worked with {url} for more than 60"
        " s: wait until it ends, then run pic again",
    )


def test_the_lock_of_a_killed_process_is_free(url: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_LOCK, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        try:
            assert other.stdout is not None
            other.stdout.readline()
            message = refused(lambda: lock_once(url, LockTimeouts(0.0)))[2]
        finally:
            end(other.pid)

    assert f"(pid {other.pid})" in message
    lock_once(url)


def test_a_link_at_the_path_of_the_lock_is_refused(url: str, tmp_path: Path) -> None:
    lock_path(url).symlink_to(tmp_path / "elsewhere")

    assert refused(lambda: lock_once(url)) == (
        FailureClass.TEMPORARY,
        None,
        f"pic cannot open its lock file {lock_path(url)}: Too many levels of symbolic links."
        " Remove whatever is at that path",
    )
    assert not (tmp_path / "elsewhere").exists()


TABLE = """\
1: POSIX  ADVISORY  WRITE 11 00:2b:77 0 EOF
2: FLOCK  ADVISORY  WRITE 12 00:2b:77 0 EOF
2: -> FLOCK  ADVISORY  WRITE 13 00:2b:77 0 EOF
3: FLOCK  ADVISORY  WRITE 14 00:2b:777 0 EOF
"""


def test_the_kernel_list_of_locks_names_the_holder() -> None:
    assert [holder(TABLE, inode) for inode in (77, 777, 7)] == [12, 14, None]


def test_without_that_list_the_error_names_no_process(url: str, tmp_path: Path) -> None:
    with hold_lock(url):
        messages = [
            refused(lambda: lock_once(url, LockTimeouts(0.0, table=table)))[2]  # noqa: B023
            for table in (tmp_path / "locks", _written(tmp_path / "other", TABLE))
        ]

    message = (
        f"another pic on this machine has worked with {url} for more than 0 s: wait until it ends,"
        " then run pic again"
    )
    assert messages == [message, message]


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
