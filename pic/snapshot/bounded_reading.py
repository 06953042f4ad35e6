"""Reads regular files and streams up to a size, so that no input fills the memory."""

import errno
import stat
from pathlib import Path
from typing import BinaryIO, TextIO

MIB = 1024 * 1024


def read_file(path: str, limit: int) -> bytes:
    """Read a regular file.

    Args:
        path: Its path.
        limit: The most bytes to accept.

    Raises:
        OSError: The file cannot be read, is not regular (EINVAL), or is larger (EFBIG).
    """
    # Opening a pipe waits for its writer, so look at the type of the file first.
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file; pass the content as standard input")
    with Path(path).open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise _larger(limit)
    return content


def read_stream(stream: TextIO | BinaryIO, limit: int) -> str | bytes:
    """Read a stream, as bytes where it has them, so that the locale does not decode them.

    Args:
        stream: The stream, such as standard input.
        limit: The most bytes to accept.

    Raises:
        OSError: The stream cannot be read, or is larger (EFBIG).
    """
    binary: TextIO | BinaryIO = getattr(stream, "buffer", stream)
    content = binary.read(limit + 1)
    if len(content) > limit:
        raise _larger(limit)
    return content


def _larger(limit: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {limit // MIB} MiB")
