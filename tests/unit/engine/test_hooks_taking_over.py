"""Before an object of the Go controller is changed, its fields become ours."""

from collections.abc import Coroutine
from typing import Any

import pytest

from pic.cluster.listing import StatusError
from pic.core.names import STACK_LABEL
from pic.engine.hooks import Hooks
from tests.unit.engine.test_hooks import (
    CONFLICT,
    PATCHED,
    SEEDS,
    STACK,
    WRITTEN,
    Cluster,
    args,
    called,
    inputs,
    live,
)


def about_to_update(hooks: Hooks) -> Coroutine[Any, Any, None]:
    return hooks.take_over(args(old_inputs=inputs(), new_inputs=inputs()))


def taken(found: object, *refusals: Exception) -> tuple[str | None, list[Any]]:
    """Take an object over, and return the error and what was written."""
    cluster = Cluster(found, *refusals)
    error = called(about_to_update, cluster)
    return None if error is None else str(error), cluster.posted


def test_the_fields_of_the_go_controllers_object_become_ours() -> None:
    assert taken(live([WRITTEN], **SEEDS)) == (None, [PATCHED])


def test_an_object_without_fields_of_others_is_left_as_it_is() -> None:
    assert taken(live([{**WRITTEN, "operation": "Apply"}], **SEEDS)) == (None, [])


@pytest.mark.parametrize("labels", [{STACK_LABEL: STACK}, {**SEEDS, STACK_LABEL: STACK}])
def test_an_object_that_is_ours_already_is_taken_over_again(labels: dict[str, str]) -> None:
    assert taken(live([WRITTEN], **labels)) == (None, [PATCHED])


def test_an_object_that_changes_meanwhile_is_read_again() -> None:
    assert taken(live([WRITTEN], **SEEDS), CONFLICT, CONFLICT) == (None, [PATCHED] * 3)


def test_an_object_that_changes_all_the_time_is_not_taken_over() -> None:
    assert taken(live([WRITTEN], **SEEDS), *[CONFLICT] * 3) == (
        "PangolinResource prod/pic-web keeps changing: not taken over. Scale the Go"
        " controller to 0, then run pic again",
        [PATCHED] * 3,
    )


def test_an_object_that_may_not_be_written_is_not_taken_over() -> None:
    error = StatusError(403, "no")

    assert taken(live([WRITTEN], **SEEDS), error) == (str(error), [PATCHED])


@pytest.mark.parametrize(
    ("labels", "whose"), [({STACK_LABEL: "pic.test"}, "other stack"), ({}, "foreign")]
)
def test_an_object_that_has_become_somebody_elses_is_not_taken_over(
    labels: dict[str, str], whose: str
) -> None:
    assert taken(live([WRITTEN], **labels)) == (
        f"PangolinResource prod/pic-web belongs to another owner ({whose}): not taken over",
        [],
    )


def test_before_the_cluster_is_known_nothing_is_taken_over() -> None:
    error = called(about_to_update, None)

    assert str(error) == "pic does not know its cluster yet, so nothing is taken over"
