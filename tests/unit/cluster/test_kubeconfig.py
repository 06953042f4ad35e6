"""A kubeconfig as values, read here and by a process of its own."""

import base64
import json
import os
import runpy
from pathlib import Path

import certifi
import pytest
import yaml

from pic.cluster import kubeconfig, listing
from pic.cluster.endpoint import Access
from pic.core.errors import ClusterError
from pic.settings.parse import Settings
from tests.support.api import SHORT_TIMEOUTS, Answer, serving
from tests.support.api import kubeconfig as made
from tests.support.planted import TOKEN

SERVER = "https://one.example.com"


def written(folder: Path, **cluster: object) -> str:
    found = made(SERVER)
    found["clusters"][0]["cluster"].update(cluster)
    (folder / "config").write_text(yaml.safe_dump(found))
    return str(folder / "config")


def test_everything_that_a_kubeconfig_says_is_kept(tmp_path: Path) -> None:
    data = base64.b64encode(certifi.contents().encode()).decode()
    path = written(
        tmp_path,
        **{
            "certificate-authority-data": data,
            "tls-server-name": "other",
            "proxy-url": "http://p:1",
        },
    )

    found = kubeconfig.to_access(kubeconfig.load_configuration(path, "here"))

    assert found == Access(
        SERVER,
        authority=certifi.contents(),
        server_name="other",
        proxy="http://p:1",
        authorization=f"Bearer {TOKEN}",
    )


def test_a_process_of_its_own_finds_the_same(tmp_path: Path) -> None:
    path = written(tmp_path)

    assert kubeconfig.read_in_subprocess(path, "", os.environ) == Access(
        SERVER, authorization=f"Bearer {TOKEN}"
    )
    assert json.loads(kubeconfig.main(path, ""))["server"] == SERVER


def test_a_process_of_its_own_says_what_is_wrong(tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    with pytest.raises(ClusterError) as there:
        kubeconfig.read_in_subprocess(missing, "", os.environ)
    with pytest.raises(SystemExit) as here:
        kubeconfig.main(missing, "")

    assert str(there.value) == str(here.value)
    assert str(there.value).endswith("Set KUBECONFIG, or pic:context to one of its contexts")


def test_credentials_that_are_not_accepted_are_found_anew(tmp_path: Path) -> None:
    with serving() as api:
        path = api.kubeconfig(tmp_path / "config")
        transport = listing.connect(Settings(), {"KUBECONFIG": path}, SHORT_TIMEOUTS)
        other = Path(path).read_text().replace(TOKEN, "another")
        Path(path).write_text(other)
        api.set_answers("/x", Answer({}, 401), Answer([1]))

        assert transport.get("/x") == [1]
        assert [each.headers["Authorization"] for each in api.requests] == [
            f"Bearer {TOKEN}",
            "Bearer another",
        ]


def test_credentials_that_stay_the_same_are_not_sent_again(tmp_path: Path) -> None:
    with serving() as api:
        environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
        transport = listing.connect(Settings(), environment, SHORT_TIMEOUTS)
        api.refuse("/x", 401, "who are you")

        with pytest.raises(listing.StatusError, match=r"^who are you$"):
            transport.get("/x")
        assert len(api.requests) == 1


def test_without_credentials_none_are_sent(tmp_path: Path) -> None:
    with serving() as api:
        found = made(api.server)
        found["users"] = [{"name": "u", "user": {}}]
        (tmp_path / "config").write_text(yaml.safe_dump(found))
        api.set_answers("/x", Answer([1]))
        environment = {"KUBECONFIG": str(tmp_path / "config")}

        assert listing.connect(Settings(), environment, SHORT_TIMEOUTS).get("/x") == [1]
        assert "Authorization" not in api.requests[0].headers


def test_as_a_program_it_prints_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(written(tmp_path))
    # What is printed here is looked through for secrets.
    path.write_text(path.read_text().replace(f"token: {TOKEN}", "username: u"))
    monkeypatch.setattr("sys.argv", ["kubeconfig", str(path), "here"])
    runpy.run_path(str(Path(kubeconfig.__file__)), run_name="__main__")

    assert Access(**json.loads(capsys.readouterr().out)).server == SERVER
