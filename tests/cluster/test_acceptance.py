"""The API server takes every object that the planner can come up with, and prunes nothing of it."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from dev.controlplane import ControlPlane
from pic.cluster import listing
from pic.cluster.listing import PANGOLIN, StatusError, Transport
from pic.core.errors import ClusterError
from pic.core.model import Resource, Schema
from pic.planning.ownership import Ownership
from pic.run.targets import build_plan
from pic.run.targets.pangolin import declaration
from pic.settings.parse import Settings
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.pangolin import SCHEMA_TARGET, SCHEMA_TARGETS
from tests.support.strategies import (
    NAMESPACES,
    STACK,
    World,
    sound_worlds,
    worlds,
)

WANTED = 300


def connected(plane: ControlPlane) -> Transport:
    for namespace in NAMESPACES:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        plane.kubectl("apply", "--server-side", "--filename", "-", input=json.dumps(body))
    return listing.connect(Settings(), {"KUBECONFIG": str(plane.kubeconfig)})


def planned(world: World, schema: Schema) -> Iterator[Resource]:
    """What is made anew; a held object is what the API server has already."""
    snapshot = assemble.snapshot(RawSnapshot(world, schema=schema))
    found = build_plan(snapshot, Settings(), STACK, Ownership(STACK))
    return (each for each in found.resources if not each.held)


def refused(transport: Transport, resource: Resource) -> str | None:
    """Why the API server would not take it as it is, or None; nothing is stored."""
    place = f"{PANGOLIN}/namespaces/{resource.namespace}/pangolinresources"
    body = declaration.declaration(resource, Settings()).inputs
    try:
        transport.request("POST", f"{place}?dryRun=All&fieldValidation=Strict", body)
    except (StatusError, ClusterError) as error:
        return f"{error}: {json.dumps(body)}"
    return None


@pytest.mark.parametrize("schema", [SCHEMA_TARGETS, SCHEMA_TARGET], ids=["targets", "target"])
def test_every_planned_object_is_accepted_whole(
    request: pytest.FixtureRequest, schema: Schema
) -> None:
    fixture = "older_control_plane" if schema.single_target else "control_plane"
    transport = connected(request.getfixturevalue(fixture))
    tried: list[str | None] = []

    @settings(
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=300,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(world=sound_worlds() | sound_worlds() | worlds())
    def all_of(world: World) -> None:
        tried.extend(refused(transport, each) for each in planned(world, schema))

    all_of()

    assert [each for each in tried if each] == []
    assert len(tried) >= WANTED
