"""Reads raw Kubernetes objects from manifest files and from standard input.

Files may come from a pull request of a stranger. So YAML is read without PyYAML's constructors
(`yaml_reader`), and no input makes pic run code, recurse without end or fill the memory.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import BinaryIO, TextIO, TypeGuard

from pic.core.errors import ManifestError
from pic.core.files import FilesRead
from pic.core.json_values import text as as_text
from pic.planning.annotations import LEGACY_CLASS
from pic.settings.kinds import INGRESS, KINDS, Kind
from pic.snapshot import encodings, manifest_files, templates
from pic.snapshot.file_filter import FileFilter
from pic.snapshot.manifest_files import Renderer
from pic.snapshot.rendering import Rendering, Tool
from pic.snapshot.yaml_reader import ParsedDocument, TextError, documents

NAMESPACE_HINT = "write metadata.namespace, or pass --namespace NAME"

DEFAULT_NAMESPACE = "default"
_Raw = Mapping[str, object]
_KINDS = {kind.name: kind for kind in KINDS}
_INGRESS = _KINDS[INGRESS]


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How to read manifest files.

    Attributes:
        namespace: The namespace of objects that name none; empty if the user has not said it.
        guess: Whether such objects are in `default` then. Otherwise one of a kind that pic reads is
            an error, because a guess could hide a deletion.
        exclude: Patterns of files that do not count, relative to their folder.
        skip_broken: Whether to leave out files that cannot be read.
        render: The tool that renders folders; None reads their files as they are.
    """

    namespace: str = ""
    guess: bool = True
    exclude: Sequence[str] = ()
    skip_broken: bool = False
    render: Tool | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One Kubernetes object in a file.

    Attributes:
        where: The file and the line, such as `web.yaml:12`.
        body: The object as JSON.
    """

    where: str
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Manifests:
    """The objects in files.

    Attributes:
        documents: In the order of the paths, and within a folder of the file names.
        files: What was read and left out.
    """

    documents: tuple[Document, ...]
    files: FilesRead


def read(
    paths: Sequence[str], stdin: TextIO | BinaryIO, options: FileOptions | None = None
) -> Manifests:
    """Read all objects in files, in folders and, for `-`, in standard input.

    Args:
        paths: Files, folders, and `-`.
        stdin: Read for `-`.
        options: How to read; None takes the defaults.

    Raises:
        ManifestError: A file cannot be read, two objects are the same and differ, or a namespace is
            unclear.
    """
    options = options or FileOptions()
    filter_ = FileFilter(options.exclude, skip_broken=options.skip_broken)
    read_files, found = 0, list[Document]()
    for where, content in manifest_files.contents(
        paths, stdin, files=filter_, renderer=_renderer(options)
    ):
        try:
            # The whole file, so that a broken one leaves nothing behind.
            objects = list(parse(content, where))
            found += objects
            read_files += 1
            if any(map(_is_of_flux, objects)):
                filter_.forget(PurePath(where))
        except ManifestError as error:
            filter_.refuse(error)
    if filter_.skipped and not read_files:
        first = filter_.skipped[0]
        problem = f"{first.problem} (--skip-broken skips every file: {len(filter_.skipped)})"
        raise ManifestError(first.where, problem)
    placed = [_placed(document, options) for document in found]
    return Manifests(
        tuple(_distinct(placed, filter_)),
        FilesRead(
            files=read_files,
            objects=len(found),
            excluded=filter_.excluded,
            skipped=tuple(filter_.skipped),
            assumed=0 if options.namespace else sum(map(_lacks_namespace, found)),
            classes=Counter(_class_of(it.body) for it in found if _kind(it.body) is _INGRESS),
            kustomizations=tuple(filter_.kustomizations),
        ),
    )


def _is_of_flux(document: Document) -> bool:
    # Flux has a kind of the same name, and many repositories keep it in a file of the same name.
    return _group(document.body) == "kustomize.toolkit.fluxcd.io"


def _renderer(options: FileOptions) -> Renderer | None:
    return Rendering(options.render, options.namespace) if options.render else None


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
    decoded = encodings.decoded(text, source)
    try:
        for document in documents(decoded):
            yield from _objects(document, source)
    except TextError as error:
        hint = f"; {templates.hint(source)}" if "{{" in decoded else ""
        raise ManifestError(f"{source}:{error.line}", f"{error}{hint}") from error


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


def _lacks_namespace(document: Document) -> bool:
    """Say whether an object of a kind that pic reads should name a namespace, and does not."""
    kind, metadata = _kind(document.body), document.body.get("metadata")
    if kind is None or not kind.namespaced or not isinstance(metadata, dict):
        return False
    return metadata.get("namespace") in (None, "")


def _placed(document: Document, options: FileOptions) -> Document:
    """Return an object of a kind that pic reads with its namespace."""
    if not _lacks_namespace(document):
        return document
    metadata = document.body["metadata"]
    fields: _Raw = metadata if isinstance(metadata, dict) else {}
    if not (options.namespace or options.guess):
        problem = f"{document.body['kind']} {as_text(fields.get('name'))} has no namespace"
        raise ManifestError(document.where, f"{problem}; {NAMESPACE_HINT}")
    placed = {**fields, "namespace": options.namespace or DEFAULT_NAMESPACE}
    return replace(document, body={**document.body, "metadata": placed})


def _kind(body: _Raw) -> Kind | None:
    """Return the kind that pic reads, whatever the version, or None for another kind."""
    kind = _KINDS.get(str(body["kind"]))
    return kind if kind and kind.is_in(_group(body)) else None


def _group(body: _Raw) -> str:
    return str(body["apiVersion"]).rpartition("/")[0]


def _class_of(body: _Raw) -> str:
    """Return the class of an Ingress, which may be malformed; an empty string if it has none."""
    spec, metadata = _map(body.get("spec")), _map(body.get("metadata"))
    legacy = _map(metadata.get("annotations")).get(LEGACY_CLASS)
    return as_text(spec.get("ingressClassName")) or as_text(legacy)


def _map(value: object) -> _Raw:
    return value if isinstance(value, dict) else {}


def _distinct(objects: Iterable[Document], files: FileFilter) -> Iterator[Document]:
    """Yield the objects, and those that are equal only once.

    Raises:
        ManifestError: An object of a kind that pic reads occurs twice and differs, and the filter
            does not skip the second one.
    """
    by_identity: dict[tuple[str, str, str], Document] = {}
    for document in objects:
        identity = _identity(document.body)
        first = by_identity.setdefault(identity, document) if identity else document
        if first is document:
            yield document
        elif _as_json(first.body) != _as_json(document.body):
            files.refuse(ManifestError(document.where, _twice(identity, document, first)))


def _as_json(body: _Raw) -> str:
    # In Python, True equals 1.
    return json.dumps(body, sort_keys=True)


def _twice(identity: tuple[str, str, str] | None, document: Document, first: Document) -> str:
    kind, namespace, name = identity or ("", "", "")
    version, other = document.body["apiVersion"], first.body["apiVersion"]
    # Which of two versions kubectl applies depends on the versions that the API server serves.
    difference = "" if version == other else f", as {version} and as {other}"
    object_ = f"{namespace}/{name}" if namespace else name
    return (
        f"{kind} {object_} occurs twice and differs{difference}; the first is at {first.where}:"
        " read only one of the two"
    )


def _identity(body: _Raw) -> tuple[str, str, str] | None:
    """Return kind, namespace and name; None if pic does not read the kind, or if it has no name.

    The version does not count, and the API groups of a kind that pic reads count as one: an Ingress
    is the same object in extensions/v1beta1 and in networking.k8s.io/v1.
    """
    metadata, kind = body.get("metadata"), _kind(body)
    if kind is None or not isinstance(metadata, dict):
        return None
    name, namespace = metadata.get("name"), metadata.get("namespace") or DEFAULT_NAMESPACE
    if not isinstance(name, str) or not name or not isinstance(namespace, str):
        return None
    return kind.name, namespace if kind.namespaced else "", name
