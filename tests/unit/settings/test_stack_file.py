"""Tests how a stack file is read and written, and that the example in the repository is valid."""

import re
from pathlib import Path

import pytest
import yaml

from pic.core.errors import SettingsError
from pic.settings.parse import Settings, TargetName, parse
from pic.settings.stack_file import EXAMPLE, FOLDER, PROJECT, StackFile, stacks

EXAMPLE_FILE = Path(__file__).parents[3] / FOLDER / f"Pulumi.{EXAMPLE}.yaml"


def write(root: Path, text: str, stack: str = "prod") -> StackFile:
    file = StackFile(root, stack)
    file.path.parent.mkdir(exist_ok=True)
    file.path.write_text(text)
    return file


def problem(file: StackFile) -> str:
    with pytest.raises(SettingsError) as caught:
        file.settings()
    return str(caught.value)


def test_a_file_gives_the_settings_of_this_project_without_the_prefix(tmp_path: Path) -> None:
    text = "config: {pic:domains: [a.org], pic:adopt: true, aws:region: x, pic:context: null}\n"

    assert write(tmp_path, text).settings() == {
        "domains": ["a.org"],
        "adopt": True,
        "context": None,
    }


@pytest.mark.parametrize("text", ["", "config:\n", "config: {}\n", "secretsprovider: x\n"])
def test_a_file_can_have_no_settings(tmp_path: Path, text: str) -> None:
    assert write(tmp_path, text).settings() == {}


def test_the_error_for_a_missing_file_lists_the_stacks(tmp_path: Path) -> None:
    write(tmp_path, "", "prod")
    write(tmp_path, "", "dev.eu")

    assert problem(StackFile(tmp_path, "test")) == (
        "stacks/Pulumi.test.yaml does not exist: use one of the stacks dev.eu, prod, or run pic"
        " init --stack test"
    )
    assert stacks(tmp_path) == ["dev.eu", "prod"]


def test_the_error_for_a_missing_first_file_suggests_init(tmp_path: Path) -> None:
    assert problem(StackFile(tmp_path, "test")) == (
        "stacks/Pulumi.test.yaml does not exist: run pic init --stack test to create it"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", " must contain a YAML map"),
        ("config: [a]\n", ": config must be a map of settings"),
        (
            "config: {pic:adopt: {secure: v1:x}, pic:context: {secure: v1:y}}\n",
            ": pic:adopt is encrypted, but pic settings cannot be secrets: set it as plain text\n"
            "stacks/Pulumi.prod.yaml: pic:context is encrypted, but pic settings cannot be secrets:"
            " set it as plain text",
        ),
        (
            "a: b: c\n",
            " cannot be read: line 1, column 5: mapping values are not allowed here",
        ),
    ],
)
def test_a_file_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert problem(write(tmp_path, text)) == f"stacks/Pulumi.prod.yaml{message}"


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "")
    file.path.write_bytes(b"config: \xff")

    assert problem(file) == (
        "stacks/Pulumi.prod.yaml cannot be read: line 1, column 9: this is not UTF-8"
    )


def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    file = StackFile(tmp_path, "prod")
    file.path.mkdir(parents=True)

    assert problem(file) == "stacks/Pulumi.prod.yaml cannot be read: Is a directory"


def test_a_file_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    message = problem(write(tmp_path, "[" * 1000))

    assert message == "stacks/Pulumi.prod.yaml cannot be read: it is nested too deeply"


@pytest.mark.parametrize("name", ["", "a/b", "../prod", "ü", "a b", "x" * 101])
def test_an_invalid_stack_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        StackFile(tmp_path, name)

    assert str(caught.value) == (
        f"{name!r} is not a valid stack name: use up to 100 letters, digits, hyphens, underscores"
        " and dots"
    )


def test_a_new_file_keeps_the_order_of_the_settings(tmp_path: Path) -> None:
    file = StackFile(tmp_path, "prod")

    file.merge({"clusterId": "c-1", "context": "küche"})

    assert file.path.read_text(encoding="utf-8") == (
        "config:\n  pic:clusterId: c-1\n  pic:context: küche\n"
    )


def test_a_merge_keeps_everything_else_in_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, "encryptionsalt: v1:x\nconfig:\n  aws:region: eu\n  pic:adopt: 'true'\n")

    file.merge({"adopt": "false", "clusterId": "c-1"})

    assert yaml.safe_load(file.path.read_text()) == {
        "encryptionsalt": "v1:x",
        "config": {"aws:region": "eu", "pic:adopt": "false", "pic:clusterId": "c-1"},
    }


def test_a_merge_that_changes_nothing_keeps_the_comments(tmp_path: Path) -> None:
    text = "# a comment\nconfig:\n  pic:clusterId: c-1 # another\n"
    file = write(tmp_path, text)

    file.merge({"clusterId": "c-1"})

    assert file.path.read_text() == text


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "stacks").write_text("in the way")

    with pytest.raises(SettingsError) as caught:
        StackFile(tmp_path, "prod").merge({"clusterId": "c-1"})

    assert str(caught.value) == "stacks/Pulumi.prod.yaml cannot be written: File exists"


def test_the_example_does_not_count_as_a_stack(tmp_path: Path) -> None:
    for stack in ("prod", EXAMPLE):
        (tmp_path / FOLDER).mkdir(exist_ok=True)
        (tmp_path / FOLDER / f"Pulumi.{stack}.yaml").touch()

    assert stacks(tmp_path) == ["prod"]


def test_no_stack_can_be_called_like_the_example(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        StackFile(tmp_path, EXAMPLE)

    assert str(caught.value) == (
        "'example' cannot be a stack: stacks/Pulumi.example.yaml only explains the settings."
        " Choose another name, for example: pic init --stack prod"
    )


def example(text: str) -> Settings:
    config = yaml.safe_load(text)["config"]
    settings, notices = parse(
        {key.removeprefix(f"{PROJECT}:"): value for key, value in config.items()}, {}
    )
    assert notices == ()
    return settings


def test_the_example_holds_settings_that_exist() -> None:
    settings = example(EXAMPLE_FILE.read_text(encoding="utf-8"))

    assert settings == Settings(
        cluster_id="00000000-0000-0000-0000-000000000000",
        stack_id="0000000000000000",
        register_namespace="pangolin",
        tunnel_namespace="pangolin",
    )


def test_the_example_with_every_line_uncommented_holds_settings_that_exist() -> None:
    text = EXAMPLE_FILE.read_text(encoding="utf-8")
    # A line of YAML is commented out with "# " before a setting, or before a nested key.
    uncommented = re.sub(r"^  # (?=pic:|  \S+: )", "  ", text, flags=re.MULTILINE)

    settings = example(uncommented)

    assert re.findall(r"# *pic:\w+:", uncommented) == []
    assert (settings.context, settings.namespaces) == ("prod-cluster", ("shop", "blog"))
    assert settings.tunnel_class_mapping == {"eu": "frankfurt"}
    assert settings.host_policy == {
        "shop": ("shop.example.com", "*.shop.example.com"),
        "blog": ("blog.example.com",),
    }
    assert settings.targets == (TargetName.PANGOLIN,)
    assert (settings.pihole_url, settings.pihole_target_ip) == (
        "http://192.168.1.2",
        "192.168.1.10",
    )
