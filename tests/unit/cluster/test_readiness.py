"""Whether the status of an object agrees with its spec."""

import pytest

from pic.cluster import readiness
from pic.cluster.readiness import ReadyState
from pic.core.model import LiveResource, Spec, Target

API = Target("api.prod.svc.cluster.local", 80, "http", "^/api(/|$)", "regex", 110)
WEB = Target("web.prod.svc.cluster.local", 80, "http")
ADMIN = Target("web.prod.svc.cluster.local", 80, "http", "/admin", "exact", 115)
READY = (ReadyState.READY, "")


def live(*targets: Target, host: str = "app.example.com") -> LiveResource:
    spec = Spec(targets=targets)
    return LiveResource("prod", "app", "u", host, spec=spec, generation=3, status="Ready")


def error(message: str) -> tuple[ReadyState, str]:
    return ReadyState.ERROR, f"the operator says Ready, but {message}"


@pytest.mark.parametrize(
    ("targets", "count", "expected"),
    [
        ((API, WEB), 2, READY),
        # Without the count, nothing contradicts.
        ((API, WEB), None, READY),
        # Operators that ignore paths make one target of both.
        ((ADMIN, WEB), 1, READY),
        ((ADMIN, WEB), 2, READY),
        ((API, WEB), 1, error("Pangolin has 1 of 2 targets: see the log of the operator")),
        ((WEB,), 0, error("Pangolin has 0 of 1 targets: see the log of the operator")),
        (
            (WEB,),
            2,
            error(
                "Pangolin has 2 targets, not 1: earlier backends still get requests until they are"
                " removed in the dashboard of Pangolin"
            ),
        ),
    ],
)
def test_a_host_is_ready_only_with_the_targets_of_its_spec(
    targets: tuple[Target, ...], count: int | None, expected: tuple[ReadyState, str]
) -> None:
    status = {"status": "Ready", "observedGeneration": 3, "targetCount": count}

    assert readiness.judge(live(*targets), status) == expected


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        ({"url": "https://app.example.com"}, READY),
        ({"url": "https://APP.example.com/"}, READY),
        ({"fullDomain": "App.example.com"}, READY),
        ({}, READY),
        ({"url": ""}, READY),
        # A URL that is none counts as absent.
        ({"url": "https://[", "fullDomain": "app.example.com"}, READY),
        (
            {"url": "https://app.other.example"},
            error("Pangolin serves app.other.example, not app.example.com"),
        ),
        (
            {"fullDomain": "app.other.example"},
            error("Pangolin serves app.other.example, not app.example.com"),
        ),
    ],
)
def test_a_host_is_ready_only_under_its_own_name(
    reported: dict[str, object], expected: tuple[ReadyState, str]
) -> None:
    assert readiness.judge(live(WEB), {"status": "Ready", **reported}) == expected


def test_an_object_without_a_host_is_not_compared_with_the_reported_one() -> None:
    assert readiness.judge(live(WEB, host=""), {"url": "https://a.example.com"}) == READY


def test_a_count_of_an_earlier_generation_is_not_compared() -> None:
    status = {"status": "Ready", "observedGeneration": 2, "targetCount": 0}

    assert readiness.judge(live(WEB), status) == (
        ReadyState.PENDING,
        "the operator has not processed the last change yet",
    )
