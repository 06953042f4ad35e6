"""The connection to an API server, here one of our own, and the ways to find it."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import certifi
import pytest
import yaml

from pic.cluster import connection, listing
from pic.cluster.listing import StatusError
from pic.core.errors import ClusterError
from pic.settings.parse import Settings
from tests.support.api import (
    SHORT_TIMEOUTS,
    Answer,
    Api,
    kubeconfig,
    serving,
)
from tests.support.planted import TOKEN

DEFAULT = Settings()


def connected(api: Api, tmp_path: Path) -> listing.ApiTransport:
    return listing.connect(
        DEFAULT, {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}, SHORT_TIMEOUTS
    )


def failure(transport: listing.ApiTransport, method: str = "GET") -> str:
    with pytest.raises(ClusterError) as caught:
        transport.request(method, "/x", None)
    return str(caught.value)


def test_a_get_sends_the_credentials_and_no_body(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer({"it": "is"}))

    assert connected(api, tmp_path).get("/x") == {"it": "is"}

    asked = api.requests[0]
    assert (asked.method, asked.path, asked.body) == ("GET", "/x", b"")
    assert {key.lower(): value for key, value in asked.headers.items()} == {
        "accept": "application/json",
        "accept-encoding": "identity",
        "authorization": f"Bearer {TOKEN}",
        "host": f"127.0.0.1:{api.port}",
        "user-agent": asked.headers["User-Agent"],
    }


@pytest.mark.parametrize(
    ("method", "content"), [("POST", "application/json"), ("PATCH", "application/merge-patch+json")]
)
def test_a_body_is_sent_as_what_it_is(api: Api, tmp_path: Path, method: str, content: str) -> None:
    api.set_answers("/x", Answer({}, 201))

    assert connected(api, tmp_path).request(method, "/x", {"a": "ü"}) == {}

    asked = api.requests[0]
    assert (asked.method, asked.headers["Content-Type"]) == (method, content)
    assert json.loads(asked.body) == {"a": "ü"}


def test_what_the_server_says_no_to_has_its_status_and_words(api: Api, tmp_path: Path) -> None:
    api.refuse("/x", 403, "you may not")

    with pytest.raises(StatusError) as caught:
        connected(api, tmp_path).get("/x")

    assert (caught.value.status, str(caught.value)) == (403, "you may not")


@pytest.mark.parametrize("body", [b"<html>", b'"text"', b"{}"])
def test_a_no_without_words_is_still_a_no(api: Api, tmp_path: Path, body: bytes) -> None:
    api.set_answers("/x", Answer(body, 404))

    with pytest.raises(StatusError, match=r"^no reason given$"):
        connected(api, tmp_path).get("/x")


def test_a_yes_that_is_no_json_is_an_error(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer(b"<html>"))

    assert failure(connected(api, tmp_path)) == (
        f"{api.server}/x answered with something that is not JSON"
    )


def test_a_server_that_is_busy_is_asked_again(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer({}, 429, {"Retry-After": "3600"}), Answer({}, 503), Answer([1]))

    assert connected(api, tmp_path).get("/x") == [1]
    assert len(api.requests) == 3


def test_a_server_that_stays_busy_is_told(api: Api, tmp_path: Path) -> None:
    api.refuse("/x", 429, "too many")

    with pytest.raises(StatusError, match=r"^too many$"):
        connected(api, tmp_path).get("/x")

    assert len(api.requests) == 4


def test_a_busy_server_is_waited_for_as_it_asks_but_within_a_bound(
    api: Api, tmp_path: Path
) -> None:
    api.set_answers("/x", Answer({}, 429, {"Retry-After": "3600"}), Answer([1]))
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
    transport = listing.connect(Settings(), environment, listing.Timeouts(retry_after=1))
    started = time.monotonic()

    assert transport.get("/x") == [1]
    assert 1 <= time.monotonic() - started < 10


def test_what_writes_is_not_sent_twice(api: Api, tmp_path: Path) -> None:
    api.refuse("/x", 503, "away")

    with pytest.raises(StatusError, match=r"^away$"):
        connected(api, tmp_path).request("POST", "/x", {})

    assert len(api.requests) == 1


def test_an_answer_that_is_cut_off_is_no_answer(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer({"items": ["a long list"]}, cut=True))

    said = failure(connected(api, tmp_path))

    assert said == (
        f"no answer from {api.server}: ('Connection broken: IncompleteRead(13 bytes read, 13 more"
        " expected)', IncompleteRead(13 bytes read, 13 more expected)). Check the network,"
        " KUBECONFIG and pic:context"
    )


def test_a_server_that_is_too_slow_is_no_answer(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer({}, delay=0.3), Answer({}))
    patience = listing.Timeouts(read=0.05, backoff=0.0)
    config = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    transport = listing.connect(DEFAULT, config, patience)

    assert failure(transport, "POST").endswith(
        "Read timed out. (read timeout=0.05). Check the network, KUBECONFIG and pic:context"
    )
    time.sleep(0.3)


def test_a_server_that_is_gone_is_no_answer(tmp_path: Path) -> None:
    with serving() as api:
        transport = connected(api, tmp_path)

    said = failure(transport)

    assert said.startswith(f"no answer from {api.server}: ")
    assert said.endswith("Connection refused. Check the network, KUBECONFIG and pic:context")


def test_a_server_without_tls_is_no_answer_to_who_expects_it(api: Api, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(kubeconfig(api.server.replace("http:", "https:"))))

    said = failure(listing.connect(DEFAULT, {"KUBECONFIG": str(path)}, SHORT_TIMEOUTS))

    assert said.startswith(f"no answer from https://127.0.0.1:{api.port}: ")


# Finding the way.


def no_way(settings: Settings, environment: Mapping[str, str]) -> str:
    with pytest.raises(ClusterError) as caught:
        listing.connect(settings, environment)
    return str(caught.value)


REMEDY = ". Set KUBECONFIG, or pic:context to one of its contexts"


def test_a_kubeconfig_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert no_way(DEFAULT, {"KUBECONFIG": str(tmp_path / "none")}) == (
        "no way to the cluster: Invalid kube-config file. No configuration found." + REMEDY
    )


@pytest.mark.parametrize("text", ["{", "- a\n", "text", "clusters: 3\n", "current-context: 3\n"])
def test_a_kubeconfig_of_the_wrong_shape_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)

    said = no_way(DEFAULT, {"KUBECONFIG": str(path)})

    assert said.startswith("no way to the cluster: ")
    assert said.endswith(REMEDY)


def test_a_context_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(kubeconfig("http://one.example.com")))

    said = no_way(Settings(context="moon"), {"KUBECONFIG": str(path)})

    assert "moon" in said
    assert said.endswith(REMEDY)


def written(path: Path, server: str, context: str) -> str:
    text = yaml.safe_dump(kubeconfig(server, context)).replace("name: c", f"name: c-{context}")
    path.write_text(text.replace("cluster: c", f"cluster: c-{context}"))
    return str(path)


def test_several_kubeconfig_files_are_one(tmp_path: Path) -> None:
    one = written(tmp_path / "1", "http://one.example.com", "one")
    two = written(tmp_path / "2", "http://two.example.com", "two")
    environment = {"KUBECONFIG": f"{one}:{tmp_path / 'none'}:{two}"}

    assert listing.connect(DEFAULT, environment).server == "http://one.example.com"
    assert listing.connect(Settings(context="two"), environment).server == "http://two.example.com"


def test_the_kubeconfig_of_the_settings_wins(tmp_path: Path) -> None:
    one = written(tmp_path / "1", "http://one.example.com", "one")
    two = written(tmp_path / "2", "http://two.example.com/", "two")

    found = listing.connect(Settings(kubeconfig=two), {"KUBECONFIG": one})

    assert found.server == "http://two.example.com"


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What a pod has: a service account in files, and the server in the environment."""
    (tmp_path / "token").write_text("of-the-pod")
    (tmp_path / "ca.crt").write_text("")
    monkeypatch.setattr(connection, "SERVICE_ACCOUNT", tmp_path)
    return {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def test_an_incomplete_service_account_is_told(pod: dict[str, str], tmp_path: Path) -> None:
    assert no_way(DEFAULT, pod) == (
        f"no way to the cluster: {tmp_path / 'ca.crt'} is empty. Set KUBECONFIG, or pic:context to"
        " one of its contexts"
    )


def test_in_a_pod_its_service_account_is_taken(pod: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text(certifi.contents())

    found = listing.connect(DEFAULT, pod)

    assert found.server == "https://10.0.0.1:443"
    assert found.credentials.header == "Bearer of-the-pod"


def test_an_authority_that_is_no_certificate_is_told(pod: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("a certificate")

    assert no_way(DEFAULT, pod).startswith("no way to the cluster: ")


def test_a_kubeconfig_or_a_context_goes_before_the_pod(pod: dict[str, str], tmp_path: Path) -> None:
    path = written(tmp_path / "1", "http://one.example.com", "one")

    assert listing.connect(DEFAULT, {**pod, "KUBECONFIG": path}).server == "http://one.example.com"
    assert no_way(Settings(context="moon"), pod).startswith("no way to the cluster: Invalid kube")
