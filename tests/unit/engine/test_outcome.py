"""Tests what pic reads from the events of the engine."""

import pytest

from pic.core.errors import FailureClass, PicError, PiholeError, SettingsError, with_class
from pic.core.model import RECORD_TYPE
from pic.engine.outcome import Failure, Outcome, counts_as_text
from tests.support.deployed import URN, urn
from tests.support.events import event_line, failure_event, message_event, step_event

A, B, C = "a.example.com", "b.example.com", "c.example.com"


def outcome_of(*lines: str) -> Outcome:
    outcome = Outcome()
    for line in lines:
        outcome.add_line(line)
    return outcome


def test_steps_are_grouped_by_operation_in_the_order_in_which_they_begin() -> None:
    outcome = outcome_of(
        step_event("create", urn(B)),
        step_event("create", urn(A)),
        step_event("create-replacement", urn(C)),
        step_event("same", f"{URN}pulumi:pulumi:Stack::pic-prod"),
        event_line("resOutputsEvent", metadata={"op": "create", "urn": urn(A)}),
    )

    assert outcome == Outcome(
        {
            "create": [urn(B), urn(A)],
            "create-replacement": [urn(C)],
            "same": [f"{URN}pulumi:pulumi:Stack::pic-prod"],
        },
        done=1,
    )
    assert outcome.hosts("create", "create-replacement", "delete") == (A, B, C)
    assert outcome.hosts("same") == ()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Updating (prod)",
        '{"version": 3, "deployment": {}}',
        event_line("preludeEvent", config={}),
        event_line("resourcePreEvent", metadata={"urn": urn(A), "op": "create"}),
        message_event("info", "all is well")[:-9],
        event_line("diagnosticEvent")[:-3] + "7}",
        event_line("summaryEvent", resourceChanges={"create": 2}),
    ],
)
def test_lines_that_are_no_relevant_event_are_ignored(line: str) -> None:
    assert outcome_of(line) == Outcome()


def test_a_failed_resource_has_the_message_of_the_engine_without_colours() -> None:
    outcome = outcome_of(
        step_event("create", urn(A)),
        step_event("create", urn(B)),
        step_event("update", urn(C)),
        step_event("refresh", urn(C)),
        failure_event(B),
        failure_event(A),
        message_event("error", "<{%reset%}>it is wrong<{%reset%}>\n", urn(B)),
        message_event("error", "in two ways", urn(B)),
        message_event("error", "elsewhere", urn(C)),
        message_event("error", "update failed"),
        message_event("warning", "<{%fg 3%}>take care"),
        message_event("info#err", "noise"),
    )

    assert outcome.failures == (
        Failure(A, "the engine gave no reason"),
        Failure(B, "it is wrong\nin two ways"),
    )
    assert list(outcome.other_errors()) == ["elsewhere", "update failed"]
    assert outcome.warnings == ["take care"]
    assert outcome.changed == {"update": 1}


def test_an_outcome_without_events_has_no_failures() -> None:
    assert (outcome_of().failures, list(outcome_of().other_errors()), outcome_of().changed) == (
        (),
        [],
        {},
    )


@pytest.mark.parametrize(
    ("message", "kind", "after"),
    [
        ("the server has received TooManyRequests", FailureClass.RATE_LIMITED, 60),
        ("HTTP 429", FailureClass.RATE_LIMITED, 60),
        ("client rate limiter Wait returned an error", FailureClass.RATE_LIMITED, 60),
        ('PangolinResource "x" is invalid: spec.name: Required value', FailureClass.INVALID, None),
        ('admission webhook "w" denied the request: no', FailureClass.INVALID, None),
        ('"x" is forbidden: denied request: no bad hosts', FailureClass.INVALID, None),
        ('pangolinresources is forbidden: User "x" cannot create', FailureClass.AUTH, None),
        ("Unauthorized", FailureClass.AUTH, None),
        ("dial tcp 10.0.0.1:6443: connection refused", FailureClass.TEMPORARY, None),
        ("port 4290 is taken", FailureClass.TEMPORARY, None),
    ],
)
def test_the_class_of_a_failure_is_read_from_its_message(
    message: str, kind: FailureClass, after: int | None
) -> None:
    failure = Failure(A, message)

    assert (failure.kind, failure.retry_after, failure.target) == (kind, after, "pangolin")


