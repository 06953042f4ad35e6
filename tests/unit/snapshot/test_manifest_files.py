"""Tests which files are read, in which order, and what is refused."""

import io
import os
from pathlib import Path

import pytest

from pic.core.errors import ManifestError
from pic.snapshot.bounded_reading import MIB
from pic.snapshot.file_filter import FileFilter
from pic.snapshot.manifest_files import Limits, contents

SMALLER = "pass only the objects that pic reads: Ingresses, Services, and objects of Pangolin"
SMALL = Limits(file=2 * MIB, total=3 * MIB)


def files(folder: Path, *names: str) -> None:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)


def read(*paths: Path | str, limits: Limits = SMALL) -> list[tuple[str, str | bytes]]:
    return list(contents(list(map(str, paths)), io.BytesIO(b"stdin"), limits))


def refusal(*paths: Path | str, files: FileFilter | None = None) -> str:
    with pytest.raises(ManifestError) as caught:
        list(contents(list(map(str, paths)), io.BytesIO(b"stdin"), SMALL, files))
    return str(caught.value)


def kept(folder: Path, *patterns: str) -> tuple[list[str], int]:
    filter_ = FileFilter(patterns)
    found = contents([str(folder)], io.BytesIO(), SMALL, filter_)
    return [Path(where).relative_to(folder).as_posix() for where, _ in found], filter_.excluded


def large(path: Path, size: int) -> Path:
    path.write_bytes(b"")
    os.truncate(path, size)
    return path


def test_the_files_of_a_folder_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    files(tmp_path, "b.yaml", "a/z.yml", "a/y.json")

    assert read(tmp_path) == [
        (f"{tmp_path}/a/y.json", b"a/y.json"),
        (f"{tmp_path}/a/z.yml", b"a/z.yml"),
        (f"{tmp_path}/b.yaml", b"b.yaml"),
    ]


def test_a_file_that_is_named_has_any_name_and_a_dash_is_standard_input(tmp_path: Path) -> None:
    files(tmp_path, "any name")

    assert read("-", tmp_path / "any name", tmp_path / "any name") == [
        ("stdin", b"stdin"),
        (f"{tmp_path}/any name", b"any name"),
    ]


def test_a_link_inside_its_folder_is_followed_and_its_file_read_once(tmp_path: Path) -> None:
    files(tmp_path, "tree/a.yaml", "tree/sub/b.txt")
    (tmp_path / "tree" / "link.yaml").symlink_to("a.yaml")
    (tmp_path / "tree" / "sub" / "up.yaml").symlink_to("../sub/b.txt")
    (tmp_path / "current").symlink_to("tree")

    assert read(tmp_path / "current") == [
        (f"{tmp_path}/current/a.yaml", b"tree/a.yaml"),
        (f"{tmp_path}/current/sub/up.yaml", b"tree/sub/b.txt"),
    ]


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    files(tmp_path, "tree/a.yaml", "elsewhere/b.yaml")
    (tmp_path / "tree" / "folder").symlink_to("../elsewhere")

    assert [where for where, _ in read(tmp_path / "tree")] == [f"{tmp_path}/tree/a.yaml"]


def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "gone.yaml").symlink_to("nowhere.yaml")
    (tmp_path / "round.yaml").symlink_to("round.yaml")

    assert refusal(tmp_path / "gone.yaml") == (
        f"{tmp_path}/gone.yaml: cannot be read: No such file or directory"
    )
    assert "round.yaml: cannot be read: " in refusal(tmp_path / "round.yaml")


def test_files_that_are_too_large_together_are_refused(tmp_path: Path) -> None:
    one, two = large(tmp_path / "1.yaml", 2 * MIB), large(tmp_path / "2.yaml", MIB)
    three = large(tmp_path / "3.yaml", 1)

    assert len(read(one, two)) == 2
    assert refusal(tmp_path) == f"{three}: the files up to this one exceed 3 MiB; {SMALLER}"


