"""Tests that the API server accepts every object that pic can plan, without pruning fields."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from dev.controlplane import ControlPlane
from dev.controlplane.api import APPLY
from pic.cluster import listing
from pic.cluster.listing import PANGOLIN, StatusError, Transport
from pic.core.errors import ClusterError
from pic.core.model import Resource
from pic.core.operator_objects import Schema
from pic.planning.ownership import Ownership
from pic.run.targets import build_plan
from pic.run.targets.pangolin import declaration
from pic.settings.parse import Settings
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.pangolin import SCHEMA_TARGET, SCHEMA_TARGETS
from tests.support.admin_api import api_of
from tests.support.strategies import NAMESPACES, STACK, World, sound_worlds, worlds

MIN_OBJECTS = 300


def connect(plane: ControlPlane) -> Transport:
    api = api_of(plane)
    for namespace in NAMESPACES:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        path = f"/api/v1/namespaces/{namespace}?fieldManager=test"
        api.request("PATCH", path, body, APPLY)
    return listing.connect(Settings(), {"KUBECONFIG": str(plane.kubeconfig)})


def planned_resources(world: World, schema: Schema) -> Iterator[Resource]:
    """Yield the planned resources, without held ones, which the API server already has."""
    snapshot = assemble.snapshot(RawSnapshot(world, schema=schema))
    plan = build_plan(snapshot, Settings(), STACK, Ownership(STACK))
    return (resource for resource in plan.resources if not resource.held)


def refusal(transport: Transport, resource: Resource) -> str | None:
    """Return why the API server would refuse a resource, or None; it stores nothing."""
    path = f"{PANGOLIN}/namespaces/{resource.namespace}/pangolinresources"
    body = declaration.declaration(resource, Settings()).inputs
    try:
        transport.request("POST", f"{path}?dryRun=All&fieldValidation=Strict", body)
    except (StatusError, ClusterError) as error:
        return f"{error}: {json.dumps(body)}"
    return None


@pytest.mark.parametrize("schema", [SCHEMA_TARGETS, SCHEMA_TARGET], ids=["targets", "target"])
def test_the_api_server_accepts_every_planned_object(
    request: pytest.FixtureRequest, schema: Schema
) -> None:
    fixture = "older_control_plane" if schema.single_target else "control_plane"
    transport = connect(request.getfixturevalue(fixture))
    refusals: list[str | None] = []

    @settings(
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=300,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(world=sound_worlds() | sound_worlds() | worlds())
    def check(world: World) -> None:
        refusals.extend(
            refusal(transport, resource) for resource in planned_resources(world, schema)
        )

    check()

    assert [reason for reason in refusals if reason] == []
    assert len(refusals) >= MIN_OBJECTS
