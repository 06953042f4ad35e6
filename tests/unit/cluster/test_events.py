"""Events for Ingresses, as the API server receives them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pic.cluster import events
from pic.cluster.events import InvolvedObject, post
from pic.cluster.listing import StatusError
from pic.core.model import Owner
from pic.core.notices import Level
from pic.report.event_texts import EventText


class Recorder:
    """A transport that records each request."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []

    def get(self, path: str) -> object:
        raise NotImplementedError

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        self.requests.append((method, path, body))
        return {}


def post_one(name: str = "web", message: str = "it is", level: Level = Level.NORMAL) -> Any:
    recorder = Recorder()
    post(recorder, InvolvedObject("prod", name, "uid"), level, "Created", message)
    [(method, path, body)] = recorder.requests
    assert (method, path) == ("POST", "/api/v1/namespaces/prod/events")
    return body


def test_an_event_has_the_current_time() -> None:
    event = post_one()

    time = datetime.fromisoformat(event["firstTimestamp"])
    assert event["firstTimestamp"] == event["lastTimestamp"]
    assert timedelta(seconds=-1) < datetime.now(UTC) - time < timedelta(seconds=5)


def test_each_event_has_a_name_of_its_own() -> None:
    assert post_one()["metadata"]["name"] != post_one()["metadata"]["name"]


@pytest.mark.parametrize(
    ("ingress", "prefix"), [("a" * 253, "a" * 200), ("b" * 198 + "-.c", "b" * 198)]
)
def test_the_name_of_an_event_is_valid_for_the_longest_ingress_name(
    ingress: str, prefix: str
) -> None:
    name, _, tail = post_one(ingress)["metadata"]["name"].rpartition(".")

    assert (name, len(tail)) == (prefix, 16)


def test_a_message_is_cut_to_the_length_that_the_api_server_accepts() -> None:
    assert post_one(message="x" * 2000)["message"] == "x" * 1024


class Refusing(Recorder):
    """A transport to an API server that refuses every request."""

    def __init__(self, status: int, *, namespace_gone: bool = False) -> None:
        super().__init__()
        self.error = StatusError(status, "no", namespace_gone=namespace_gone)

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        super().request(method, path, body)
        raise self.error


TEXT = EventText(Owner("prod", "web", "uid"), "InvalidHost", "*: no")


def test_the_name_of_a_warning_derives_from_its_text() -> None:
    recorder = Recorder()

    events.warn(recorder, TEXT)

    [(method, path, body)] = recorder.requests
    del body["firstTimestamp"], body["lastTimestamp"]
    assert (method, path) == ("POST", "/api/v1/namespaces/prod/events")
    assert body == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"web.{TEXT.digest}", "namespace": "prod"},
        "involvedObject": {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "namespace": "prod",
            "name": "web",
            "uid": "uid",
        },
        "type": "Warning",
        "reason": "InvalidHost",
        "message": "*: no",
        "source": {"component": "pic"},
        "reportingComponent": "pic",
        "count": 1,
    }


def test_a_warning_that_already_exists_is_no_error() -> None:
    recorder = Refusing(409)

    events.warn(recorder, TEXT)

    assert len(recorder.requests) == 1


def test_a_warning_that_the_api_server_refuses_is_an_error() -> None:
    with pytest.raises(StatusError):
        events.warn(Refusing(403), TEXT)


def test_a_warning_has_the_event_type_warning() -> None:
    assert post_one(level=Level.WARNING)["type"] == "Warning"


def test_26_an_event_in_a_namespace_that_is_gone_is_dropped() -> None:
    subject = InvolvedObject("preview", "web", "uid")

    post(Refusing(403, namespace_gone=True), subject, Level.NORMAL, "Deleted", "it is gone")

    with pytest.raises(StatusError, match="no"):
        post(Refusing(403), subject, Level.NORMAL, "Deleted", "it is gone")
