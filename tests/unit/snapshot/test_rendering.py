"""Tests how folders are rendered with the user's own tools. The tools here are scripts."""

import os
import time
from pathlib import Path

import pytest

from pic.core.errors import ManifestError
from pic.snapshot import rendering
from pic.snapshot.bounded_reading import MIB
from pic.snapshot.rendering import Rendering, Tool


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH, in front of all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def program(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def only(*names: str) -> "Rendering":
    return Rendering(Tool.KUSTOMIZE, find=lambda name: f"/bin/{name}" if name in names else None)


def refusal(render: Rendering, limit: int = MIB) -> str:
    with pytest.raises(ManifestError) as caught:
        render("/app", limit)
    return str(caught.value)


def test_kustomize_gets_the_folder_as_one_argument(programs: Path) -> None:
    program(programs, "kustomize", 'printf "%s|" "$@"')

    assert Rendering(Tool.KUSTOMIZE, "shop")("/my app; x", MIB) == (
        "kustomize build /my app; x",
        b"build|/my app; x|",
    )


def test_without_kustomize_kubectl_does_the_same(programs: Path) -> None:
    program(programs, "kubectl", 'printf "%s|" "$@"')

    assert only("kubectl")("/app", MIB) == ("kubectl kustomize /app", b"kustomize|/app|")


def test_helm_gets_the_namespace(programs: Path) -> None:
    program(programs, "helm", 'printf "%s|" "$@"')

    assert Rendering(Tool.HELM)("/app", MIB)[1] == b"template|/app|"
    assert Rendering(Tool.HELM, "shop")("/app", MIB) == (
        "helm template /app",
        b"template|/app|--namespace|shop|",
    )


def test_a_missing_tool_is_named_with_what_to_do() -> None:
    rest = "install it, or render the folder elsewhere and pass the result with --manifests -"

    assert refusal(only()) == (
        f"/app: --render kustomize needs kustomize or kubectl on PATH: {rest}"
    )
    assert refusal(Rendering(Tool.HELM, find=lambda _: None)) == (
        f"/app: --render helm needs helm on PATH: {rest}"
    )


def test_the_error_of_a_tool_that_fails_has_its_last_words(programs: Path) -> None:
    program(
        programs,
        "kustomize",
        'head -c 5000 /dev/zero | tr "\\0" x >&2; echo "no\nfile" >&2; exit 3',
    )

    problem = refusal(Rendering(Tool.KUSTOMIZE))

    assert problem.startswith("kustomize build /app: it failed with exit code 3: xxx")
    assert problem.endswith("xxxno file")
    assert len(problem) < rendering.LONGEST_MESSAGE + 100


def test_a_tool_that_fails_without_a_word_is_reported(programs: Path) -> None:
    program(programs, "kustomize", "exit 1")

    assert refusal(Rendering(Tool.KUSTOMIZE)).endswith("exit code 1: it says nothing")


def test_warnings_of_a_tool_that_succeeds_are_not_read_as_objects(programs: Path) -> None:
    program(programs, "kustomize", "echo warning >&2; echo a: 1")

    assert Rendering(Tool.KUSTOMIZE)("/app", MIB)[1] == b"a: 1\n"


def test_output_without_end_is_refused_and_the_tool_ended(programs: Path) -> None:
    program(programs, "kustomize", "exec cat /dev/zero")

    assert refusal(Rendering(Tool.KUSTOMIZE)) == (
        "kustomize build /app: its output is larger than 1 MiB"
    )


def test_a_tool_that_does_not_end_is_ended_with_its_children(programs: Path) -> None:
    program(programs, "kustomize", f"sleep 60 & echo $! > {programs}/pid; wait")

    assert refusal(Rendering(Tool.KUSTOMIZE, seconds=0.5)) == (
        "kustomize build /app: it did not end within 0 s"
    )
    child = int((programs / "pid").read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or " Z " in Path(f"/proc/{child}/stat").read_text():
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child of the tool still runs")


def test_a_tool_that_cannot_be_started_is_an_error(programs: Path) -> None:
    (programs / "kustomize").write_text("")
    (programs / "kustomize").chmod(0o755)
    render = Rendering(Tool.KUSTOMIZE, find=lambda name: name)
    (programs / "kustomize").write_bytes(b"\x7fELF")

    assert "kustomize build /app: cannot be started: " in refusal(render)
