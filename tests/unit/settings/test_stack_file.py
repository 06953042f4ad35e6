"""The stack file, as it is read and as `pic init` writes it."""

from pathlib import Path

import pytest
import yaml

from pic.core.errors import SettingsError
from pic.settings.stack_file import StackFile, stacks


def written(root: Path, text: str, stack: str = "prod") -> StackFile:
    file = StackFile(root, stack)
    file.path.parent.mkdir(exist_ok=True)
    file.path.write_text(text)
    return file


def problem(file: StackFile) -> str:
    with pytest.raises(SettingsError) as caught:
        file.settings()
    return str(caught.value)


def test_settings_are_those_of_this_project_without_the_prefix(tmp_path: Path) -> None:
    text = "config: {pic:domains: [a.org], pic:adopt: true, aws:region: x, pic:context: null}\n"

    assert written(tmp_path, text).settings() == {
        "domains": ["a.org"],
        "adopt": True,
        "context": None,
    }


@pytest.mark.parametrize("text", ["", "config:\n", "config: {}\n", "secretsprovider: x\n"])
def test_a_file_without_settings_has_none(tmp_path: Path, text: str) -> None:
    assert written(tmp_path, text).settings() == {}


def test_a_missing_file_names_the_stacks_there_are(tmp_path: Path) -> None:
    written(tmp_path, "", "prod")
    written(tmp_path, "", "dev.eu")

    assert problem(StackFile(tmp_path, "test")) == (
        "there is no stacks/Pulumi.test.yaml: the stacks are dev.eu, prod"
    )
    assert stacks(tmp_path) == ["dev.eu", "prod"]


def test_a_first_file_is_for_init_to_write(tmp_path: Path) -> None:
    assert problem(StackFile(tmp_path, "test")) == (
        "there is no stacks/Pulumi.test.yaml: pic init --stack test writes it"
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("- a\n", " is not a map"),
        ("config: [a]\n", ": config is not a map"),
        (
            "config: {pic:adopt: {secure: v1:x}, pic:context: {secure: v1:y}}\n",
            ": pic:adopt is encrypted, and no setting is a secret: set it in the clear\n"
            "stacks/Pulumi.prod.yaml: pic:context is encrypted, and no setting is a secret: set it"
            " in the clear",
        ),
        (
            "a: b: c\n",
            ' cannot be read: mapping values are not allowed here in "<unicode string>", line 1,'
            " column 5: a: b: c ^",
        ),
    ],
)
def test_a_file_that_cannot_be_right_is_told(tmp_path: Path, text: str, what: str) -> None:
    assert problem(written(tmp_path, text)) == f"stacks/Pulumi.prod.yaml{what}"


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    file = written(tmp_path, "")
    file.path.write_bytes(b"config: \xff")

    assert problem(file).startswith("stacks/Pulumi.prod.yaml cannot be read: 'utf-8' codec")


def test_a_file_that_is_nested_without_end_is_told(tmp_path: Path) -> None:
    said = problem(written(tmp_path, "[" * 1000))

    assert said.startswith("stacks/Pulumi.prod.yaml cannot be read: maximum recursion depth")


@pytest.mark.parametrize("name", ["", "a/b", "../prod", "ü", "a b", "x" * 101])
def test_what_is_no_name_of_a_stack_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        StackFile(tmp_path, name)

    assert str(caught.value) == (
        f"{name!r} is no name of a stack: letters, digits, -, _ and . may be in it"
    )


def test_a_new_file_has_the_values_in_their_order(tmp_path: Path) -> None:
    file = StackFile(tmp_path, "prod")

    file.merge({"clusterId": "c-1", "context": "küche"})

    assert file.path.read_text(encoding="utf-8") == (
        "config:\n  pic:clusterId: c-1\n  pic:context: küche\n"
    )


def test_a_file_that_is_there_keeps_what_else_is_in_it(tmp_path: Path) -> None:
    file = written(
        tmp_path, "encryptionsalt: v1:x\nconfig:\n  aws:region: eu\n  pic:adopt: 'true'\n"
    )

    file.merge({"adopt": "false", "clusterId": "c-1"})

    assert yaml.safe_load(file.path.read_text()) == {
        "encryptionsalt": "v1:x",
        "config": {"aws:region": "eu", "pic:adopt": "false", "pic:clusterId": "c-1"},
    }


def test_a_file_that_has_the_values_keeps_its_comments(tmp_path: Path) -> None:
    text = "# ours\nconfig:\n  pic:clusterId: c-1 # of the cellar\n"
    file = written(tmp_path, text)

    file.merge({"clusterId": "c-1"})

    assert file.path.read_text() == text


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "stacks").write_text("in the way")

    with pytest.raises(SettingsError) as caught:
        StackFile(tmp_path, "prod").merge({"clusterId": "c-1"})

    assert str(caught.value) == "stacks/Pulumi.prod.yaml cannot be written: File exists"
