"""What is read from the engine's export of a stack."""

from typing import Any

import pytest

from pic.core.json_values import MalformedError
from pic.core.model import RECORD_TYPE
from pic.engine.backend import state
from pic.engine.backend.state import Remembered, RememberedRecord, StackState
from tests.support.deployed import TYPE, URN, urn

A, B = "a.example.com", "b.example.com"


def entry(host: str, name: str, **more: object) -> dict[str, Any]:
    return {"urn": urn(host), "type": TYPE, "id": f"prod/{name}", **more}


def exported(*resources: object) -> dict[str, Any]:
    return {"version": 3, "deployment": {"manifest": {}, "resources": list(resources)}}


def test_resources_are_found_by_host_and_outputs_at_the_stack() -> None:
    stack = {"urn": f"{URN}::pic-prod", "type": "pulumi:pulumi:Stack", "outputs": {"resources": 1}}
    provider = {"urn": f"{URN}::cluster", "type": "pulumi:providers:kubernetes", "id": "x"}
    inputs = {"spec": {"name": A}}
    replaced = entry(B, "old", delete=True)

    found = state.read(
        exported(stack, provider, entry(A, "a", inputs=inputs), replaced, entry(B, "new"))
    )

    assert found == StackState(
        {
            A: Remembered(urn(A), ("prod", "a"), inputs),
            B: Remembered(urn(B), ("prod", "new"), {}),
        },
        {"resources": 1},
    )
    assert found.keys == {("prod", "a"), ("prod", "new")}


@pytest.mark.parametrize(
    "export", [{}, {"deployment": None}, {"deployment": {"resources": None}}, exported()]
)
def test_a_stack_that_was_never_deployed_remembers_nothing(export: dict[str, Any]) -> None:
    assert state.read(export) == StackState()
    assert StackState().keys == frozenset()


@pytest.mark.parametrize(
    "export", [{"deployment": [1]}, {"deployment": {"resources": {"a": 1}}}, exported("x")]
)
def test_another_shape_is_an_error(export: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        state.read(export)


def test_records_are_remembered_by_their_ids() -> None:
    kind, values = RECORD_TYPE, {"host": A, "ip": "10.0.0.1"}
    urn = f"urn:pulumi:prod::pic::{kind}::{A}/A"
    there = {"type": kind, "urn": urn, "id": f"{A}/A", "outputs": values}

    found = state.read(exported(there, {**there, "delete": True, "outputs": None}))

    assert found == StackState(records={f"{A}/A": RememberedRecord(urn, A, "10.0.0.1")})
