"""Tests the corpus mode of the fuzzer, with pic itself and with a broken one."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dev import fuzz_corpus

Capture = pytest.CaptureFixture[str]
INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: prod}
spec: {ingressClassName: any}
"""


def test_every_file_of_a_folder_is_planned_whatever_it_is(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "web.yaml").write_text(INGRESS)
    (tmp_path / "-x").write_text("[")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\x00\xff")
    (tmp_path / "again.yaml").symlink_to("sub/web.yaml")

    assert fuzz_corpus.run(tmp_path) == 0

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        f"fuzz: 3 files below {tmp_path}",
        "EXIT FILES",
        "0 1",
        "2 2",
        "",
        "NOTICE COUNT",
        "NoRules 1",
    ]


def test_a_traceback_is_a_failure_and_the_other_files_are_planned(
    tmp_path: Path, capsys: Capture
) -> None:
    for name in "abc":
        (tmp_path / name).write_text("")

    def broken(words: Sequence[str]) -> int:
        if words[-1].endswith("b"):
            raise ValueError("odd")
        return 5 if words[-1].endswith("c") else 2

    assert fuzz_corpus.run(tmp_path, broken) == 1

    out = capsys.readouterr().out
    assert f"fuzz: {tmp_path}/b failed:\nTraceback" in out
    assert f"fuzz: {tmp_path}/c failed:\nexit code 5" in out


def test_a_folder_without_files_is_a_failure(tmp_path: Path, capsys: Capture) -> None:
    assert fuzz_corpus.run(tmp_path) == 1
    assert "the folder has no files" in capsys.readouterr().out
