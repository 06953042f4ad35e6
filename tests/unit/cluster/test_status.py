"""What the operator says of our objects, as rows."""

import json
from typing import Any

import pytest

from pic.cluster import status
from pic.cluster.status import ReadyState, StatusReport, StatusRow
from pic.planning.ownership import Ownership
from tests.support.api import live_object

OURS = Ownership("pic.prod")
ERROR, PENDING, READY = ReadyState.ERROR, ReadyState.PENDING, ReadyState.READY


def said(host: str, generation: int = 1, **told: object) -> dict[str, Any]:
    """A live object of ours with a status."""
    found = live_object(host)
    found["metadata"]["generation"] = generation
    return {**found, "status": told}


def ready(message: str, **more: object) -> list[dict[str, Any]]:
    """The conditions of an operator, the one that counts last."""
    return [{"type": "Other", "message": "no"}, {"type": "Ready", "message": message, **more}]


def judged(raw: dict[str, Any]) -> list[tuple[ReadyState, str]]:
    return [(row.standing, row.message) for row in status.build_report([raw], OURS).rows]


def test_errors_come_first_then_what_is_pending_then_what_is_ready() -> None:
    objects = [
        said("a.example.com", status="Ready", url="https://a.example.com", bindingMode="Created"),
        said("b.example.com", status="Waiting", conditions=ready("tunnel is not ready")),
        said("d.example.com", status="Error", conditions=ready("domain is unknown")),
        said("c.example.com", status="Error"),
    ]

    assert status.build_report(objects, OURS) == StatusReport(
        (
            *(
                StatusRow(host, "prod", f"pic-{host}", ERROR, "Error", message)
                for host, message in [
                    ("c.example.com", "the operator gives no reason"),
                    ("d.example.com", "domain is unknown"),
                ]
            ),
            StatusRow(
                *("b.example.com", "prod", "pic-b.example.com", PENDING),
                phase="Waiting",
                message="tunnel is not ready",
            ),
            StatusRow(
                *("a.example.com", "prod", "pic-a.example.com", READY),
                phase="Ready",
                url="https://a.example.com",
                binding="Created",
            ),
        )
    )


def test_objects_of_others_are_left_out() -> None:
    other, foreign = said("a.example.com", status="Error"), said("b.example.com", status="Error")
    other["metadata"]["labels"] = {"pic.ingress.k8s.io/stack": "pic.dev"}
    del foreign["metadata"]["labels"]

    assert status.build_report([other, foreign], OURS) == StatusReport()


def test_an_object_whose_labels_were_stripped_is_ours() -> None:
    stripped = said("a.example.com", status="Ready")
    stripped["metadata"] |= {"labels": None, "managedFields": [{"manager": "pic"}]}

    assert judged(stripped) == [(READY, "")]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, (PENDING, "the operator has not said anything yet")),
        ({"conditions": ready("soon")}, (PENDING, "soon")),
        ({"status": "Creating"}, (PENDING, "")),
        ({"status": "Ready"}, (READY, "")),
        ({"status": "Ready", "observedGeneration": 2}, (READY, "")),
        ({"status": "Ready", "conditions": ready("well", observedGeneration=2)}, (READY, "well")),
        (
            {"status": "Ready", "observedGeneration": 1},
            (PENDING, "the operator has not taken up the last change yet"),
        ),
        (
            {"status": "Ready", "conditions": ready("well", observedGeneration=1)},
            (PENDING, "the operator has not taken up the last change yet"),
        ),
        (
            {"status": "Error", "observedGeneration": 1, "conditions": ready("no site")},
            (ERROR, "no site (said before the last change)"),
        ),
        (
            {"status": "Error", "observedGeneration": 2, "conditions": ready("no site")},
            (ERROR, "no site"),
        ),
    ],
)
def test_a_status_counts_for_the_generation_that_it_names(
    told: dict[str, object], expected: tuple[ReadyState, str]
) -> None:
    assert judged(said("a.example.com", 2, **told)) == [expected]


