"""Reads raw Kubernetes objects from manifest files and from standard input.

Files may come from a pull request of a stranger. So YAML is read without PyYAML's constructors
(`yaml_reader`), and no input makes pic run code, recurse without end or fill the memory.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, TextIO, TypeGuard

from pic.core.errors import ManifestError
from pic.core.json_values import text as as_text
from pic.settings.kinds import BY_NAME, Kind
from pic.snapshot import manifest_files
from pic.snapshot.yaml_reader import ParsedDocument, TextError, documents

TEMPLATE_HINT = (
    "if this is a Helm template, render it first: helm template … | pic plan --manifests -"
)
NAMESPACE_HINT = "write metadata.namespace, or pass --namespace NAME"

DEFAULT_NAMESPACE = "default"
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


def read(
    paths: Sequence[str], stdin: TextIO | BinaryIO, namespace: str | None = DEFAULT_NAMESPACE
) -> tuple[Document, ...]:
    """Read all objects in files, in folders and, for `-`, in standard input.

    The objects come in the order of the paths, and within a folder in the order of the file names.

    Args:
        paths: Files, folders, and `-`.
        stdin: Read for `-`.
        namespace: The namespace of objects that name none. None refuses such an object, if it is of
            a kind that pic reads.

    Raises:
        ManifestError: A file cannot be read, an object occurs twice, or its namespace is unclear.
    """
    objects = [
        _placed(document, namespace)
        for where, content in manifest_files.contents(paths, stdin)
        for document in parse(content, where)
    ]
    _refuse_duplicates(objects)
    return tuple(objects)


def parse(text: str | bytes, source: str) -> Iterator[Document]:
    """Yield the objects in a text, and those in lists such as `kind: List`.

    Documents without kind and apiVersion are ignored, because folders of manifests often contain
    other YAML, such as Helm values. A list needs no apiVersion. A mistake inside such a document is
    ignored too, unless the parser cannot read past it.

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
        if items and id(items) in lists:
            raise TextError(line, "an alias repeats a list of objects")
        lists.add(id(items))
        stack.extend(
            (_completed(item, body), document.lines.get(id(item), line))
            for item in reversed(items)
            if isinstance(item, dict)
        )


def _is_object(body: object) -> TypeGuard[_Raw]:
    """Return whether kubectl may apply a body. Without validation, a list needs no version."""
    if not isinstance(body, dict) or not _has_text(body, "kind"):
        return False
    return _has_text(body, "apiVersion") or _items(body) is not None


def _has_text(body: _Raw, key: str) -> bool:
    return isinstance(body.get(key), str) and bool(body[key])


def _items(body: _Raw) -> Sequence[object] | None:
    """Return the items of a list of objects, or None if the body is not a list.

    kubectl applies the items of every object that has some, such as a ConfigMap, and not the object
    itself.
    """
    if "items" not in body:
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
    defaults = {"apiVersion": inside.get("apiVersion"), "kind": kind}
    missing = {key: value for key, value in defaults.items() if item.get(key) is None}
    return {**item, **missing} if missing else item


def _placed(document: Document, namespace: str | None) -> Document:
    """Return an object of a kind that pic reads with its namespace."""
    kind, metadata = _kind(document.body), document.body.get("metadata")
    if kind is None or not kind.namespaced or not isinstance(metadata, dict):
        return document
    if metadata.get("namespace") not in (None, ""):
        return document
    if namespace is None:
        problem = f"{kind.name} {as_text(metadata.get('name'))} has no namespace"
        raise ManifestError(document.where, f"{problem}; {NAMESPACE_HINT}")
    metadata = {**metadata, "namespace": namespace}
    return replace(document, body={**document.body, "metadata": metadata})


def _kind(body: _Raw) -> Kind | None:
    """Return the kind that pic reads, whatever the version, or None for another kind."""
    kind = BY_NAME.get(str(body["kind"]))
    return kind if kind and kind.is_in(_group(body)) else None


def _group(body: _Raw) -> str:
    return str(body["apiVersion"]).rpartition("/")[0]


def _refuse_duplicates(objects: Iterable[Document]) -> None:
    by_identity: dict[tuple[str, str, str, str], Document] = {}
    for document in objects:
        identity = _identity(document.body)
        if identity is None:
            continue
        first = by_identity.setdefault(identity, document)
        if first is not document:
            raise ManifestError(document.where, _twice(identity, document, first))


def _twice(identity: tuple[str, str, str, str], document: Document, first: Document) -> str:
    _, kind, namespace, name = identity
    version, other = document.body["apiVersion"], first.body["apiVersion"]
    # Which of two versions kubectl applies depends on the versions that the API server serves.
    difference = "" if version == other else f", as {version} and as {other}"
    object_ = f"{namespace}/{name}" if namespace else name
    return f"{kind} {object_} occurs twice{difference}; the first is at {first.where}"


def _identity(body: _Raw) -> tuple[str, str, str, str] | None:
    """Return group, kind, namespace and name, or None if the metadata lacks them.

    The version does not count, and the API groups of a kind that pic reads count as one: an Ingress
    is the same object in extensions/v1beta1 and in networking.k8s.io/v1.
    """
    metadata, kind = body.get("metadata"), _kind(body)
    if not isinstance(metadata, dict):
        return None
    name, namespace = metadata.get("name"), metadata.get("namespace") or DEFAULT_NAMESPACE
    if not isinstance(name, str) or not isinstance(namespace, str):
        return None
    group = kind.group if kind else _group(body)
    return group, str(body["kind"]), "" if kind and not kind.namespaced else namespace, name
