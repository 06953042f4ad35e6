"""Waiting for the operator, with a clock that only sleeping moves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pic.cluster import wait as waiting
from pic.cluster.readiness import ReadyState
from pic.cluster.status import StatusReport, StatusRow
from pic.cluster.wait import Clock
from pic.core.errors import ClusterError
from pic.planning.ownership import Ownership
from tests.support.api import live_object

OURS = Ownership("pic.prod")
KEYS = [("prod", "pic-a.example.com"), ("prod", "pic-b.example.com")]


def with_status(host: str, phase: str, message: str = "") -> dict[str, Any]:
    conditions = [{"type": "Ready", "message": message}]
    return {**live_object(host), "status": {"status": phase, "conditions": conditions}}


def both(a: str, b: str, message: str = "") -> list[dict[str, Any]]:
    return [with_status("a.example.com", a, message), with_status("b.example.com", b)]


@dataclass
class Operator:
    """A cluster whose objects progress with each listing, and a clock."""

    listings: Sequence[object]
    seconds: float = 0.0
    pauses: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    requests: int = 0

    def get(self, path: str) -> object:
        assert path == "/apis/tunnel.pangolin.io/v1alpha1/pangolinresources?limit=500"
        answer = self.listings[min(self.requests, len(self.listings) - 1)]
        self.requests += 1
        if isinstance(answer, Exception):
            raise answer
        return {"kind": "PangolinResourceList", "metadata": {}, "items": answer}

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        raise AssertionError((method, path, body))

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds

    def wait(self, seconds: float, keys: Sequence[tuple[str, str]] = KEYS) -> StatusReport:
        clock = Clock(self.lines.append, lambda: self.seconds, self.sleep)
        return waiting.wait_until_ready(self, OURS, keys, seconds, clock)


def readiness(report: StatusReport) -> list[tuple[str, str]]:
    return [(row.host, row.readiness.value) for row in report.rows]


def test_ready_objects_need_no_wait() -> None:
    operator = Operator([both("Ready", "Ready")])

    assert operator.wait(60) == StatusReport(
        tuple(
            StatusRow(host, "prod", f"pic-{host}", ReadyState.READY, "Ready")
            for host in ("a.example.com", "b.example.com")
        )
    )
    assert (operator.pauses, operator.lines) == ([], ["2 of 2 ready, 0 pending, 0 in error"])


def test_no_objects_need_no_wait() -> None:
    assert Operator([[]]).wait(60, []) == StatusReport()


def test_the_wait_ends_when_all_objects_are_ready_and_reports_each_change() -> None:
    operator = Operator(
        [[], both("Creating", "Ready"), both("Creating", "Ready"), both("Ready", "Ready")]
    )

    assert readiness(operator.wait(60)) == [("a.example.com", "ready"), ("b.example.com", "ready")]
    assert operator.pauses == [1.0, 1.5, 2.25]
    assert operator.lines == [
        "0 of 2 ready, 2 pending, 0 in error",
        "1 of 2 ready, 1 pending, 0 in error",
        "2 of 2 ready, 0 pending, 0 in error",
    ]


def test_an_error_is_reported_once_and_does_not_end_the_wait() -> None:
    failing = both("Error", "Ready", "no\nsite")
    operator = Operator([failing, failing, both("Ready", "Ready"), both("Ready", "Ready")])

    assert operator.wait(60).is_ready
    assert operator.lines == [
        "a.example.com (prod/pic-a.example.com): no site",
        "1 of 2 ready, 0 pending, 1 in error",
        "2 of 2 ready, 0 pending, 0 in error",
    ]


def test_an_error_that_returns_is_reported_again() -> None:
    failing, working = both("Error", "Ready", "no"), both("Creating", "Ready")
    operator = Operator([failing, working, failing, both("Ready", "Ready")])

    operator.wait(60)

    assert operator.lines.count("a.example.com (prod/pic-a.example.com): no") == 2


def test_an_error_of_an_object_without_a_host_names_the_object() -> None:
    operator = Operator([[{**live_object("a.example.com"), "spec": "nothing"}]])

    operator.wait(0, KEYS[:1])

    assert operator.lines[0] == (
        "prod/pic-a.example.com (prod/pic-a.example.com): cannot be read: spec is text, not a map"
    )


def test_the_deadline_ends_the_wait_with_the_last_report() -> None:
    operator = Operator([both("Creating", "Ready")])

    assert readiness(operator.wait(30)) == [
        ("a.example.com", "pending"),
        ("b.example.com", "ready"),
    ]
    assert operator.seconds == 30
    assert max(operator.pauses) <= waiting.LONGEST_PAUSE


def test_a_deadline_of_zero_lists_once() -> None:
    operator = Operator([both("Creating", "Ready")])

    assert not operator.wait(0).is_ready
    assert (operator.requests, operator.pauses) == (1, [])


def test_an_outage_of_the_cluster_does_not_end_the_wait() -> None:
    outage = ClusterError("no answer")
    operator = Operator([both("Creating", "Ready"), outage, both("Ready", "Ready")])

    assert operator.wait(60).is_ready
    assert operator.lines == [
        "1 of 2 ready, 1 pending, 0 in error",
        "no answer",
        "2 of 2 ready, 0 pending, 0 in error",
    ]


@pytest.mark.parametrize("before", [[], [both("Creating", "Ready")]])
def test_an_outage_at_the_first_or_the_last_listing_is_an_error(before: list[object]) -> None:
    operator = Operator([*before, ClusterError("no answer")])

    with pytest.raises(ClusterError, match=r"^no answer$"):
        operator.wait(5)
