"""Reads the content of manifest files, of the files in folders, and of standard input.

The files may come from a pull request of a stranger. A link in it could lead to a device that never
ends, or to a secret of this machine. So pic reads only regular files, follows no link out of the
folder that the user named, and bounds the size of each file and of all files together.

In a folder, pic reads the files that `kubectl apply --recursive --filename` reads. They include
hidden files and the files in hidden folders. `FileFilter` can leave some of them out.
"""

import errno
import io
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import BinaryIO, TextIO

from pic.core.errors import ManifestError
from pic.snapshot.bounded_reading import MIB, read_file, read_stream
from pic.snapshot.file_filter import FileFilter

STDIN, STDIN_NAME = "-", "stdin"
# Like kubectl, pic does not read `web.YAML`.
EXTENSIONS = (".json", ".yaml", ".yml")
SMALLER = "pass only the objects that pic reads: Ingresses, Services, and objects of Pangolin"
# Lines that end or begin a document, and have no content.
_MARKERS = frozenset({b"", b"---", b"..."})


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

# Renders a folder: takes its path without links and a limit in bytes, and returns a name for the
# result with the result.
Renderer = Callable[[str, int], tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class _Source:
    """Something to read.

    Attributes:
        where: Its name in messages.
        key: Its path without links, which tells it from other sources.
        read: Returns its content.
    """

    where: str
    key: str
    read: Callable[[], str | bytes]


def contents(
    paths: Sequence[str],
    stdin: TextIO | BinaryIO,
    limits: Limits = LIMITS,
    files: FileFilter | None = None,
    renderer: Renderer | None = None,
) -> Iterator[tuple[str, str | bytes]]:
    """Yield the name and the content of each file, and of standard input for `-`.

    A file that is named twice is read once. The files of a folder come in the order of their names.

    Args:
        paths: Files, folders, and `-`.
        stdin: Read for `-`.
        limits: The most to read.
        files: Decides about the files of folders; None takes them all.
        renderer: Renders each folder; None reads its files.

    Raises:
        ManifestError: A file cannot be read, is not regular, is a link that leaves its folder, or
            is too large, and the filter does not skip it. Or standard input is empty.
    """
    if paths.count(STDIN) > 1:
        raise ManifestError(STDIN, "standard input can be read only once")
    files = files or FileFilter()
    total = 0
    for source in _distinct(paths, _Reading(stdin, limits, files, renderer)):
        try:
            content = _content(source)
        except ManifestError as error:
            files.refuse(error)
            continue
        total += len(content)
        if total > limits.total:
            size = f"{limits.total // MIB} MiB"
            raise ManifestError(source.where, f"the files up to this one exceed {size}; {SMALLER}")
        yield source.where, content


@dataclass(frozen=True, slots=True)
class _Reading:
    """What all paths of a flag have in common: the arguments of `contents`."""

    stdin: TextIO | BinaryIO
    limits: Limits
    files: FileFilter
    renderer: Renderer | None


def _content(source: _Source) -> str | bytes:
    try:
        return source.read()
    except OSError as error:
        raise _unreadable(source.where, error) from error


def _distinct(paths: Sequence[str], reading: _Reading) -> Iterator[_Source]:
    seen: set[str] = set()
    for path in paths:
        for source in _stdin(reading) if path == STDIN else _sources(path, reading):
            if source.key not in seen:
                seen.add(source.key)
                yield source


def _stdin(reading: _Reading) -> Iterator[_Source]:
    # A pipe passes no failure on. So an empty one is no wish for an empty plan.
    source = _Source(STDIN_NAME, "", partial(read_stream, reading.stdin, reading.limits.file))
    content = _content(source)
    if _is_empty(content):
        problem = "standard input is empty: the command before the pipe may have failed"
        raise ManifestError(STDIN_NAME, problem)
    yield _Source(STDIN_NAME, "", lambda: content)


def _sources(path: str, reading: _Reading) -> Iterator[_Source]:
    """Yield the manifest files in a folder and its subfolders, or the file itself."""
    if not path:
        raise ManifestError("''", "the path is empty")
    root = _real(path)
    if not Path(root).is_dir():
        reading.files.note(str(Path(path).parent), [Path(path).name])
        yield _Source(path, root, partial(read_file, root, reading.limits.file))
    elif reading.renderer:
        yield _rendered(root, reading.renderer, reading.limits.file)
    else:
        yield from _members(path, root, reading)


def _rendered(root: str, renderer: Renderer, limit: int) -> _Source:
    where, content = renderer(root, limit)
    if _is_empty(content):
        raise ManifestError(where, "the output is empty")
    return _Source(where, root, lambda: content)


def _members(path: str, root: str, reading: _Reading) -> Iterator[_Source]:
    names = sorted(_names(path, reading.files))
    if not names:
        excluded = reading.files.excluded
        without = f"the folder has no {', '.join(EXTENSIONS)} files"
        raise ManifestError(path, "--exclude leaves out all its files" if excluded else without)
    for name in names:
        try:
            real = _inside(name, root, "copy the file that it leads to into the folder")
        except ManifestError as error:
            reading.files.refuse(error)
        else:
            yield _Source(name, real, partial(read_file, real, reading.limits.file))


def _names(folder: str, files: FileFilter) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        files.refuse(_unreadable(str(error.filename), error))

    # Neither os.walk nor kubectl follows links to folders.
    for path, _, members in os.walk(folder, onerror=refuse):
        place = PurePath(path).relative_to(folder)
        counted = [name for name in members if not files.leaves_out(place / name)]
        manifests = [name for name in members if name.endswith(EXTENSIONS)]
        files.excluded += len(set(manifests).difference(counted))
        files.note(str(Path(path)), counted)
        yield from (str(Path(path, name)) for name in counted if name.endswith(EXTENSIONS))


def _is_empty(content: str | bytes) -> bool:
    """Say whether a text has neither objects nor other values, only comments and separators."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    lines = (line.strip() for line in io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")))
    return all(line in _MARKERS or line.startswith(b"#") for line in lines)


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


def _unreadable(where: str, error: OSError) -> ManifestError:
    advice = f"; {SMALLER}" if error.errno == errno.EFBIG else ""
    return ManifestError(where, f"cannot be read: {error.strerror or error}{advice}")
