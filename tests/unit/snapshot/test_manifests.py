"""Tests how manifests are read from files, folders and standard input."""

import io
import json
import os
import random
from pathlib import Path

import pytest

from pic.core.errors import ManifestError
from pic.snapshot.manifests import Document, parse, read

NOTHING = io.StringIO()
WEB = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
HINT = "; if this is a Helm template, render it first: helm template … | pic plan --manifests -"


def names(documents: tuple[Document, ...] | list[Document]) -> list[tuple[str, object]]:
    return [(document.where, _name(document)) for document in documents]


def _name(document: Document) -> object:
    metadata = document.body["metadata"]
    assert isinstance(metadata, dict)
    return metadata["name"]


def service(name: str) -> str:
    return WEB.replace("web", name)


def problem(text: str | bytes) -> str:
    with pytest.raises(ManifestError) as caught:
        list(parse(text, "app.yaml"))
    return str(caught.value)


def refusal(paths: list[str], stdin: io.StringIO | io.BytesIO | io.TextIOWrapper = NOTHING) -> str:
    with pytest.raises(ManifestError) as caught:
        read(paths, stdin)
    return str(caught.value)


def test_an_object_comes_with_its_file_and_line() -> None:
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}

    assert list(parse(f"---\n# a comment\n{WEB}", "app.yaml")) == [Document("app.yaml:3", body)]


def test_documents_that_are_not_objects_are_ignored() -> None:
    others = "replicas: 3\n---\n---\n- a\n---\ntext\n---\nkind: 3\napiVersion: v1\n---\n"
    odd = "kind: ''\napiVersion: v1\n---\npython: !!python/name:os.system x\n---\n"

    assert names(list(parse(others + odd + WEB, "f"))) == [("f:16", "web")]


def test_a_list_yields_its_items_in_order_with_their_lines() -> None:
    text = """
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Service, metadata: {name: a}}
  - text
  - {values: of a chart}
  - apiVersion: v1
    kind: List
    items:
      - {apiVersion: v1, kind: Service, metadata: {name: b}}
  - apiVersion: v1
    kind: Service
    metadata: {name: c}
"""

    assert names(list(parse(text, "f"))) == [("f:5", "a"), ("f:11", "b"), ("f:12", "c")]


def test_a_list_of_one_kind_supplies_the_kind_of_its_items() -> None:
    listed = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IngressList",
        "items": [{"metadata": {"name": "a"}}, {"kind": "Ingress", "apiVersion": "other/v1"}],
    }

    assert [document.body for document in parse(json.dumps(listed), "f")] == [
        {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "a"}},
        {"kind": "Ingress", "apiVersion": "other/v1"},
    ]


def test_a_kind_that_ends_in_list_can_be_an_object() -> None:
    head = "apiVersion: v1\nkind: AllowList\n"

    assert [document.body for document in parse(f"{head}items: all\n---\n{head}", "f")] == [
        {"apiVersion": "v1", "kind": "AllowList", "items": "all"},
        {"apiVersion": "v1", "kind": "AllowList"},
    ]
    assert list(parse(f"{head}items:\n", "f")) == []


def test_empty_lists_are_no_aliases_of_each_other() -> None:
    empty = "{apiVersion: v1, kind: List, items: }"

    assert list(parse(f"apiVersion: v1\nkind: List\nitems: [{empty}, {empty}]\n", "f")) == []


def test_a_kind_with_other_items_and_without_a_version_is_no_object() -> None:
    assert list(parse("kind: shop\nitems: {a: 1}\nx: !y z\n", "values.yaml")) == []


def test_an_alias_that_repeats_a_list_is_refused() -> None:
    text = """
apiVersion: v1
kind: List
items:
  - &x {apiVersion: v1, kind: List, items: [1]}
  - *x
"""

    assert problem(text) == "app.yaml:5: an alias repeats a list of objects"


def test_an_item_that_is_an_alias_has_the_line_of_its_list() -> None:
    item = "{apiVersion: v1, kind: Service, metadata: {name: web}}"
    text = f"x: &x {item}\napiVersion: v1\nkind: List\nitems: [*x]\n"

    assert names(list(parse(text, "f"))) == [("f:1", "web")]


def test_a_byte_order_mark_windows_line_ends_and_tabs_in_strings_are_accepted() -> None:
    text = f"\ufeff{WEB}data: 'a\tb'\n".replace("\n", "\r\n")

    assert (
        names(list(parse(text, "f"))) == names(list(parse(text.encode(), "f"))) == [("f:1", "web")]
    )


