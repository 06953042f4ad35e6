import os
import stat
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pic.core.errors import FailureClass, PiholeError
from pic.pihole.lock import (
    Waiting,
    alone,
    holder,
    lock_path,
)
from tests.support.pihole_fakes import told
from tests.support.waiting import end


@pytest.fixture
def url() -> Iterator[str]:
    name = f"http://pi.hole/{uuid.uuid4()}"
    yield name
    lock_path(name).unlink(missing_ok=True)


HOLDING = """
import sys
from pic.pihole.lock import alone
with alone(sys.argv[1]):
    print()
    input()
"""


def refused(action: Callable[[], object]) -> tuple[FailureClass, int | None, str]:
    with pytest.raises(PiholeError) as caught:
        action()
    return told(caught.value)


def entered(url: str, waiting: Waiting | None = None) -> None:
    with alone(url, waiting):
        pass


def test_the_lock_is_given_back_whatever_happens(url: str) -> None:
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), alone(url):
            raise KeyboardInterrupt
    entered(url)


def test_the_lock_is_an_empty_file_that_all_users_can_lock(url: str) -> None:
    before = os.umask(0o077)
    try:
        entered(url)
    finally:
        os.umask(before)

    found = lock_path(url).stat()
    assert (stat.S_IMODE(found.st_mode), found.st_size) == (0o644, 0)


def test_whoever_has_the_lock_is_waited_for_up_to_a_deadline_and_named(url: str) -> None:
    slept: list[float] = []
    waiting = Waiting(60.0, 20.0, slept.append, lambda: sum(slept))

    with alone(url):
        found = refused(lambda: entered(url, waiting))

    assert slept == [20.0] * 3
    assert found == (
        FailureClass.TEMPORARY,
        60,
        f"another pic on this machine (pid {os.getpid()}) works with {url}, for more than 60 s:"
        " wait for it to end",
    )


def test_the_lock_of_a_process_that_is_killed_is_free(url: str) -> None:
    program = (
        "import sys; from pic.pihole.lock import alone\nwith alone(sys.argv[1]): print(); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        try:
            assert other.stdout is not None
            other.stdout.readline()
            message = refused(lambda: entered(url, Waiting(0.0)))[2]
        finally:
            end(other.pid)

    assert f"(pid {other.pid})" in message
    entered(url)


def test_a_link_in_the_place_of_the_lock_is_refused(url: str, tmp_path: Path) -> None:
    lock_path(url).symlink_to(tmp_path / "elsewhere")

    assert refused(lambda: entered(url)) == (
        FailureClass.TEMPORARY,
        None,
        f"the lock file {lock_path(url)} cannot be opened: Too many levels of symbolic links."
        " Remove what is there",
    )
    assert not (tmp_path / "elsewhere").exists()


TABLE = """\
1: POSIX  ADVISORY  WRITE 11 00:2b:77 0 EOF
2: FLOCK  ADVISORY  WRITE 12 00:2b:77 0 EOF
2: -> FLOCK  ADVISORY  WRITE 13 00:2b:77 0 EOF
3: FLOCK  ADVISORY  WRITE 14 00:2b:777 0 EOF
"""


def test_the_holder_is_found_in_the_list_of_the_kernel() -> None:
    assert [holder(TABLE, inode) for inode in (77, 777, 7)] == [12, 14, None]


def test_without_such_a_list_nobody_is_named(url: str, tmp_path: Path) -> None:
    with alone(url):
        messages = [
            refused(lambda: entered(url, Waiting(0.0, table=table)))[2]  # noqa: B023
            for table in (tmp_path / "locks", _written(tmp_path / "other", TABLE))
        ]

    assert (
        messages
        == [f"another pic on this machine works with {url}, for more than 0 s: wait for it to end"]
        * 2
    )


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