def test_counts_of_operations_are_shown_as_text() -> None:
    assert counts_as_text({}) == ""
    counts = {"update": 2, "create": 3, "delete": 1, "import": 4, "import-replacement": 1}

    assert counts_as_text(counts) == "5 adopted, 3 created, 1 deleted, 2 updated"


def test_a_replacement_is_one_change_in_the_text() -> None:
    counts = {"replace": 5, "create-replacement": 5, "delete-replaced": 5, "discard": 1}

    assert counts_as_text(counts) == "1 discard, 5 replaced"


RECORD = f"{URN}{RECORD_TYPE}::{A}/A"
PIHOLE = f"{URN}pulumi:providers:pihole::pihole"


def test_records_count_as_changed_and_their_failures_keep_their_class() -> None:
    outcome = outcome_of(
        step_event("create", urn(A)),
        step_event("create", RECORD),
        step_event("create", RECORD.replace("/A", "/AAAA")),
        step_event("create", PIHOLE),
        event_line("resOpFailedEvent", metadata={"op": "create", "urn": RECORD}, status=2),
        event_line("resOpFailedEvent", metadata={"op": "create", "urn": PIHOLE}, status=2),
        message_event("error", "it is busy [rateLimited, retry after 30 s]\n", RECORD),
    )
    busy = "it is busy [rateLimited, retry after 30 s]"

    assert outcome.changed == {"create": 2}
    assert outcome.failures == (
        Failure(f"{A}/A", busy, "pihole"),
        Failure("pihole", "the engine gave no reason", "pihole"),
    )
    first = outcome.failures[0]
    assert (first.kind, first.retry_after) == (FailureClass.RATE_LIMITED, 30)
    assert first.plain_message == "it is busy"


@pytest.mark.parametrize(
    ("error", "message", "kind", "after"),
    [
        (PiholeError("away"), "away [temporary]", FailureClass.TEMPORARY, None),
        (PiholeError("no", kind=FailureClass.AUTH), "no [auth]", FailureClass.AUTH, None),
        (
            PiholeError("busy", kind=FailureClass.RATE_LIMITED, retry_after=60),
            "busy [rateLimited, retry after 60 s]",
            FailureClass.RATE_LIMITED,
            60,
        ),
        (
            PiholeError("busy", kind=FailureClass.RATE_LIMITED),
            "busy [rateLimited]",
            FailureClass.RATE_LIMITED,
            60,
        ),
        (SettingsError(["odd"]), "odd [invalid]", FailureClass.INVALID, None),
    ],
)
def test_the_class_of_an_error_survives_its_way_through_the_engine(
    error: PicError, message: str, kind: FailureClass, after: int | None
) -> None:
    failure = Failure(A, with_class(error))

    assert (failure.message, failure.kind, failure.retry_after) == (message, kind, after)


@pytest.mark.parametrize(
    "message",
    [
        "unable to create new content in namespace preview because it is being terminated",
        'server-side apply failed: namespaces "preview" not found',
    ],
)
def test_26_what_fails_because_its_namespace_is_going_is_no_failure(message: str) -> None:
    outcome = outcome_of(
        step_event("create", urn(A)),
        step_event("create", urn(B)),
        failure_event(A),
        failure_event(B),
        message_event("error", message, urn(A)),
        message_event("error", "it is wrong", urn(B)),
    )

    assert outcome.pardoned == (Failure(A, message),)
    assert outcome.failures == (Failure(B, "it is wrong"),)
    assert outcome.changed == {}
