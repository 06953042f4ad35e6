"""Merging kubeconfig files, and pinning one context of them."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from pic.cluster.pinned import REMEDY, Pinned, pin
from pic.core.errors import ClusterError
from tests.support.api import kubeconfig

ONE, TWO = "https://one.example.com", "https://two.example.com"


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(content))
    return path


def with_user(user: dict[str, Any]) -> dict[str, Any]:
    return {**kubeconfig(ONE), "users": [{"name": "u", "user": user}]}


def problem(*files: Path, context: str = "") -> str:
    with pytest.raises(ClusterError) as raised:
        pin(files, context)
    message = str(raised.value)
    assert message.startswith("cannot connect to the cluster: ")
    assert message.endswith(f". {REMEDY}")
    return message.removeprefix("cannot connect to the cluster: ").removesuffix(f". {REMEDY}")


def test_the_current_context_is_pinned(tmp_path: Path) -> None:
    file = write(tmp_path / "a", {**kubeconfig(ONE, "x", "y")})

    pinned = pin([file], "")

    assert pinned is not None
    assert (pinned.context, pinned.server) == ("x", ONE)
    assert pin([file], "y") == Pinned("y", pinned.cluster, pinned.user)


def test_the_first_file_with_a_name_wins(tmp_path: Path) -> None:
    first = write(tmp_path / "a", {"clusters": kubeconfig(ONE)["clusters"]})
    second = write(tmp_path / "b", kubeconfig(TWO, "second"))

    pinned = pin([first, tmp_path / "none", second], "")

    assert pinned is not None
    assert (pinned.context, pinned.server) == ("second", ONE)


def test_without_a_current_context_nothing_is_pinned(tmp_path: Path) -> None:
    content = kubeconfig(ONE)
    del content["current-context"]

    assert pin([write(tmp_path / "a", content)], "") is None
    assert pin([write(tmp_path / "b", None)], "") is None
    assert pin([tmp_path / "none"], "") is None


def test_paths_are_relative_to_their_file(tmp_path: Path) -> None:
    content = with_user(
        {
            "client-certificate": "user.pem",
            "client-key": "/keys/user.key",
            "tokenFile": "",
            "exec": {"command": "./bin/login", "args": ["--now"]},
        }
    )
    content["clusters"][0]["cluster"]["certificate-authority"] = "../ca.pem"
    file = write(tmp_path / "kube" / "config", content)

    pinned = pin([file], "")

    assert pinned is not None
    assert pinned.cluster == {
        "server": ONE,
        "certificate-authority": f"{tmp_path}/kube/../ca.pem",
    }
    assert pinned.user == {
        "client-certificate": f"{tmp_path}/kube/user.pem",
        "client-key": "/keys/user.key",
        "tokenFile": "",
        "exec": {
            "command": f"{tmp_path}/kube/bin/login",
            "args": ["--now"],
            "env": [{"name": "KUBECONFIG", "value": str(file)}],
        },
    }


def test_an_exec_plugin_keeps_its_command_and_its_environment(tmp_path: Path) -> None:
    plugin = {"command": "login", "env": [{"name": "KUBECONFIG", "value": "own"}]}
    other = {"command": "login", "env": [{"name": "PROFILE", "value": "prod"}]}
    files = [write(tmp_path / "a", with_user({"exec": other})), tmp_path / "none"]

    own = pin([write(tmp_path / "b", with_user({"exec": plugin}))], "")
    added = pin(files, "")

    assert own is not None
    assert added is not None
    assert own.user == {"exec": plugin}
    origin = {"name": "KUBECONFIG", "value": os.pathsep.join(map(str, files))}
    assert added.user == {"exec": {**other, "env": [*other["env"], origin]}}


def test_a_context_without_a_user_sends_no_credentials(tmp_path: Path) -> None:
    pinned = pin([write(tmp_path / "a", {**kubeconfig(ONE), "users": None})], "")

    assert pinned is not None
    assert pinned.user == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "{} is no kubeconfig: it is a list, not a map"),
        ({"contexts": 3}, "{} is no kubeconfig: contexts is a number, not a list"),
        ({"users": ["u"]}, "{} is no kubeconfig: an entry of users is text, not a map"),
        (
            {"clusters": [{"cluster": 1}]},
            "{} is no kubeconfig: cluster in clusters is a number, not a map",
        ),
        ({"current-context": "x"}, "there is no context 'x' in {}"),
        ({**kubeconfig(ONE), "clusters": []}, "the cluster of context 'here' has no server in {}"),
    ],
)
def test_a_file_of_the_wrong_shape_is_an_error(
    tmp_path: Path, content: object, message: str
) -> None:
    file = write(tmp_path / "a", content)

    assert problem(file) == message.format(file)


def test_a_context_that_no_file_has_is_an_error(tmp_path: Path) -> None:
    files = (write(tmp_path / "a", kubeconfig(ONE)), tmp_path / "none")

    assert problem(*files, context="moon") == (
        f"there is no context 'moon' in {files[0]}, {files[1]}"
    )


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    assert problem(tmp_path) == f"{tmp_path} cannot be read: Is a directory"


def test_a_pinned_context_is_a_kubeconfig_with_all_its_names() -> None:
    pinned = Pinned("here", {"server": ONE}, {"token": "t"})

    assert yaml.safe_load(pinned.as_text({"old", "here"})) == {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [
            {"name": "here", "context": {"cluster": "cluster", "user": "user"}},
            {"name": "old", "context": {"cluster": "cluster", "user": "user"}},
        ],
        "clusters": [{"name": "cluster", "cluster": {"server": ONE}}],
        "users": [{"name": "user", "user": {"token": "t"}}],
    }


def test_the_representation_shows_no_secret() -> None:
    assert repr(Pinned("here", {"server": ONE}, {"token": "t"})) == "Pinned(context='here')"
