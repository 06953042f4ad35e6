"""Events at Ingresses, as the API server gets them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pic.cluster import events
from pic.cluster.events import InvolvedObject, post
from pic.cluster.listing import StatusError
from pic.core.model import Owner
from pic.core.notices import Level
from pic.report.event_texts import EventText


class Sink:
    """A transport that keeps what is posted where."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, str, Any]] = []

    def get(self, path: str) -> object:
        raise NotImplementedError

    def request(self, method: str, path: str, body: object) -> object:
        self.posted.append((method, path, body))
        return {}


def posted(name: str = "web", message: str = "it is", level: Level = Level.NORMAL) -> Any:
    sink = Sink()
    post(sink, InvolvedObject("prod", name, "uid"), level, "Created", message)
    [(method, path, body)] = sink.posted
    assert (method, path) == ("POST", "/api/v1/namespaces/prod/events")
    return body


def test_an_event_happens_now() -> None:
    event = posted()

    when = datetime.fromisoformat(event["firstTimestamp"])
    assert event["firstTimestamp"] == event["lastTimestamp"]
    assert timedelta(seconds=-1) < datetime.now(UTC) - when < timedelta(seconds=5)


def test_two_events_have_two_names() -> None:
    assert posted()["metadata"]["name"] != posted()["metadata"]["name"]


@pytest.mark.parametrize(
    ("ingress", "begin"), [("a" * 253, "a" * 200), ("b" * 198 + "-.c", "b" * 198)]
)
def test_the_name_of_an_event_stays_legal_for_the_longest_ingress(ingress: str, begin: str) -> None:
    name, _, tail = posted(ingress)["metadata"]["name"].rpartition(".")

    assert (name, len(tail)) == (begin, 16)


def test_a_message_is_cut_where_the_api_server_would_refuse_it() -> None:
    assert posted(message="x" * 2000)["message"] == "x" * 1024


class Full(Sink):
    """A transport to an API server that has the Event, or takes none."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status

    def request(self, method: str, path: str, body: object) -> object:
        super().request(method, path, body)
        raise StatusError(self.status, "no")


WARNED = EventText(Owner("prod", "web", "uid"), "InvalidHost", "*: no")


def test_a_warning_has_the_name_of_what_it_says() -> None:
    sink = Sink()

    events.warn(sink, WARNED)

    [(method, path, body)] = sink.posted
    del body["firstTimestamp"], body["lastTimestamp"]
    assert (method, path) == ("POST", "/api/v1/namespaces/prod/events")
    assert body == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"web.{WARNED.digest}", "namespace": "prod"},
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


def test_a_warning_that_the_api_server_still_has_is_told() -> None:
    sink = Full(409)

    events.warn(sink, WARNED)

    assert len(sink.posted) == 1


def test_a_warning_that_the_api_server_does_not_take_is_an_error() -> None:
    with pytest.raises(StatusError):
        events.warn(Full(403), WARNED)


def test_a_warning_is_one() -> None:
    assert posted(level=Level.WARNING)["type"] == "Warning"
