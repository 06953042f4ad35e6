"""Tests how manifests are read from files, folders and standard input."""

import io
import json
import os
import random
from pathlib import Path

import pytest

from pic.core.errors import ManifestError
from pic.core.files import FilesRead
from pic.snapshot import manifests
from pic.snapshot.manifests import Document, FileOptions, parse

NOTHING = io.StringIO()
WEB = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
HINT = (
    "; if this is a Helm template, run this in the folder of its chart: helm template . | pic plan"
    " --offline --manifests -"
)


def read(
    paths: list[str],
    stdin: io.StringIO | io.BytesIO | io.TextIOWrapper,
    options: FileOptions | None = None,
) -> tuple[Document, ...]:
    return manifests.read(paths, stdin, options).documents


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


def test_the_error_for_a_template_of_a_chart_names_the_chart(tmp_path: Path) -> None:
    chart = tmp_path / "my chart"
    template = chart / "templates" / "web.yaml"
    template.parent.mkdir(parents=True)
    (chart / "Chart.yaml").write_text("name: web\nversion: 1.0.0\n")
    template.write_text("{{- if .Values.on }}\nx: 1\n")

    assert refusal([str(template)]) == (
        f"{template}:1: did not find expected node content; this is a template of a Helm chart, so"
        f" render the chart: helm template '{chart}' | pic plan --offline --manifests -"
    )


def test_the_error_for_a_template_with_an_impossible_path_says_how_to_render_a_chart() -> None:
    with pytest.raises(ManifestError, match="run this in the folder of its chart"):
        list(parse("{{- if x }}\nx: 1\n", f"{'d' * 300}/web.yaml"))


def test_files_joined_with_their_byte_order_marks_are_read() -> None:
    text = f"\ufeff{WEB}---\n\ufeff{service('b')}--- # c\n\n# c\n\ufeff\ufeff{service('c')}"
    joined = f"{text}\ufeff---\n{service('d')}"

    assert names(list(parse(joined.encode(), "f"))) == [
        ("f:1", "web"),
        ("f:5", "b"),
        ("f:11", "c"),
        ("f:15", "d"),
    ]


def test_joined_json_with_byte_order_marks_is_read() -> None:
    one = json.dumps({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}})
    two = one.replace('"a"', '"b"')

    assert names(list(parse(f"\ufeff{one}\n\ufeff{two}", "f"))) == [("f:1", "a"), ("f:2", "b")]


def test_a_mark_inside_a_value_stays() -> None:
    text = WEB.replace("name: web", 'name: web, labels: {a: "x\ufeffy"}')

    assert next(iter(parse(text, "f"))).body["metadata"] == {
        "name": "web",
        "labels": {"a": "x\ufeffy"},
    }


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (WEB.encode("utf-16"), "UTF-16"),
        (WEB.encode("utf-16-be"), "UTF-16"),
        (WEB.encode("utf-16-le"), "UTF-16"),
        (WEB.encode("utf-32"), "UTF-32"),
    ],
)
def test_the_error_for_another_encoding_names_it(data: bytes, encoding: str) -> None:
    assert problem(data) == (
        f"app.yaml:1: the file is not UTF-8 text: it is {encoding}; save it as UTF-8"
    )


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


INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: NAME, namespace: prod}
spec: {ingressClassName: CLASS}
"""


def test_what_was_read_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    legacy = INGRESS.replace("spec: {ingressClassName: CLASS}", "").replace(
        "prod}", "prod, annotations: {kubernetes.io/ingress.class: traefik}}"
    )
    odd = INGRESS.replace("{ingressClassName: CLASS}", "3").replace("{name", "[{name") + "]"
    texts = [
        INGRESS.replace("NAME", "a").replace("CLASS", "nginx"),
        legacy.replace("NAME", "b"),
        INGRESS.replace("NAME", "c").replace("CLASS", "''"),
        odd.replace("prod}\n", "prod}]\n").removesuffix("]"),
        WEB,
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n",
    ]
    file.write_text("---\n".join(texts))

    def files(namespace: str) -> FilesRead:
        return manifests.read([str(tmp_path)], NOTHING, FileOptions(namespace)).files

    classes = {"nginx": 1, "traefik": 1, "": 2}
    assert files("") == FilesRead(files=1, objects=6, assumed=1, classes=classes)
    assert files("shop") == FilesRead(files=1, objects=6, assumed=0, classes=classes)
    assert files("").ingresses == 4


def test_broken_files_are_skipped_as_a_whole_and_listed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{WEB}{{{{- if .Values.on }}}}\nx: 1\n")
    (tmp_path / "b.yaml").write_text(service("b"))
    (tmp_path / "c.yaml").symlink_to("/etc/hostname")
    (tmp_path / "d.yaml").mkdir()
    (tmp_path / "e.yaml").symlink_to("nowhere")

    read_files = manifests.read([str(tmp_path)], NOTHING, FileOptions(skip_broken=True))

    assert names(read_files.documents) == [(f"{tmp_path}/b.yaml:1", "b")]
    assert [file.where for file in read_files.files.skipped] == [
        f"{tmp_path}/a.yaml:4",
        f"{tmp_path}/c.yaml",
        f"{tmp_path}/e.yaml",
    ]


def test_of_objects_that_differ_the_first_counts_if_broken_files_are_skipped(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.yaml").write_text(WEB)
    (tmp_path / "b.yaml").write_text(f"{WEB}spec: {{}}\n---\n{service('b')}")

    result = manifests.read([str(tmp_path)], NOTHING, FileOptions(skip_broken=True))

    assert names(result.documents) == [
        (f"{tmp_path}/a.yaml:1", "web"),
        (f"{tmp_path}/b.yaml:6", "b"),
    ]
    (skipped,) = result.files.skipped
    assert skipped.where == f"{tmp_path}/b.yaml:1"
    assert skipped.problem.startswith("Service default/web occurs twice and differs; the first is")


def test_a_folder_of_broken_files_alone_is_an_error(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text("[\n")

    with pytest.raises(ManifestError) as caught:
        manifests.read([str(tmp_path)], NOTHING, FileOptions(skip_broken=True))

    assert str(caught.value) == (
        f"{tmp_path}/a.yaml:2: did not find expected node content"
        " (--skip-broken skips every file: 2)"
    )


def test_a_kustomization_of_flux_needs_no_rendering(tmp_path: Path) -> None:
    flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x}\n"
    for name, text in (("a/kustomization.yaml", flux), ("b/x.yaml", flux), ("b/y.yaml", WEB)):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    (tmp_path / "b" / "kustomization.yml").write_text("resources: [x.yaml]\n")

    files = manifests.read([str(tmp_path)], NOTHING).files

    assert files.kustomizations == (f"{tmp_path}/b",)