def test_the_error_for_a_mistake_names_file_and_line() -> None:
    assert problem(f"{WEB}data: [1\n") == "app.yaml:5: did not find expected ',' or ']'"
    assert problem(f"{WEB}data: !Ref x\n") == "app.yaml:4: unknown tag !Ref"
    assert problem(f"{WEB}data: ".encode() + b"\xff") == "app.yaml:4: the file is not UTF-8 text"
    assert problem(f"{WEB}data: \ud800") == "app.yaml:4: the file is not UTF-8 text"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{WEB}host: {{{{ .Values.host }}}}\n", "app.yaml:4: a key is a map or a list"),
        (f"{WEB}{{{{- if .Values.on }}}}\nx: 1\n", "app.yaml:4: could not find expected ':'"),
        ("{{- if .Values.on }}\nx: 1\n", "app.yaml:1: did not find expected node content"),
    ],
)
def test_the_error_for_a_template_says_how_to_render_it(text: str, message: str) -> None:
    assert problem(text) == message + HINT


def test_any_bytes_give_objects_or_a_manifest_error() -> None:
    whole = f"{WEB}d: &a [1, 'x', *b, {{<<: *a}}]\n---\n".encode() + b'{"a": ["\\u00e9", 1.5e3]}\n'
    pieces = [
        b"[",
        b"{",
        b"\x00",
        b"\xff",
        b"!x ",
        b"*a ",
        b"&a ",
        b"<<: ",
        b"? ",
        b"\\ud800",
        b"\t",
    ]
    chance = random.Random(7)  # noqa: S311 - the same mutations in every run

    for _ in range(300):
        text = bytearray(whole)
        for _ in range(chance.randint(1, 5)):
            start = chance.randrange(len(text) + 1)
            text[start : start + chance.randint(0, 9)] = chance.choice(
                [*pieces, chance.randbytes(1)]
            )
        try:
            assert all(document.body["kind"] for document in parse(bytes(text), "f"))
        except ManifestError as error:
            assert str(error).startswith("f:")  # noqa: PT017 - objects and an error are both right


def test_the_objects_of_a_folder_come_in_the_order_of_its_files(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yml", "a/y.json", "notes.txt"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(service(f"n{file.stem}"), encoding="utf-8")

    assert names(read([str(tmp_path)], NOTHING)) == [
        (f"{tmp_path}/a/y.json:1", "ny"),
        (f"{tmp_path}/a/z.yml:1", "nz"),
        (f"{tmp_path}/b.yaml:1", "nb"),
    ]


def test_objects_come_in_the_order_of_the_paths(tmp_path: Path) -> None:
    file = tmp_path / "any name"
    file.write_text(service("b"), encoding="utf-8")
    expected = [("stdin:1", "a"), (f"{file}:1", "b")]
    raw = service("a").encode()

    for stdin in (io.BytesIO(raw), io.StringIO(service("a")), io.TextIOWrapper(io.BytesIO(raw))):
        assert names(read(["-", str(file)], stdin)) == expected


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(WEB, encoding="utf-8")

    assert names(read([str(file), str(tmp_path)], NOTHING)) == [(f"{file}:1", "web")]


def test_the_error_for_an_unreadable_path_names_it(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent.yaml")

    assert refusal([absent]) == f"{absent}: cannot be read: No such file or directory"
    assert refusal([""]) == "'': the path is empty"
    assert refusal(["-", "-"]) == "-: standard input can be read only once"
    assert refusal([str(tmp_path)]) == (f"{tmp_path}: the folder has no .json, .yaml, .yml files")


def test_the_error_for_an_unreadable_subfolder_names_it(tmp_path: Path) -> None:
    # Linux refuses paths over 4,096 bytes, and root has no exception from that.
    below = os.open(tmp_path, os.O_DIRECTORY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=below)
        above, below = below, os.open("d" * 250, os.O_DIRECTORY, dir_fd=below)
        os.close(above)
    os.close(below)

    assert refusal([str(tmp_path)]).endswith("d: cannot be read: File name too long")


class Broken(io.BytesIO):
    def read(self, size: int | None = -1, /) -> bytes:
        raise OSError(f"{size} bytes")


def test_the_error_for_broken_standard_input_names_it() -> None:
    assert refusal(["-"], Broken()) == "stdin: cannot be read: 33554433 bytes"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (WEB, WEB),
        (WEB, WEB.replace("{name: web}", "{name: web, namespace: default}")),
    ],
)
def test_an_object_that_occurs_twice_is_refused_with_both_lines(first: str, second: str) -> None:
    assert refusal(["-"], io.StringIO(f"{first}---\n{second}")) == (
        "stdin:5: Service default/web occurs twice; the first is at stdin:1"
    )


def test_objects_that_differ_in_group_kind_namespace_or_name_are_others() -> None:
    variants = [
        WEB,
        service("other"),
        WEB.replace("Service", "Ingress"),
        WEB.replace("v1", "example.com/v1"),
        WEB.replace("{name: web}", "{name: web, namespace: prod}"),
    ]

    assert len(read(["-"], io.StringIO("---\n".join(variants)))) == len(variants)


@pytest.mark.parametrize("metadata", ["3", "{}", "{name: 3}", "{name: web, namespace: [a]}"])
def test_objects_with_malformed_metadata_are_not_compared(metadata: str) -> None:
    text = WEB.replace("{name: web}", metadata)

    assert len(read(["-"], io.StringIO(f"{text}---\n{text}"))) == 2