def test_what_is_being_deleted_is_not_ready() -> None:
    leaving = said("a.example.com", status="Ready")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert judged(leaving) == [(PENDING, "it is being deleted")]


def test_an_object_of_ours_that_cannot_be_read_is_an_error() -> None:
    broken = {**live_object("a.example.com"), "spec": "nothing"}

    assert status.build_report([broken], OURS).rows == (
        StatusRow(
            *("", "prod", "pic-a.example.com", ERROR),
            message="cannot be read: spec is text, not a map",
        ),
    )


@pytest.mark.parametrize(
    "metadata", ["nothing", {"name": "a", "namespace": "b", "labels": {"x": "y"}}]
)
def test_an_unreadable_object_of_others_is_left_out(metadata: object) -> None:
    assert status.build_report([{"metadata": metadata, "spec": "nothing"}], OURS) == StatusReport()


def test_a_selection_has_a_row_for_every_key() -> None:
    whole = status.build_report(
        [said("a.example.com", status="Ready"), said("b.example.com")], OURS
    )

    assert status.select_rows(whole, [("prod", "pic-a.example.com"), ("prod", "gone")]).rows == (
        StatusRow(
            *("", "prod", "gone", PENDING),
            message="there is no such object, or it is not ours",
        ),
        StatusRow("a.example.com", "prod", "pic-a.example.com", READY, "Ready"),
    )


def test_a_stack_is_ready_when_each_object_is() -> None:
    rows = (
        StatusRow("a", "n", "a", READY),
        StatusRow("b", "n", "b", PENDING),
        StatusRow("c", "n", "c", ERROR),
    )

    assert [StatusReport(rows[:count]).is_ready for count in (0, 1, 2, 3)] == [
        True,
        True,
        False,
        False,
    ]
    assert StatusReport(rows).counts == {ERROR: 1, PENDING: 1, READY: 1}


def test_the_table_has_foreign_words_on_one_line_and_none_for_what_is_ready() -> None:
    objects = [
        said("1e5.example.com", status="Ready", conditions=ready("fine"), url="https://1e5"),
        said("b.example.com", status="Error", conditions=ready("no\n\x1b[31m " + "long " * 40)),
    ]
    long = " ".join(["no [31m", *["long"] * 31])[: status.LONGEST_MESSAGE - 1]

    assert status.as_text(status.build_report(objects, OURS)) == (
        "STATE    HOST             OBJECT                    PHASE    BINDING    URL        "
        "  MESSAGE\n"
        "error    b.example.com    prod/pic-b.example.com    Error    -          -           "
        f" {long}…\n"
        "ready    1e5.example.com  prod/pic-1e5.example.com  Ready    -          https://1e5\n"
        "\n"
        "1 of 2 ready, 0 pending, 1 in error"
    )


def test_the_table_has_a_dash_for_what_is_not_known() -> None:
    report = StatusReport((StatusRow("", "n", "x", PENDING, message="gone"),))

    assert status.as_text(report) == (
        "STATE    HOST    OBJECT    PHASE    BINDING    URL    MESSAGE\n"
        "pending  -       n/x       -        -          -      gone\n"
        "\n"
        "0 of 1 ready, 1 pending, 0 in error"
    )


def test_a_stack_without_objects_says_so() -> None:
    assert status.as_text(StatusReport()) == "No object of this stack is live."


def test_the_json_has_whole_messages() -> None:
    told: dict[str, Any] = {
        "status": "Error",
        "conditions": ready("no\n" * 100),
        "bindingMode": "Bound",
    }

    assert json.loads(
        status.as_json(status.build_report([said("a.example.com", **told)], OURS))
    ) == {
        "version": 1,
        "counts": {"error": 1, "pending": 0, "ready": 0},
        "resources": [
            {
                "host": "a.example.com",
                "namespace": "prod",
                "name": "pic-a.example.com",
                "state": "error",
                "phase": "Error",
                "message": "no\n" * 100,
                "url": "",
                "binding": "Bound",
            }
        ],
    }
