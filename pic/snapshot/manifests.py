"""Reads raw Kubernetes objects from manifest files and from standard input.

Files may come from a pull request of a stranger. So YAML is read without PyYAML's constructors
(`yaml_reader`), and no input makes pic run code, recurse without end or fill the memory.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn, TextIO, TypeGuard

from pic.core.errors import ManifestError
from pic.snapshot.yaml_reader import ParsedDocument, TextError, documents

STDIN = "-"
EXTENSIONS = (".json", ".yaml", ".yml")
TEMPLATE_HINT = (
    "if this is a Helm template, render it first: helm template … | pic plan --manifests -"
)

_DEFAULT_NAMESPACE = "default"
_Raw = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Document:
    """One Kubernetes object in a file.

    Attributes:
        where: The file and the line, such as `web.yaml:12`.
        body: The object as JSON.
    """

    where: str
    body: Mapping[str, object]


def read(paths: Sequence[str], stdin: TextIO | BinaryIO) -> tuple[Document, ...]:
    """Read all objects in files, in folders and, for `-`, in standard input.

    A folder includes its subfolders, except hidden ones. A file that is named twice is read once.
    The objects come in the order of the paths, and within a folder in the order of the file names.

    Raises:
        ManifestError: A file cannot be read, or an object occurs twice.
    """
    objects: list[Document] = []
    for source, data in _sources(paths, stdin):
        objects.extend(parse(data, source))
    _refuse_duplicates(objects)
    return tuple(objects)


def parse(text: str | bytes, source: str) -> Iterator[Document]:
    """Yield the objects in a text, and those in lists such as `kind: List`.

    Documents without kind and apiVersion are ignored, because folders of manifests often contain
    other YAML, such as Helm values. A mistake inside such a document is ignored too, unless the
    parser cannot read past it.

    Args:
        text: The content, perhaps of several documents.
        source: The name of the file, for messages.

    Raises:
        ManifestError: The text cannot be read; the message names file and line.
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
        # This codec drops a byte order mark at the start, which some editors on Windows write.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestError(f"{source}:{line}", "the file is not UTF-8 text") from error


def _objects(document: ParsedDocument, source: str) -> Iterator[Document]:
    """Yield the object in a document, or the objects in a list, in their order."""
    if not _is_object(document.value):
        return
    if document.problem:
        raise document.problem
    lists: set[int] = set()
    # A stack instead of recursion: the depth of nested lists comes from the file.
    stack: list[tuple[object, int]] = [(document.value, document.line)]
    while stack:
        body, line = stack.pop()
        if not _is_object(body):
            continue
        items = _items(body)
        if items is None:
            yield Document(f"{source}:{line}", body)
            continue
        # Aliases can nest lists so that a few lines stand for more objects than fit into memory.
        if id(items) in lists:
            raise TextError(line, "an alias repeats a list of objects")
        lists.add(id(items))
        stack.extend(
            (_completed(item, body), document.lines.get(id(item), line))
            for item in reversed(items)
            if isinstance(item, dict)
        )


def _is_object(body: object) -> TypeGuard[_Raw]:
    if not isinstance(body, dict):
        return False
    return all(isinstance(body.get(key), str) and body[key] for key in ("kind", "apiVersion"))


def _items(body: _Raw) -> Sequence[object] | None:
    """Return the items of a list of objects, or None if the body is not a list."""
    if not str(body["kind"]).endswith("List") or "items" not in body:
        return None
    items = body["items"]
    if items is None:
        return ()
    return items if isinstance(items, list) else None


def _completed(item: _Raw, inside: _Raw) -> _Raw:
    """Return an item with kind and apiVersion, which lists such as IngressList leave out."""
    kind = str(inside["kind"]).removesuffix("List")
    if not kind:
        return item
    defaults = {"apiVersion": inside["apiVersion"], "kind": kind}
    missing = {key: value for key, value in defaults.items() if item.get(key) is None}
    return {**item, **missing} if missing else item


def _refuse_duplicates(objects: Iterable[Document]) -> None:
    by_identity: dict[tuple[str, str, str, str], Document] = {}
    for document in objects:
        identity = _identity(document.body)
        if identity is None:
            continue
        first = by_identity.setdefault(identity, document)
        if first is not document:
            _, kind, namespace, name = identity
            problem = f"{kind} {namespace}/{name} occurs twice; the first is at {first.where}"
            raise ManifestError(document.where, problem)


def _identity(body: _Raw) -> tuple[str, str, str, str] | None:
    """Return group, kind, namespace and name, or None if the metadata lacks them.

    The version does not count: an Ingress is the same object in v1beta1 and in v1.
    """
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
    real_paths: set[str] = set()
    for path in paths:
        if path == STDIN:
            yield "stdin", _read_stream(stdin)
            continue
        for file in _files(path):
            real = os.path.realpath(file)
            if real not in real_paths:
                real_paths.add(real)
                yield file, _read_file(file)


def _read_stream(stdin: TextIO | BinaryIO) -> str | bytes:
    # Take the bytes of a text stream, so that the locale does not decode them.
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
    """Return the manifest files in a folder and its subfolders, or the file itself."""
    if not path:
        raise ManifestError("''", "the path is empty")
    if not Path(path).is_dir():
        return [path]
    files: list[str] = []
    for folder, subfolders, names in os.walk(path, onerror=_raise):
        # os.walk descends only into what remains in this list. Folders such as .git hold no
        # manifests.
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        manifests = (name for name in names if name.lower().endswith(EXTENSIONS))
        files.extend(str(Path(folder, name)) for name in manifests)
    if not files:
        raise ManifestError(path, f"the folder has no {', '.join(EXTENSIONS)} files")
    return sorted(files)


def _raise(error: OSError) -> NoReturn:
    raise _unreadable(str(error.filename), error) from error


def _unreadable(where: str, error: OSError) -> ManifestError:
    return ManifestError(where, f"cannot be read: {error.strerror or error}")
