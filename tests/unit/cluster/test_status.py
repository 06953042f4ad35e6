"""The status of our objects as rows, as a table and as JSON."""

import json
from typing import Any

import pytest

from pic.cluster import status
from pic.cluster.readiness import ReadyState
from pic.cluster.status import StatusReport, StatusRow
from pic.planning.ownership import Ownership
from tests.support.api import live_object

OURS = Ownership("pic.prod")
ERROR, PENDING, READY = ReadyState.ERROR, ReadyState.PENDING, ReadyState.READY


def with_status(host: str, generation: int = 1, **fields: object) -> dict[str, Any]:
    """Return a live object of ours with a status."""
    body = live_object(host)
    body["metadata"]["generation"] = generation
    return {**body, "status": fields}


def ready(message: str, **more: object) -> list[dict[str, Any]]:
    """Return the conditions of an operator; the last one counts."""
    return [{"type": "Other", "message": "no"}, {"type": "Ready", "message": message, **more}]


def verdicts(raw: dict[str, Any]) -> list[tuple[ReadyState, str]]:
    return [(row.readiness, row.message) for row in status.build_report([raw], OURS).rows]


def test_errors_come_first_then_pending_then_ready_objects() -> None:
    objects = [
        with_status(
            "a.example.com", status="Ready", url="https://a.example.com", bindingMode="Created"
        ),
        with_status("b.example.com", status="Waiting", conditions=ready("tunnel is not ready")),
        with_status("d.example.com", status="Error", conditions=ready("domain is unknown")),
        with_status("c.example.com", status="Error"),
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


def test_objects_of_other_stacks_are_left_out() -> None:
    other, foreign = (
        with_status("a.example.com", status="Error"),
        with_status("b.example.com", status="Error"),
    )
    other["metadata"]["labels"] = {"pic.ingress.k8s.io/stack": "pic.dev"}
    del foreign["metadata"]["labels"]

    assert status.build_report([other, foreign], OURS) == StatusReport()


def test_an_object_whose_labels_were_stripped_is_ours() -> None:
    stripped = with_status("a.example.com", status="Ready")
    stripped["metadata"] |= {"labels": None, "managedFields": [{"manager": "pic"}]}

    assert verdicts(stripped) == [(READY, "")]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (PENDING, "the operator has not written a status yet")),
        ({"conditions": ready("soon")}, (PENDING, "soon")),
        ({"status": "Creating"}, (PENDING, "")),
        ({"status": "Ready"}, (READY, "")),
        ({"status": "Ready", "observedGeneration": 2}, (READY, "")),
        ({"status": "Ready", "conditions": ready("well", observedGeneration=2)}, (READY, "well")),
        (
            {"status": "Ready", "observedGeneration": 1},
            (PENDING, "the operator has not processed the last change yet"),
        ),
        (
            {"status": "Ready", "conditions": ready("well", observedGeneration=1)},
            (PENDING, "the operator has not processed the last change yet"),
        ),
        (
            {"status": "Error", "observedGeneration": 1, "conditions": ready("no site")},
            (ERROR, "no site (before the last change)"),
        ),
        (
            {"status": "Error", "observedGeneration": 2, "conditions": ready("no site")},
            (ERROR, "no site"),
        ),
    ],
)
def test_a_status_counts_only_for_its_own_generation(
    fields: dict[str, object], expected: tuple[ReadyState, str]
) -> None:
    assert verdicts(with_status("a.example.com", 2, **fields)) == [expected]


def test_an_object_that_is_being_deleted_is_not_ready() -> None:
    deleted = with_status("a.example.com", status="Ready")
    deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    deleted["metadata"]["finalizers"] = ["example.org/x"]

    assert verdicts(deleted) == [
        (
            PENDING,
            "Kubernetes is deleting the object (since 2026-01-01T00:00:00+00:00, finalizer"
            " example.org/x)",
        )
    ]


def test_a_malformed_object_of_ours_is_an_error() -> None:
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
def test_a_malformed_object_of_another_stack_is_left_out(metadata: object) -> None:
    assert status.build_report([{"metadata": metadata, "spec": "nothing"}], OURS) == StatusReport()


def test_a_selection_has_a_row_for_every_key() -> None:
    report = status.build_report(
        [with_status("a.example.com", status="Ready"), with_status("b.example.com")], OURS
    )

    assert status.select_rows(report, [("prod", "pic-a.example.com"), ("prod", "gone")]).rows == (
        StatusRow(
            *("", "prod", "gone", PENDING),
            message="the object does not exist or is not ours",
        ),
        StatusRow("a.example.com", "prod", "pic-a.example.com", READY, "Ready"),
    )


def test_a_stack_is_ready_if_every_object_is() -> None:
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


def test_the_table_has_short_messages_and_none_for_ready_objects() -> None:
    objects = [
        with_status("1e5.example.com", status="Ready", conditions=ready("fine"), bindingMode="1e5"),
        with_status(
            "b.example.com", status="Error", conditions=ready("no\n\x1b[31m " + "long " * 40)
        ),
    ]
    long = " ".join(["no [31m", *["long"] * 31])[: status.LONGEST_MESSAGE - 1]

    assert status.as_text(status.build_report(objects, OURS)) == (
        "STATE    HOST             OBJECT                    PHASE    BINDING    URL    MESSAGE\n"
        f"error    b.example.com    prod/pic-b.example.com    Error    -          -      {long}…\n"
        "ready    1e5.example.com  prod/pic-1e5.example.com  Ready    1e5        -\n"
        "\n"
        "1 of 2 ready, 0 pending, 1 in error"
    )


def test_the_table_has_a_dash_for_each_unknown_value() -> None:
    report = StatusReport((StatusRow("", "n", "x", PENDING, message="gone"),))

    assert status.as_text(report) == (
        "STATE    HOST    OBJECT    PHASE    BINDING    URL    MESSAGE\n"
        "pending  -       n/x       -        -          -      gone\n"
        "\n"
        "0 of 1 ready, 1 pending, 0 in error"
    )


def test_a_stack_without_objects_says_so() -> None:
    assert status.as_text(StatusReport()) == "No object of this stack is live."


def test_the_json_has_complete_messages() -> None:
    fields: dict[str, Any] = {
        "status": "Error",
        "conditions": ready("no\n" * 100),
        "bindingMode": "Bound",
    }

    assert json.loads(
        status.as_json(status.build_report([with_status("a.example.com", **fields)], OURS))
    ) == {
        "version": 1,
        "counts": {"error": 1, "pending": 0, "ready": 0},
        "held": [],
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
