"""Reads the content of manifest files, of the files in folders, and of standard input.

The files may come from a pull request of a stranger. A link in it could lead to a device that never
ends, or to a secret of this machine. So pic reads only regular files, follows no link out of the
folder that the user named, and bounds the size of each file and of all files together.

In a folder, pic reads the files that `kubectl apply --recursive --filename` reads. They include
hidden files and the files in hidden folders.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn, TextIO

from pic.core.errors import ManifestError
from pic.snapshot.bounded_reading import MIB, read_file, read_stream

STDIN = "-"
# Like kubectl, pic does not read `web.YAML`.
EXTENSIONS = (".json", ".yaml", ".yml")
SMALLER = "pass only the objects that pic reads: Ingresses, Services, and objects of Pangolin"


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that pic reads, in bytes.

    Attributes:
        file: From one file, or from standard input.
        total: From all the files of one flag.
    """

    file: int = 32 * MIB
    total: int = 128 * MIB


LIMITS = Limits()


def contents(
    paths: Sequence[str], stdin: TextIO | BinaryIO, limits: Limits = LIMITS
) -> Iterator[tuple[str, str | bytes]]:
    """Yield the name and the content of each file, and of standard input for `-`.

    A file that is named twice is read once. The files of a folder come in the order of their names.

    Raises:
        ManifestError: A file cannot be read, is not regular, is a link that leaves its folder, or
            is too large.
    """
    if paths.count(STDIN) > 1:
        raise ManifestError(STDIN, "standard input can be read only once")
    total = 0
    for where, file in _distinct(paths):
        content = _content(where, file, stdin, limits.file)
        total += len(content)
        if total > limits.total:
            size = f"{limits.total // MIB} MiB"
            raise ManifestError(where, f"the files up to this one exceed {size}; {SMALLER}")
        yield where, content


def _content(where: str, file: str, stdin: TextIO | BinaryIO, limit: int) -> str | bytes:
    try:
        return read_file(file, limit) if file else read_stream(stdin, limit)
    except OSError as error:
        raise _unreadable(where, error) from error


def _distinct(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name of each file with its real path, which is empty for standard input."""
    seen: set[str] = set()
    for path in paths:
        files = [("stdin", "")] if path == STDIN else _files(path)
        for where, real in files:
            if real not in seen:
                seen.add(real)
                yield where, real


def _files(path: str) -> Iterator[tuple[str, str]]:
    """Yield the manifest files in a folder and its subfolders, or the file itself."""
    if not path:
        raise ManifestError("''", "the path is empty")
    root = _real(path)
    if not Path(root).is_dir():
        yield path, root
        return
    names = sorted(_names(path))
    if not names:
        raise ManifestError(path, f"the folder has no {', '.join(EXTENSIONS)} files")
    for name in names:
        yield name, _inside(name, root, "copy the file that it leads to into the folder")


def _names(folder: str) -> Iterator[str]:
    # Neither os.walk nor kubectl follows links to folders.
    for path, _, files in os.walk(folder, onerror=_raise):
        yield from (str(Path(path, file)) for file in files if file.endswith(EXTENSIONS))


def _real(path: str) -> str:
    """Return a path without links, each of which has to stay in the folder that contains it.

    A branch can replace the folder that a pipeline names by a link, or a folder above it.
    """
    for part in (*reversed(Path(path).parents), Path(path)):
        if part.is_symlink():
            _inside(str(part), os.path.realpath(part.parent), "name the path that it leads to")
    return os.path.realpath(path)


def _inside(path: str, folder: str, remedy: str) -> str:
    """Return a path without links if that is in a folder."""
    real = os.path.realpath(path)
    if not Path(real).is_relative_to(folder):
        raise ManifestError(path, f"is a link that leaves the folder {folder}; {remedy}")
    return real


def _raise(error: OSError) -> NoReturn:
    raise _unreadable(str(error.filename), error) from error


def _unreadable(where: str, error: OSError) -> ManifestError:
    advice = f"; {SMALLER}" if error.errno == errno.EFBIG else ""
    return ManifestError(where, f"cannot be read: {error.strerror or error}{advice}")
