"""Reading YAML: what it means, and what is said about a text that does not parse."""

from pathlib import Path

import pytest
import yaml

from pic.core import yaml_text
from pic.core.yaml_text import YamlError


def problem(text: str) -> str:
    with pytest.raises(YamlError) as raised:
        yaml_text.parse(text)
    return str(raised.value)


def test_a_text_is_its_only_document() -> None:
    assert yaml_text.parse("a: [1, true, 2026-01-01, ~]\n") == yaml.safe_load(
        "a: [1, true, 2026-01-01, ~]\n"
    )
    assert yaml_text.parse("") is None


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("ä: ü\n", encoding="utf-8")

    assert yaml_text.read(tmp_path / "a") == {"ä": "ü"}


def test_a_file_that_is_not_utf_8_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a: 1\nb: \xff")

    with pytest.raises(YamlError, match=r"^line 2, column 4: this is not UTF-8$"):
        yaml_text.read(tmp_path / "a")


def test_a_text_that_is_nested_too_deeply_is_an_error() -> None:
    assert problem("[" * 1000) == "it is nested too deeply"


def test_a_problem_without_words_or_place_is_named_all_the_same() -> None:
    assert yaml_text.problem_of(yaml.MarkedYAMLError()) == "this is not YAML"
    assert yaml_text.mark_of(yaml.MarkedYAMLError()) is None


def test_an_error_without_a_place_has_its_problem_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise yaml.MarkedYAMLError(problem="it is wrong")

    monkeypatch.setattr(yaml, "load", fail)

    assert problem("a") == "it is wrong"
