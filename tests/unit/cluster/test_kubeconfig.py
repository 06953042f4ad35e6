"""Reading credentials, in this process and in one of its own, and renewing them."""

import base64
import io
import json
import os
import runpy
from pathlib import Path

import certifi
import pytest
import yaml

from pic.cluster import kubeconfig, listing
from pic.cluster.endpoint import Access
from pic.cluster.pinned import Pinned
from pic.core.errors import ClusterError
from pic.core.json_values import Raw
from pic.settings.parse import Settings
from tests.support.api import SHORT_TIMEOUTS, Answer, serving
from tests.support.api import kubeconfig as kubeconfig_for
from tests.support.deployed import write_executable
from tests.support.planted import TOKEN

EXEC = "client.authentication.k8s.io/v1"
SERVER = "https://one.example.com"


def pinned_of(user: Raw | None = None, cluster: Raw | None = None) -> Pinned:
    return Pinned("here", {"server": SERVER, **(cluster or {})}, user or {"token": TOKEN})


def test_every_setting_of_a_cluster_is_read() -> None:
    data = base64.b64encode(certifi.contents().encode()).decode()
    pinned = pinned_of(
        cluster={
            "certificate-authority-data": data,
            "tls-server-name": "other",
            "proxy-url": "http://p:1",
        }
    )

    assert kubeconfig.read(pinned) == Access(
        SERVER,
        authority=certifi.contents(),
        server_name="other",
        proxy="http://p:1",
        authorization=f"Bearer {TOKEN}",
    )


def test_the_newline_at_the_end_of_a_token_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")

    access = kubeconfig.read(pinned_of({"tokenFile": str(tmp_path / "token")}))

    assert access.authorization == "Bearer secret"


def test_an_exec_plugin_is_asked_for_the_token(tmp_path: Path) -> None:
    answer = {"apiVersion": EXEC, "kind": "ExecCredential", "status": {"token": "of-the-plugin"}}
    plugin = write_executable(tmp_path / "login", f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    user = {"exec": {"apiVersion": EXEC, "command": str(plugin)}}

    assert kubeconfig.read(pinned_of(user)).authorization == "Bearer of-the-plugin"


def test_a_process_of_its_own_reads_the_same() -> None:
    pinned = pinned_of()

    assert kubeconfig.read_in_subprocess(pinned, os.environ) == kubeconfig.read(pinned)
    assert json.loads(kubeconfig.main(pinned.as_text()))["server"] == SERVER


def test_a_process_of_its_own_reports_the_same_error() -> None:
    pinned = pinned_of(cluster={"certificate-authority": "/none"})
    with pytest.raises(ClusterError) as in_subprocess:
        kubeconfig.read_in_subprocess(pinned, os.environ)
    with pytest.raises(SystemExit) as in_process:
        kubeconfig.main(pinned.as_text())

    assert str(in_subprocess.value) == str(in_process.value)
    assert str(in_subprocess.value) == (
        "cannot connect to the cluster: File does not exist: /none. Set KUBECONFIG, or pic:context"
        " to one of its contexts"
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
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # No output of a test may contain the planted token.
    pinned = pinned_of({"username": "u"})
    monkeypatch.setattr("sys.stdin", io.StringIO(pinned.as_text()))
    runpy.run_path(str(Path(kubeconfig.__file__)), run_name="__main__")

    assert Access(**json.loads(capsys.readouterr().out)).server == SERVER


@pytest.mark.parametrize(
    ("status", "details", "expected"),
    [
        (
            403,
            {"causes": [{"reason": "NamespaceTerminating", "field": "metadata.namespace"}]},
            True,
        ),
        (404, {"kind": "namespaces", "name": "preview"}, True),
        (403, {"kind": "namespaces"}, False),
        (404, {"kind": "ingresses", "causes": []}, False),
        (403, None, False),
    ],
)
def test_26_an_error_says_whether_the_namespace_is_gone(
    tmp_path: Path, status: int, details: object, *, expected: bool
) -> None:
    with serving() as api:
        environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
        transport = listing.connect(Settings(), environment, SHORT_TIMEOUTS)
        api.set_answers("/x", Answer({"message": "no", "details": details}, status))

        with pytest.raises(listing.StatusError) as caught:
            transport.get("/x")

    assert caught.value.namespace_gone is expected
