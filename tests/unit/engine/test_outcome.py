"""What becomes of an engine run, told from the lines that the engine writes."""

import json

import pytest

from pic.core.errors import (
    FailureClass,
    PicError,
    PiholeError,
    SettingsError,
    with_class,
)
from pic.core.model import RECORD_TYPE
from pic.engine.outcome import Failure, Outcome, counted
from tests.support.deployed import URN, urn

A, B, C = "a.example.com", "b.example.com", "c.example.com"


def line(name: str, **event: object) -> str:
    body = {"sequence": 1, "timestamp": 1700000000, name: event}
    return json.dumps(body, separators=(",", ":"))


def begun(operation: str, name: str) -> str:
    return line("resourcePreEvent", metadata={"op": operation, "urn": name, "new": {"id": "x"}})


def failed(host: str) -> str:
    return line("resOpFailedEvent", metadata={"op": "create", "urn": urn(host)}, status=2)


def said(severity: str, message: str, name: str = "") -> str:
    about = {"urn": name} if name else {}
    return line("diagnosticEvent", **about, message=message, severity=severity, color="never")


def fed(*lines: str) -> Outcome:
    outcome = Outcome()
    for each in lines:
        outcome.feed(each)
    return outcome


def test_steps_are_kept_by_operation_as_they_begin() -> None:
    outcome = fed(
        begun("create", urn(B)),
        begun("create", urn(A)),
        begun("create-replacement", urn(C)),
        begun("same", f"{URN}pulumi:pulumi:Stack::pic-prod"),
        line("resOutputsEvent", metadata={"op": "create", "urn": urn(A)}),
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
    "words",
    [
        "",
        "Updating (prod)",
        '{"version": 3, "deployment": {}}',
        line("preludeEvent", config={}),
        line("resourcePreEvent", metadata={"urn": urn(A), "op": "create"}),
        said("info", "all is well")[:-9],
        line("diagnosticEvent")[:-3] + "7}",
        line("summaryEvent", resourceChanges={"create": 2}),
    ],
)
def test_what_is_no_event_that_matters_is_passed_over(words: str) -> None:
    assert fed(words) == Outcome()


def test_a_failed_resource_has_the_words_of_the_engine_without_their_colours() -> None:
    outcome = fed(
        begun("create", urn(A)),
        begun("create", urn(B)),
        begun("update", urn(C)),
        begun("refresh", urn(C)),
        failed(B),
        failed(A),
        said("error", "<{%reset%}>it is wrong<{%reset%}>\n", urn(B)),
        said("error", "in two ways", urn(B)),
        said("error", "elsewhere", urn(C)),
        said("error", "update failed"),
        said("warning", "<{%fg 3%}>take care"),
        said("info#err", "noise"),
    )

    assert outcome.failures == (
        Failure(A, "the engine gave no reason"),
        Failure(B, "it is wrong\nin two ways"),
    )
    assert list(outcome.unplaced()) == ["elsewhere", "update failed"]
    assert outcome.warnings == ["take care"]
    assert outcome.changed == {"update": 1}


def test_a_run_without_failures_has_none() -> None:
    assert (fed().failures, list(fed().unplaced()), fed().changed) == ((), [], {})


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
def test_a_message_tells_whether_trying_again_makes_sense(
    message: str, kind: FailureClass, after: int | None
) -> None:
    failure = Failure(A, message)

    assert (failure.kind, failure.retry_after, failure.target) == (kind, after, "pangolin")


def test_operations_are_counted_in_words() -> None:
    assert counted({}) == ""
    assert counted({"update": 2, "create": 3, "delete": 1, "import": 4, "replace": 5}) == (
        "4 adopted, 3 created, 1 deleted, 5 replace, 2 updated"
    )


RECORD = f"{URN}{RECORD_TYPE}::{A}/A"
PIHOLE = f"{URN}pulumi:providers:pihole::pihole"


def test_records_are_counted_and_their_failures_keep_their_class() -> None:
    outcome = fed(
        begun("create", urn(A)),
        begun("create", RECORD),
        begun("create", RECORD.replace("/A", "/AAAA")),
        begun("create", PIHOLE),
        line("resOpFailedEvent", metadata={"op": "create", "urn": RECORD}, status=2),
        line("resOpFailedEvent", metadata={"op": "create", "urn": PIHOLE}, status=2),
        said("error", "it is busy [rateLimited, retry after 30 s]\n", RECORD),
    )
    busy = "it is busy [rateLimited, retry after 30 s]"

    assert outcome.changed == {"create": 2}
    assert outcome.failures == (
        Failure(f"{A}/A", busy, "pihole"),
        Failure("pihole", "the engine gave no reason", "pihole"),
    )
    first = outcome.failures[0]
    assert (first.kind, first.retry_after) == (FailureClass.RATE_LIMITED, 30)
    assert first.words == "it is busy"


@pytest.mark.parametrize(
    ("error", "words", "kind", "after"),
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
def test_the_class_of_an_error_survives_the_way_through_the_engine(
    error: PicError, words: str, kind: FailureClass, after: int | None
) -> None:
    told = Failure(A, with_class(error))

    assert (told.message, told.kind, told.retry_after) == (words, kind, after)
