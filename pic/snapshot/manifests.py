"""Files and standard input become raw Kubernetes objects; nothing but safe loading."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn, TextIO, TypeGuard

from pic.core.errors import ManifestError
from pic.snapshot.yaml_reader import Parsed, TextError, documents

STDIN = "-"
EXTENSIONS = (".json", ".yaml", ".yml")
TEMPLATE_HINT = (
    "if it is a Helm template, render it first: helm template … | pic plan --manifests -"
)

_DEFAULT_NAMESPACE = "default"
_Raw = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Document:
    """One object as it was written; `where` is file and line."""

    where: str
    body: Mapping[str, object]


def read(paths: Sequence[str], stdin: TextIO | BinaryIO) -> tuple[Document, ...]:
    """Read all objects of files, of directories and, for `-`, of standard input.

    Directories are read with what is below them, but without hidden directories; a file that is
    named twice is read once. The order is that of the paths, within a directory that of the names.

    Raises:
        ManifestError: Something cannot be read, or holds an object that was there before.
    """
    found: list[Document] = []
    for source, data in _sources(paths, stdin):
        found.extend(parse(data, source))
    _refuse_twins(found)
    return tuple(found)


def parse(text: str | bytes, source: str) -> Iterator[Document]:
    """Yield the objects of a text: of its documents, and of the lists among them.

    Documents without kind and apiVersion are passed over, since people keep other YAML beside
    manifests; what only they get wrong is passed over as well, as long as the text can be read on.

    Raises:
        ManifestError: It cannot be read; names file and line.
    """
    decoded = _decoded(text, source)
    try:
        for document in documents(decoded):
            yield from _objects(document, source)
    except TextError as error:
        hint = f"; {TEMPLATE_HINT}" if "{{" in decoded else ""
        raise ManifestError(f"{source}:{error.line}", f"{error}{hint}") from error


def _decoded(text: str | bytes, source: str) -> str:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestError(f"{source}:{line}", "it is not UTF-8") from error


def _objects(document: Parsed, source: str) -> Iterator[Document]:
    """Yield the object of a document, or those of the list it is, in their order."""
    if not _is_object(document.value):
        return
    if document.problem:
        raise document.problem
    seen: set[int] = set()
    waiting: list[tuple[object, int]] = [(document.value, document.line)]
    while waiting:
        body, line = waiting.pop()
        if not _is_object(body):
            continue
        items = _items(body)
        if items is None:
            yield Document(f"{source}:{line}", body)
            continue
        # Aliases can nest lists so that few lines stand for more objects than memory holds.
        if id(items) in seen:
            raise TextError(line, "a list of objects is there twice")
        seen.add(id(items))
        waiting.extend(
            (_completed(item, body), document.lines.get(id(item), line))
            for item in reversed(items)
            if isinstance(item, dict)
        )


def _is_object(body: object) -> TypeGuard[_Raw]:
    if not isinstance(body, dict):
        return False
    return all(isinstance(body.get(key), str) and body[key] for key in ("kind", "apiVersion"))


def _items(body: _Raw) -> Sequence[object] | None:
    """Return what is in a list of objects, or None if it is no list; a null holds nothing."""
    if not str(body["kind"]).endswith("List") or "items" not in body:
        return None
    items = body["items"]
    if items is None:
        return ()
    return items if isinstance(items, list) else None


def _completed(item: _Raw, inside: _Raw) -> _Raw:
    """Return an item with the kind and apiVersion that a list of one kind leaves out."""
    kind = str(inside["kind"]).removesuffix("List")
    if not kind:
        return item
    named = {"apiVersion": inside["apiVersion"], "kind": kind}
    missing = {key: value for key, value in named.items() if item.get(key) is None}
    return {**item, **missing} if missing else item


def _refuse_twins(found: Iterable[Document]) -> None:
    first: dict[tuple[str, str, str, str], Document] = {}
    for document in found:
        identity = _identity(document.body)
        if identity is None:
            continue
        twin = first.setdefault(identity, document)
        if twin is not document:
            _, kind, namespace, name = identity
            problem = f"{kind} {namespace}/{name} is there twice, first at {twin.where}"
            raise ManifestError(document.where, problem)


def _identity(body: _Raw) -> tuple[str, str, str, str] | None:
    """Return group, kind, namespace and name; None where the metadata is no use."""
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return None
    name, namespace = metadata.get("name"), metadata.get("namespace") or _DEFAULT_NAMESPACE
    if not isinstance(name, str) or not isinstance(namespace, str):
        return None
    return str(body["apiVersion"]).rpartition("/")[0], str(body["kind"]), namespace, name


def _sources(paths: Sequence[str], stdin: TextIO | BinaryIO) -> Iterator[tuple[str, str | bytes]]:
    if paths.count(STDIN) > 1:
        raise ManifestError(STDIN, "standard input can be read only once")
    seen: set[str] = set()
    for path in paths:
        if path == STDIN:
            yield "stdin", _read_stream(stdin)
            continue
        for file in _files(path):
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                yield file, _read_file(file)


def _read_stream(stdin: TextIO | BinaryIO) -> str | bytes:
    # The bytes below a text stream, so that the locale has no say in what they mean.
    stream: TextIO | BinaryIO = getattr(stdin, "buffer", stdin)
    try:
        return stream.read()
    except OSError as error:
        raise _unreadable("stdin", error) from error


def _read_file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def _files(path: str) -> Sequence[str]:
    """Return the manifest files of a directory and what is below it, or the file itself."""
    if not path:
        raise ManifestError("''", "a path is empty")
    if not Path(path).is_dir():
        return [path]
    found: list[str] = []
    for directory, inside, names in os.walk(path, onerror=_raise):
        inside[:] = [name for name in inside if not name.startswith(".")]
        fitting = (name for name in names if name.lower().endswith(EXTENSIONS))
        found.extend(str(Path(directory, name)) for name in fitting)
    if not found:
        raise ManifestError(path, f"the directory holds no {', '.join(EXTENSIONS)} file")
    return sorted(found)


def _raise(error: OSError) -> NoReturn:
    raise _unreadable(str(error.filename), error) from error


def _unreadable(where: str, error: OSError) -> ManifestError:
    return ManifestError(where, f"cannot be read: {error.strerror or error}")