def test_a_file_and_a_standard_input_that_are_too_large_are_refused(tmp_path: Path) -> None:
    file = large(tmp_path / "1.yaml", 2 * MIB + 1)
    too_large = f"cannot be read: it is larger than 2 MiB; {SMALLER}"

    assert refusal(file) == f"{file}: {too_large}"
    with pytest.raises(ManifestError) as caught:
        list(contents(["-"], io.BytesIO(bytes(2 * MIB + 1)), SMALL))
    assert str(caught.value) == f"stdin: {too_large}"


def test_patterns_leave_files_out_relative_to_their_folder(tmp_path: Path) -> None:
    files(tmp_path, "a.yaml", "charts/x/b.yaml", "charts/c.json", "charts/README.md", "sub/a.yaml")

    assert kept(tmp_path) == (["a.yaml", "charts/c.json", "charts/x/b.yaml", "sub/a.yaml"], 0)
    for pattern in ("charts/*", "charts/**", "charts", "./charts/", "c*"):
        assert kept(tmp_path, pattern) == (["a.yaml", "sub/a.yaml"], 2)
    assert kept(tmp_path, "a.yaml", "*.json") == (["charts/x/b.yaml", "sub/a.yaml"], 2)
    assert kept(tmp_path, "**/a.yaml") == (["charts/c.json", "charts/x/b.yaml"], 2)
    assert kept(tmp_path, "*/a.yaml") == (["a.yaml", "charts/c.json", "charts/x/b.yaml"], 1)


def test_patterns_that_leave_nothing_are_an_error(tmp_path: Path) -> None:
    files(tmp_path, "a.yaml")

    assert refusal(tmp_path, files=FileFilter(["*"])) == (
        f"{tmp_path}: --exclude leaves out all its files"
    )


def test_a_file_that_is_named_counts_whatever_the_patterns_are(tmp_path: Path) -> None:
    files(tmp_path, "a.yaml")
    named = contents([str(tmp_path / "a.yaml")], io.BytesIO(), SMALL, FileFilter(["*"]))

    assert list(named) == [(f"{tmp_path}/a.yaml", b"a.yaml")]


def test_the_folders_with_a_kustomization_are_noted(tmp_path: Path) -> None:
    files(tmp_path, "a/kustomization.yaml", "b/Kustomization", "b/x.yaml", "c/kustomization.yml")
    filter_ = FileFilter(["c"])
    alone = FileFilter()

    list(contents([str(tmp_path)], io.BytesIO(), SMALL, filter_))
    list(contents([str(tmp_path / "a" / "kustomization.yaml")], io.BytesIO(), SMALL, alone))

    assert sorted(filter_.kustomizations) == [f"{tmp_path}/a", f"{tmp_path}/b"]
    assert alone.kustomizations == [f"{tmp_path}/a"]


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff", "---\n# Source: a\n---\n...\n"])
def test_standard_input_without_any_content_is_an_error(text: str) -> None:
    for stdin in (io.StringIO(text), io.BytesIO(text.encode())):
        with pytest.raises(ManifestError) as caught:
            list(contents(["-"], stdin, SMALL))
        assert str(caught.value) == (
            "stdin: standard input is empty: the command before the pipe may have failed"
        )


def test_an_empty_file_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("")

    assert read(tmp_path) == [(f"{tmp_path}/a.yaml", b"")]


def test_a_folder_is_rendered_and_a_file_is_not(tmp_path: Path) -> None:
    files(tmp_path, "app/a.yaml", "b.yaml")
    paths = [str(tmp_path / "app"), str(tmp_path / "b.yaml")]

    rendered = contents(
        paths,
        io.BytesIO(),
        SMALL,
        renderer=lambda path, limit: (f"tool {Path(path).name} {limit // MIB}", b"x"),
    )

    assert list(rendered) == [("tool app 2", b"x"), (f"{tmp_path}/b.yaml", b"b.yaml")]


def test_an_empty_rendering_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        list(
            contents([str(tmp_path)], io.BytesIO(), renderer=lambda path, _: (f"tool {path}", b""))
        )

    assert str(caught.value) == f"tool {tmp_path}: the output is empty"
