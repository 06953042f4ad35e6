"""Waiting for the operator, on a clock that only sleeping moves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pic.cluster import wait as waiting
from pic.cluster.status import ReadyState, StatusReport, StatusRow
from pic.cluster.wait import Clock
from pic.core.errors import ClusterError
from pic.planning.ownership import Ownership
from tests.support.api import live_object

OURS = Ownership("pic.prod")
KEYS = [("prod", "pic-a.example.com"), ("prod", "pic-b.example.com")]


def said(host: str, phase: str, message: str = "") -> dict[str, Any]:
    conditions = [{"type": "Ready", "message": message}]
    return {**live_object(host), "status": {"status": phase, "conditions": conditions}}


def both(a: str, b: str, message: str = "") -> list[dict[str, Any]]:
    return [said("a.example.com", a, message), said("b.example.com", b)]


@dataclass
class Operator:
    """A cluster whose objects are further with each listing, and the time that passes."""

    listings: Sequence[object]
    seconds: float = 0.0
    slept: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    asked: int = 0

    def get(self, path: str) -> object:
        assert path == "/apis/tunnel.pangolin.io/v1alpha1/pangolinresources?limit=500"
        found = self.listings[min(self.asked, len(self.listings) - 1)]
        self.asked += 1
        if isinstance(found, Exception):
            raise found
        return {"kind": "PangolinResourceList", "metadata": {}, "items": found}

    def request(self, method: str, path: str, body: object) -> object:
        raise AssertionError((method, path, body))

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds

    def wait(self, seconds: float, keys: Sequence[tuple[str, str]] = KEYS) -> StatusReport:
        pace = Clock(self.told.append, lambda: self.seconds, self.sleep)
        return waiting.wait_until_ready(self, OURS, keys, seconds, pace)


def states(report: StatusReport) -> list[tuple[str, str]]:
    return [(row.host, row.standing.value) for row in report.rows]


def test_what_is_ready_is_not_waited_for() -> None:
    operator = Operator([both("Ready", "Ready")])

    assert operator.wait(60) == StatusReport(
        tuple(
            StatusRow(host, "prod", f"pic-{host}", ReadyState.READY, "Ready")
            for host in ("a.example.com", "b.example.com")
        )
    )
    assert (operator.slept, operator.told) == ([], ["2 of 2 ready, 0 pending, 0 in error"])


def test_nothing_is_ready_at_once() -> None:
    assert Operator([[]]).wait(60, []) == StatusReport()


def test_the_wait_ends_when_all_are_ready_and_tells_what_changes() -> None:
    operator = Operator(
        [[], both("Creating", "Ready"), both("Creating", "Ready"), both("Ready", "Ready")]
    )

    assert states(operator.wait(60)) == [("a.example.com", "ready"), ("b.example.com", "ready")]
    assert operator.slept == [1.0, 1.5, 2.25]
    assert operator.told == [
        "0 of 2 ready, 2 pending, 0 in error",
        "1 of 2 ready, 1 pending, 0 in error",
        "2 of 2 ready, 0 pending, 0 in error",
    ]


def test_an_error_is_told_at_once_and_once_and_waiting_goes_on() -> None:
    broken = both("Error", "Ready", "no\nsite")
    operator = Operator([broken, broken, both("Ready", "Ready"), both("Ready", "Ready")])

    assert operator.wait(60).is_ready
    assert operator.told == [
        "a.example.com (prod/pic-a.example.com): no site",
        "1 of 2 ready, 0 pending, 1 in error",
        "2 of 2 ready, 0 pending, 0 in error",
    ]


def test_an_error_that_comes_back_is_told_again() -> None:
    broken, fine = both("Error", "Ready", "no"), both("Creating", "Ready")
    operator = Operator([broken, fine, broken, both("Ready", "Ready")])

    operator.wait(60)

    assert operator.told.count("a.example.com (prod/pic-a.example.com): no") == 2


def test_an_error_of_an_object_without_a_host_names_the_object() -> None:
    operator = Operator([[{**live_object("a.example.com"), "spec": "nothing"}]])

    operator.wait(0, KEYS[:1])

    assert operator.told[0] == (
        "prod/pic-a.example.com (prod/pic-a.example.com): cannot be read: spec is text, not a map"
    )


def test_the_deadline_ends_the_wait_with_how_things_are() -> None:
    operator = Operator([both("Creating", "Ready")])

    assert states(operator.wait(30)) == [("a.example.com", "pending"), ("b.example.com", "ready")]
    assert operator.seconds == 30
    assert max(operator.slept) <= waiting.LONGEST_PAUSE


def test_without_seconds_there_is_one_look() -> None:
    operator = Operator([both("Creating", "Ready")])

    assert not operator.wait(0).is_ready
    assert (operator.asked, operator.slept) == (1, [])


def test_a_cluster_that_is_away_for_a_while_is_waited_for() -> None:
    away = ClusterError("no answer")
    operator = Operator([both("Creating", "Ready"), away, both("Ready", "Ready")])

    assert operator.wait(60).is_ready
    assert operator.told == [
        "1 of 2 ready, 1 pending, 0 in error",
        "no answer",
        "2 of 2 ready, 0 pending, 0 in error",
    ]


@pytest.mark.parametrize("before", [[], [both("Creating", "Ready")]])
def test_a_cluster_that_is_away_first_or_last_is_an_error(before: list[object]) -> None:
    operator = Operator([*before, ClusterError("no answer")])

    with pytest.raises(ClusterError, match=r"^no answer$"):
        operator.wait(5)
