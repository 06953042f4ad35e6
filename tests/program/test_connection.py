"""Tests the connection to an API server, and how pic finds the server."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import certifi
import pytest
import yaml

from pic.cluster import access, listing
from pic.cluster.listing import StatusError
from pic.core.errors import ClusterError
from pic.settings.parse import Settings
from tests.support.api import SHORT_TIMEOUTS, Answer, Api, kubeconfig, serving
from tests.support.planted import TOKEN

DEFAULT = Settings()


def connected(api: Api, tmp_path: Path) -> listing.ApiTransport:
    return listing.connect(
        DEFAULT, {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}, SHORT_TIMEOUTS
    )


def failure(transport: listing.ApiTransport, method: str = "GET") -> str:
    with pytest.raises(ClusterError) as raised:
        transport.request(method, "/x", None)
    return str(raised.value)


def test_a_get_sends_the_credentials_and_no_body(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer({"it": "is"}))

    assert connected(api, tmp_path).get("/x") == {"it": "is"}

    request = api.requests[0]
    assert (request.method, request.path, request.body) == ("GET", "/x", b"")
    assert {key.lower(): value for key, value in request.headers.items()} == {
        "accept": "application/json",
        "accept-encoding": "identity",
        "authorization": f"Bearer {TOKEN}",
        "host": f"127.0.0.1:{api.port}",
        "user-agent": request.headers["User-Agent"],
    }


@pytest.mark.parametrize(
    ("method", "content"), [("POST", "application/json"), ("PATCH", "application/merge-patch+json")]
)
def test_a_body_is_sent_with_its_content_type(
    api: Api, tmp_path: Path, method: str, content: str
) -> None:
    api.set_answers("/x", Answer({}, 201))

    assert connected(api, tmp_path).request(method, "/x", {"a": "ü"}) == {}

    request = api.requests[0]
    assert (request.method, request.headers["Content-Type"]) == (method, content)
    assert json.loads(request.body) == {"a": "ü"}


def test_an_error_answer_raises_its_status_and_message(api: Api, tmp_path: Path) -> None:
    api.refuse("/x", 403, "you may not")

    with pytest.raises(StatusError) as raised:
        connected(api, tmp_path).get("/x")

    assert (raised.value.status, str(raised.value)) == (403, "you may not")


@pytest.mark.parametrize("body", [b"<html>", b'"text"', b"{}"])
def test_an_error_answer_without_a_message_is_an_error(
    api: Api, tmp_path: Path, body: bytes
) -> None:
    api.set_answers("/x", Answer(body, 404))

    with pytest.raises(StatusError, match=r"^no reason given$"):
        connected(api, tmp_path).get("/x")


def test_a_successful_answer_that_is_not_json_is_an_error(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer(b"<html>"))

    assert failure(connected(api, tmp_path)) == (
        f"{api.server}/x answered with something that is not JSON"
    )


def test_a_read_is_retried_if_the_server_is_busy(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer({}, 429, {"Retry-After": "3600"}), Answer({}, 503), Answer([1]))

    assert connected(api, tmp_path).get("/x") == [1]
    assert len(api.requests) == 3


def test_a_server_that_stays_busy_is_an_error(api: Api, tmp_path: Path) -> None:
    api.refuse("/x", 429, "too many")

    with pytest.raises(StatusError, match=r"^too many$"):
        connected(api, tmp_path).get("/x")

    assert len(api.requests) == 4


def test_retry_after_is_respected_up_to_a_limit(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer({}, 429, {"Retry-After": "3600"}), Answer([1]))
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
    transport = listing.connect(Settings(), environment, listing.Timeouts(retry_after=1))
    began = time.monotonic()

    assert transport.get("/x") == [1]
    assert 1 <= time.monotonic() - began < 10


def test_a_write_is_not_retried(api: Api, tmp_path: Path) -> None:
    api.refuse("/x", 503, "away")

    with pytest.raises(StatusError, match=r"^away$"):
        connected(api, tmp_path).request("POST", "/x", {})

    assert len(api.requests) == 1


def test_a_truncated_answer_is_an_error(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer({"items": ["a long list"]}, cut=True))

    message = failure(connected(api, tmp_path))

    assert message == (
        f"no answer from {api.server}: ('Connection broken: IncompleteRead(13 bytes read, 13 more"
        " expected)', IncompleteRead(13 bytes read, 13 more expected)). Check the network,"
        " KUBECONFIG and pic:context"
    )


def test_a_server_that_is_too_slow_is_an_error(api: Api, tmp_path: Path) -> None:
    api.set_answers("/x", Answer({}, delay=0.3), Answer({}))
    timeouts = listing.Timeouts(read=0.05, backoff=0.0)
    config = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    transport = listing.connect(DEFAULT, config, timeouts)

    assert failure(transport, "POST").endswith(
        "Read timed out. (read timeout=0.05). Check the network, KUBECONFIG and pic:context"
    )
    time.sleep(0.3)


def test_a_server_that_has_ended_is_an_error(tmp_path: Path) -> None:
    with serving() as api:
        transport = connected(api, tmp_path)

    message = failure(transport)

    assert message.startswith(f"no answer from {api.server}: ")
    assert message.endswith("Connection refused. Check the network, KUBECONFIG and pic:context")


def test_a_server_without_tls_is_an_error_if_the_kubeconfig_says_https(
    api: Api, tmp_path: Path
) -> None:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(kubeconfig(api.server.replace("http:", "https:"))))

    message = failure(listing.connect(DEFAULT, {"KUBECONFIG": str(path)}, SHORT_TIMEOUTS))

    assert message.startswith(f"no answer from https://127.0.0.1:{api.port}: ")


# Finding the server.


def connect_error(
    settings: Settings,
    environment: Mapping[str, str],
    service_account: Path = access.SERVICE_ACCOUNT,
) -> str:
    with pytest.raises(ClusterError) as raised:
        listing.connect(settings, environment, service_account=service_account)
    return str(raised.value)


REMEDY = ". Set KUBECONFIG, or pic:context to one of its contexts"


def test_a_missing_kubeconfig_is_an_error(tmp_path: Path) -> None:
    assert connect_error(DEFAULT, {"KUBECONFIG": str(tmp_path / "none")}) == (
        f"cannot connect to the cluster: there is no kubeconfig at {tmp_path / 'none'}" + REMEDY
    )


@pytest.mark.parametrize("text", ["{", "- a\n", "text", "clusters: 3\n", "current-context: 3\n"])
def test_a_kubeconfig_of_the_wrong_shape_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)

    message = connect_error(DEFAULT, {"KUBECONFIG": str(path)})

    assert message.startswith("cannot connect to the cluster: ")
    assert message.endswith(REMEDY)


def test_a_missing_context_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(kubeconfig("http://one.example.com")))

    message = connect_error(Settings(context="moon"), {"KUBECONFIG": str(path)})

    assert "moon" in message
    assert message.endswith(REMEDY)


def write_kubeconfig(path: Path, server: str, context: str) -> str:
    text = yaml.safe_dump(kubeconfig(server, context)).replace("name: c", f"name: c-{context}")
    path.write_text(text.replace("cluster: c", f"cluster: c-{context}"))
    return str(path)


def test_several_kubeconfig_files_are_merged(tmp_path: Path) -> None:
    one = write_kubeconfig(tmp_path / "1", "http://one.example.com", "one")
    two = write_kubeconfig(tmp_path / "2", "http://two.example.com", "two")
    environment = {"KUBECONFIG": f"{one}:{tmp_path / 'none'}:{two}"}

    assert listing.connect(DEFAULT, environment).server == "http://one.example.com"
    assert listing.connect(Settings(context="two"), environment).server == "http://two.example.com"


def test_the_kubeconfig_in_the_settings_wins(tmp_path: Path) -> None:
    one = write_kubeconfig(tmp_path / "1", "http://one.example.com", "one")
    two = write_kubeconfig(tmp_path / "2", "http://two.example.com/", "two")

    transport = listing.connect(Settings(kubeconfig=two), {"KUBECONFIG": one})

    assert transport.server == "http://two.example.com"


@pytest.fixture
def pod(tmp_path: Path) -> dict[str, str]:
    """Provide the service account files and the environment of a pod."""
    (tmp_path / "token").write_text("of-the-pod")
    (tmp_path / "ca.crt").write_text("")
    return {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def test_an_incomplete_service_account_is_an_error(pod: dict[str, str], tmp_path: Path) -> None:
    assert connect_error(DEFAULT, pod, tmp_path) == (
        f"cannot connect to the cluster: {tmp_path / 'ca.crt'} is empty"
        ". Set KUBECONFIG, or pic:context to one of its contexts"
    )


def test_in_a_pod_its_service_account_is_used(pod: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text(certifi.contents())

    transport = listing.connect(DEFAULT, pod, service_account=tmp_path)

    assert transport.server == "https://10.0.0.1:443"
    assert transport.credentials.header == "Bearer of-the-pod"


def test_an_authority_that_is_not_a_certificate_is_an_error(
    pod: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "ca.crt").write_text("a certificate")

    message = connect_error(DEFAULT, pod, tmp_path)

    assert message.startswith("cannot connect to the cluster: ")
    assert str(tmp_path) not in message


def test_a_kubeconfig_or_a_context_wins_over_the_service_account(
    pod: dict[str, str], tmp_path: Path
) -> None:
    path = write_kubeconfig(tmp_path / "1", "http://one.example.com", "one")

    assert listing.connect(DEFAULT, {**pod, "KUBECONFIG": path}).server == "http://one.example.com"
    assert connect_error(Settings(context="moon"), pod).startswith(
        "cannot connect to the cluster: there is no context 'moon'"
    )
