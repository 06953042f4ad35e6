"""A kubeconfig that does not parse or has the wrong shape is never quoted."""

import traceback
from pathlib import Path

import pytest
import yaml

from pic.cluster import listing
from pic.core.errors import ClusterError
from pic.settings.parse import Settings
from tests.support.api import kubeconfig
from tests.support.planted import TOKEN, leaks

SERVER = "http://127.0.0.1:1"


def refusal(file: Path, *, in_subprocess: bool = False) -> ClusterError:
    environment = {"KUBECONFIG": str(file)}
    with pytest.raises(ClusterError) as raised:
        listing.connect_to(
            listing.resolve(Settings(), environment, in_subprocess=in_subprocess)
        ).get("/version")
    return raised.value


@pytest.mark.parametrize(
    "text",
    [
        f"users:\n- name: u\n  user: {{token: {TOKEN}: x}}\n",
        f"users:\n- name: u\n  user: {{token: *{TOKEN}}}\n",
        f"users:\n- name: u\n  user: {TOKEN}\n",
        f"users: {TOKEN}\n",
        TOKEN,
    ],
)
def test_14_a_kubeconfig_that_does_not_parse_is_not_quoted(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)

    error = refusal(file)

    assert f"{file} is no kubeconfig: " in str(error)
    assert leaks("".join(traceback.format_exception(error))) == []


@pytest.mark.parametrize("in_subprocess", [False, True])
@pytest.mark.parametrize(
    ("cluster", "user", "problem"),
    [
        ({}, {"token": f"a\n{TOKEN}"}, "the token has a character that a header cannot contain"),
        ({}, {"token": f"ü{TOKEN}"}, "the token has a character that a header cannot contain"),
        ({}, {"tokenFile": "/none"}, "/none cannot be read: No such file or directory"),
        (
            {"server": "https://a", "certificate-authority-data": f"{TOKEN}ü"},
            {},
            "the cluster or the user of the context has a value of the wrong form",
        ),
        (
            {"proxy-url": f"http://u:{TOKEN}@[proxy"},
            {},
            "the URL of the server or of its proxy is malformed",
        ),
        (
            {"proxy-url": f"{TOKEN}://proxy"},
            {},
            "the URL of the server or of its proxy is malformed",
        ),
    ],
)
def test_14_a_value_of_the_wrong_form_is_not_quoted(
    tmp_path: Path,
    cluster: dict[str, object],
    user: dict[str, object],
    problem: str,
    *,
    in_subprocess: bool,
) -> None:
    content = kubeconfig(SERVER)
    content["clusters"][0]["cluster"].update(cluster)
    content["users"] = [{"name": "u", "user": user}]
    file = tmp_path / "config"
    file.write_text(yaml.safe_dump(content))

    error = refusal(file, in_subprocess=in_subprocess)

    assert str(error).startswith(f"cannot connect to the cluster: {problem}. ")
    assert leaks(str(error)) == []
