"""Tests how pic takes over the fields of an object of the Go controller before an update."""

from collections.abc import Coroutine
from typing import Any

import pytest

from pic.cluster.listing import StatusError
from pic.core.names import STACK_LABEL
from pic.engine.hooks import Hooks
from tests.support.hooks import (
    OBJECT_PATH,
    PREDECESSOR_FIELDS,
    PREDECESSOR_LABELS,
    STACK,
    OneObjectTransport,
    call_hook,
    hook_args,
    inputs,
    live_object,
)

TAKEN_OVER = {
    "metadata": {
        "resourceVersion": None,
        "managedFields": [{**PREDECESSOR_FIELDS, "manager": "pic", "operation": "Apply"}],
    }
}
PATCHED = ("PATCH", f"{OBJECT_PATH}?fieldManager=pic", TAKEN_OVER)
CONFLICT = StatusError(409, "the object has been modified")


def before_update(hooks: Hooks) -> Coroutine[Any, Any, None]:
    return hooks.take_over(hook_args(old_inputs=inputs(), new_inputs=inputs()))


def take_over(live: object, *refusals: Exception) -> tuple[str | None, list[Any]]:
    """Take an object over, and return the error and the requests."""
    transport = OneObjectTransport(live, *refusals)
    error = call_hook(before_update, transport)
    return None if error is None else str(error), transport.requests


def test_the_fields_of_the_go_controllers_object_become_ours() -> None:
    assert take_over(live_object([PREDECESSOR_FIELDS], **PREDECESSOR_LABELS)) == (None, [PATCHED])


def test_an_object_without_fields_of_others_is_left_as_it_is() -> None:
    assert take_over(
        live_object([{**PREDECESSOR_FIELDS, "operation": "Apply"}], **PREDECESSOR_LABELS)
    ) == (None, [])


@pytest.mark.parametrize(
    "labels", [{STACK_LABEL: STACK}, {**PREDECESSOR_LABELS, STACK_LABEL: STACK}]
)
def test_an_object_that_is_ours_already_is_taken_over_again(labels: dict[str, str]) -> None:
    assert take_over(live_object([PREDECESSOR_FIELDS], **labels)) == (None, [PATCHED])


def test_an_object_that_changes_in_between_is_read_again() -> None:
    assert take_over(
        live_object([PREDECESSOR_FIELDS], **PREDECESSOR_LABELS), CONFLICT, CONFLICT
    ) == (None, [PATCHED] * 3)


def test_an_object_that_keeps_changing_is_not_taken_over() -> None:
    assert take_over(live_object([PREDECESSOR_FIELDS], **PREDECESSOR_LABELS), *[CONFLICT] * 3) == (
        "PangolinResource prod/pic-web keeps changing: not taken over. Scale the Go"
        " controller to 0, then run pic again",
        [PATCHED] * 3,
    )


def test_an_object_that_may_not_be_written_is_not_taken_over() -> None:
    error = StatusError(403, "no")

    assert take_over(live_object([PREDECESSOR_FIELDS], **PREDECESSOR_LABELS), error) == (
        str(error),
        [PATCHED],
    )


@pytest.mark.parametrize(
    ("labels", "owner"), [({STACK_LABEL: "pic.test"}, "other stack"), ({}, "foreign")]
)
def test_an_object_of_another_owner_is_not_taken_over(labels: dict[str, str], owner: str) -> None:
    assert take_over(live_object([PREDECESSOR_FIELDS], **labels)) == (
        f"PangolinResource prod/pic-web belongs to another owner ({owner}): not taken over",
        [],
    )


def test_a_hook_without_a_context_takes_nothing_over() -> None:
    error = call_hook(before_update, None)

    assert str(error) == "pic does not know its cluster yet, so nothing is taken over"
