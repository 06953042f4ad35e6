"""Tests that files and streams are read only up to a size, and only if they are regular."""

import io
import os
from pathlib import Path

import pytest

from pic.snapshot.bounded_reading import MIB, read_file, read_stream

IRREGULAR = "it is not a regular file; pass the content as standard input"


class Endless(io.RawIOBase):
    """A stream without end, which records how much was read."""

    taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self.taken += len(buffer)
        return len(buffer)


def test_a_file_and_a_stream_of_the_largest_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")

    assert read_file(str(tmp_path / "a"), 3) == b"abc"
    assert read_stream(io.BytesIO(b"abc"), 3) == b"abc"
    assert read_stream(io.TextIOWrapper(io.BytesIO(b"abc")), 3) == b"abc"
    assert read_stream(io.StringIO("abc"), 3) == "abc"


def test_a_larger_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    os.truncate(tmp_path / "a", MIB + 1)

    with pytest.raises(OSError, match="it is larger than 1 MiB"):
        read_file(str(tmp_path / "a"), MIB)


def test_an_endless_stream_is_refused_after_the_largest_size() -> None:
    endless = Endless()

    with pytest.raises(OSError, match="it is larger than 1 MiB"):
        read_stream(io.BufferedReader(endless), MIB)

    assert endless.taken < 2 * MIB


def test_devices_and_pipes_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path in ("/dev/zero", str(tmp_path / "pipe"), str(tmp_path)):
        with pytest.raises(OSError, match=IRREGULAR):
            read_file(path, MIB)
