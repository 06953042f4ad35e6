"""Reading a kubeconfig, in this process and in one of its own, and renewing credentials."""

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
from tests.support.api import kubeconfig as kubeconfig_for
from tests.support.planted import TOKEN

SERVER = "https://one.example.com"


def write_kubeconfig(folder: Path, **cluster: object) -> str:
    config = kubeconfig_for(SERVER)
    config["clusters"][0]["cluster"].update(cluster)
    (folder / "config").write_text(yaml.safe_dump(config))
    return str(folder / "config")


def test_every_setting_of_a_cluster_is_read(tmp_path: Path) -> None:
    data = base64.b64encode(certifi.contents().encode()).decode()
    path = write_kubeconfig(
        tmp_path,
        **{
            "certificate-authority-data": data,
            "tls-server-name": "other",
            "proxy-url": "http://p:1",
        },
    )

    access = kubeconfig.to_access(kubeconfig.load_configuration(path, "here"))

    assert access == Access(
        SERVER,
        authority=certifi.contents(),
        server_name="other",
        proxy="http://p:1",
        authorization=f"Bearer {TOKEN}",
    )


def test_a_process_of_its_own_reads_the_same(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path)

    assert kubeconfig.read_in_subprocess(path, "", os.environ) == Access(
        SERVER, authorization=f"Bearer {TOKEN}"
    )
    assert json.loads(kubeconfig.main(path, ""))["server"] == SERVER


def test_a_process_of_its_own_reports_the_same_error(tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    with pytest.raises(ClusterError) as in_subprocess:
        kubeconfig.read_in_subprocess(missing, "", os.environ)
    with pytest.raises(SystemExit) as in_process:
        kubeconfig.main(missing, "")

    assert str(in_subprocess.value) == str(in_process.value)
    assert str(in_subprocess.value).endswith(
        "Set KUBECONFIG, or pic:context to one of its contexts"
    )


def test_rejected_credentials_are_read_again(tmp_path: Path) -> None:
    with serving() as api:
        path = api.kubeconfig(tmp_path / "config")
        transport = listing.connect(Settings(), {"KUBECONFIG": path}, SHORT_TIMEOUTS)
        renewed = Path(path).read_text().replace(TOKEN, "another")
        Path(path).write_text(renewed)
        api.set_answers("/x", Answer({}, 401), Answer([1]))

        assert transport.get("/x") == [1]
        assert [request.headers["Authorization"] for request in api.requests] == [
            f"Bearer {TOKEN}",
            "Bearer another",
        ]


def test_rejected_credentials_that_stay_the_same_are_not_sent_again(tmp_path: Path) -> None:
    with serving() as api:
        environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
        transport = listing.connect(Settings(), environment, SHORT_TIMEOUTS)
        api.refuse("/x", 401, "who are you")

        with pytest.raises(listing.StatusError, match=r"^who are you$"):
            transport.get("/x")
        assert len(api.requests) == 1


def test_without_credentials_no_header_is_sent(tmp_path: Path) -> None:
    with serving() as api:
        config = kubeconfig_for(api.server)
        config["users"] = [{"name": "u", "user": {}}]
        (tmp_path / "config").write_text(yaml.safe_dump(config))
        api.set_answers("/x", Answer([1]))
        environment = {"KUBECONFIG": str(tmp_path / "config")}

        assert listing.connect(Settings(), environment, SHORT_TIMEOUTS).get("/x") == [1]
        assert "Authorization" not in api.requests[0].headers


def test_as_a_program_it_prints_the_access(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(write_kubeconfig(tmp_path))
    # No output of a test may contain the planted token.
    path.write_text(path.read_text().replace(f"token: {TOKEN}", "username: u"))
    monkeypatch.setattr("sys.argv", ["kubeconfig", str(path), "here"])
    runpy.run_path(str(Path(kubeconfig.__file__)), run_name="__main__")

    assert Access(**json.loads(capsys.readouterr().out)).server == SERVER
