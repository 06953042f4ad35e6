"""Tests how pic reads the state from the export of a stack."""

from typing import Any

import pytest

from pic.core.json_values import MalformedError
from pic.core.model import RECORD_TYPE
from pic.engine.backend import state
from pic.engine.backend.state import StackState, StateRecord, StateResource
from tests.support.deployed import TYPE, URN, urn

A, B = "a.example.com", "b.example.com"


def resource_entry(host: str, name: str, **more: object) -> dict[str, Any]:
    return {"urn": urn(host), "type": TYPE, "id": f"prod/{name}", **more}


def export_of(*resources: object) -> dict[str, Any]:
    return {"version": 3, "deployment": {"manifest": {}, "resources": list(resources)}}


def test_the_state_has_the_resources_by_host_and_the_outputs_of_the_stack() -> None:
    stack = {"urn": f"{URN}::pic-prod", "type": "pulumi:pulumi:Stack", "outputs": {"resources": 1}}
    provider = {"urn": f"{URN}::cluster", "type": "pulumi:providers:kubernetes", "id": "x"}
    inputs = {"spec": {"name": A}}
    replaced = resource_entry(B, "old", delete=True)

    stack_state = state.read(
        export_of(
            stack,
            provider,
            resource_entry(A, "a", inputs=inputs),
            replaced,
            resource_entry(B, "new"),
        )
    )

    assert stack_state == StackState(
        {
            A: StateResource(urn(A), ("prod", "a"), inputs),
            B: StateResource(urn(B), ("prod", "new"), {}),
        },
        {"resources": 1},
    )
    assert stack_state.identities == {("prod", "a"), ("prod", "new")}


@pytest.mark.parametrize(
    "export", [{}, {"deployment": None}, {"deployment": {"resources": None}}, export_of()]
)
def test_a_stack_that_was_never_deployed_has_an_empty_state(export: dict[str, Any]) -> None:
    assert state.read(export) == StackState()
    assert StackState().identities == frozenset()


@pytest.mark.parametrize(
    "export", [{"deployment": [1]}, {"deployment": {"resources": {"a": 1}}}, export_of("x")]
)
def test_an_export_of_another_shape_is_an_error(export: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        state.read(export)


def test_the_state_has_the_records_by_id() -> None:
    kind, values = RECORD_TYPE, {"host": A, "ip": "10.0.0.1"}
    record_urn = f"urn:pulumi:prod::pic::{kind}::{A}/A"
    record = {"type": kind, "urn": record_urn, "id": f"{A}/A", "outputs": values}

    stack_state = state.read(export_of(record, {**record, "delete": True, "outputs": None}))

    assert stack_state == StackState(records={f"{A}/A": StateRecord(record_urn, A, "10.0.0.1")})


def test_24_the_state_has_the_markers_of_records_and_the_hosts_without_one() -> None:
    marked = {"host": A, "ip": "10.0.0.1", "marker": "k8s:c.s"}
    entries = [
        {"type": RECORD_TYPE, "urn": "urn", "id": f"{outputs['host']}/A", "outputs": outputs}
        for outputs in (marked, {"host": B, "ip": "10.0.0.2"})
    ]

    stack_state = state.read(export_of(*entries))

    assert [record.marker for record in stack_state.records.values()] == ["k8s:c.s", ""]
    assert stack_state.unmarked_hosts == {B}
