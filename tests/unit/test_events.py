"""Events at Ingresses, as the API server gets them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pic.events import Subject, post
from pic.notices import Level


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
    post(sink, Subject("prod", name, "uid"), level, "Created", message)
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


def test_a_warning_is_one() -> None:
    assert posted(level=Level.WARNING)["type"] == "Warning"
