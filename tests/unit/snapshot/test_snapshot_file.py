"""Tests what a snapshot file contains, and that it plans like the cluster."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pic.cluster import listing
from pic.core.errors import ManifestError, SettingsError
from pic.core.model import Plan
from pic.core.notices import Reason
from pic.core.operator_objects import Schema
from pic.planning import changes
from pic.planning.memory import recall
from pic.planning.ownership import Ownership
from pic.report import text as text_report
from pic.run.targets import build_plan
from pic.settings.kinds import register_namespace
from pic.settings.parse import ResourceSchema, Settings, TargetName, parse
from pic.snapshot import assemble, snapshot_file
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.pangolin import SCHEMA_TARGET, SCHEMA_TARGETS
from tests.support.scenarios import SCENARIOS, load, raw_snapshot
from tests.support.strategies import (
    FEW,
    STACK,
    World,
    all_schemas,
    all_settings,
    damaged_worlds,
    worlds,
)

AUTO = Settings()
# What is wrong with the way in which a file writes an annotation cannot be wrong in a cluster.
ONLY_IN_FILES = frozenset({Reason.ANNOTATION_NOT_TEXT, Reason.DUPLICATE_KEY})
NEXT_STEP = "run pic snapshot --out FILE to write a new one"


def written_and_read(raw: RawSnapshot, settings: Settings) -> RawSnapshot:
    text = snapshot_file.render(raw, settings)
    return snapshot_file.read("-", settings, io.BytesIO(text.encode()))


def outcome(raw: RawSnapshot, settings: Settings, stack: str = STACK) -> tuple[Plan, str, str]:
    """Return the whole plan, and what it would change."""
    ownership = Ownership(stack, adopt=settings.adopt)
    snapshot = assemble.snapshot(raw)
    planned = build_plan(snapshot, settings, STACK, ownership)
    difference = changes.between(snapshot, planned, STACK, recall(snapshot, ownership, settings))
    return planned, text_report.render_changes(difference), difference.digest


@FEW
@given(damaged_worlds() | worlds(), all_settings, all_schemas)
def test_a_snapshot_file_plans_like_the_cluster(
    world: World, settings: Settings, schema: Schema
) -> None:
    raw = RawSnapshot(world, "cluster-1", schema)

    assert outcome(written_and_read(raw, settings), settings) == outcome(raw, settings)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_plans_the_same_from_a_snapshot_file(path: Path) -> None:
    scenario = load(path)
    settings, _ = parse(scenario.get("settings", {}), {})
    # A file of the cluster comes from no manifest files.
    raw = replace(raw_snapshot(scenario), files=None)
    stack = "" if "stack" not in scenario else f"pic.{scenario['stack']}"

    from_file = outcome(written_and_read(raw, settings), settings, stack)
    plan, *changes = outcome(raw, settings, stack)
    notices = tuple(it for it in plan.notices if it.reason not in ONLY_IN_FILES)

    assert from_file == (replace(plan, notices=notices), *changes)


@FEW
@given(st.data(), worlds(), all_schemas)
def test_the_order_of_the_listing_does_not_change_the_file(
    data: st.DataObject, world: World, schema: Schema
) -> None:
    text = snapshot_file.render(RawSnapshot(world, "cluster-1", schema), AUTO)
    listed = {kind: data.draw(st.permutations(world[kind])) for kind in reversed(world)}

    assert snapshot_file.render(RawSnapshot(listed, "cluster-1", schema), AUTO) == text
    assert (
        snapshot_file.render(written_and_read(RawSnapshot(world, "cluster-1", schema), AUTO), AUTO)
        == text
    )


SECRET = "hunter2"  # noqa: S105 - a value that no file may contain
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
UNKNOWN = "pangolin.ingress.k8s.io/token"


def salted(value: object, at: str = "") -> object:
    """Add keys that planning does not read to every map, except to the names in managedFields."""
    if isinstance(value, list):
        return [salted(item, at) for item in value]
    if not isinstance(value, dict) or at == "fieldsV1":
        return value
    inner = {key: salted(item, key) for key, item in value.items()}
    return {**inner, **dict.fromkeys(("data", "tls", "token", APPLIED, UNKNOWN), SECRET)}


@FEW
@given(worlds())
def test_a_file_contains_nothing_that_planning_does_not_read(world: World) -> None:
    classes: World = {"IngressClass": [{"metadata": {"name": "pangolin", "annotations": {}}}]}
    salted_world: Any = {kind: salted(bodies) for kind, bodies in {**world, **classes}.items()}

    assert SECRET in json.dumps(salted_world)
    assert SECRET not in snapshot_file.render(RawSnapshot(salted_world), AUTO)


def test_a_value_of_the_wrong_type_keeps_its_type_and_loses_its_content() -> None:
    wrong = {
        "metadata": {
            "name": {"deep": SECRET},
            "uid": [SECRET],
            "labels": [SECRET],
            "ownerReferences": SECRET,
            "managedFields": [{"manager": "pic", "fieldsV1": {"f:spec": 3}}, SECRET, None],
        },
        "spec": {"targets": {"ip": SECRET}, "httpConfig": True, "tunnelRef": {"x": SECRET}},
        "status": {},
    }

    assert written_and_read(RawSnapshot({"PangolinResource": [wrong]}), AUTO).objects == {
        "PangolinResource": [
            {
                "metadata": {
                    "name": {"": None},
                    "uid": [None],
                    "labels": [None],
                    "ownerReferences": "",
                    "managedFields": [{"manager": "pic", "fieldsV1": {"f:spec": 0}}, "", None],
                },
                "spec": {"targets": {"": None}, "httpConfig": False, "tunnelRef": {"": None}},
                "status": {},
            }
        ]
    }


def test_a_file_contains_only_the_name_of_other_managers_and_no_address_of_a_service() -> None:
    theirs = {"manager": "operator", "fieldsV1": {"f:spec": {"f:name": {}}}, "time": "t"}
    ours = {
        "manager": "pic",
        "operation": "Apply",
        "fieldsV1": {
            "f:metadata": {"f:labels": {}},
            "f:spec": {"f:targets": {}, "f:httpConfig": {"f:sso": {"f:deeper": {}}}},
        },
    }
    users = {"manager": "kubectl-edit", "fieldsV1": {"f:spec": {"f:name": {}}}, "time": "t"}
    managers = [theirs, ours, users]
    raw = RawSnapshot(
        {
            "PangolinResource": [{"metadata": {"name": "x", "managedFields": managers}}],
            "Service": [
                {"metadata": {"name": "a"}, "spec": {"clusterIP": "10.0.0.7", "ports": 3}},
                {"metadata": {"name": "b"}, "spec": {"clusterIP": "None", "ports": None}},
            ],
        }
    )

    assert written_and_read(raw, AUTO).objects == {
        "PangolinResource": [
            {
                "metadata": {
                    "name": "x",
                    "managedFields": [
                        {"manager": "operator"},
                        {
                            "manager": "pic",
                            "fieldsV1": {
                                "f:spec": {"f:httpConfig": {"f:sso": {}}, "f:targets": {}}
                            },
                        },
                        {"manager": "kubectl-edit", "fieldsV1": {"f:spec": {"f:name": {}}}},
                    ],
                }
            }
        ],
        "Service": [
            {"metadata": {"name": "a"}, "spec": {"clusterIP": None, "ports": 0}},
            {"metadata": {"name": "b"}, "spec": {"clusterIP": "None", "ports": None}},
        ],
    }


HEAD: dict[str, Any] = {
    "kind": "pic snapshot",
    "version": 1,
    "clusterId": "cluster-1",
    "schema": {
        "singleTarget": False,
        "subdomainOptional": True,
        "tunnelNamespace": True,
        "protection": False,
        "domainId": True,
    },
    "listings": [
        "ingresses.networking.k8s.io",
        "pangolinorganizations.tunnel.pangolin.io",
        "pangolinresources.tunnel.pangolin.io",
        "pangolintunnels.tunnel.pangolin.io",
        "services",
    ],
}
OBJECTS = r"""{
"Ingress": [
{"metadata": {"namespace": "bb", "name": "b\u00fccher", "annotations": {"pihole.io/hosts": "a"}}},
{"metadata": {"namespace": "bb", "name": "web", "uid": "u"}, "spec": {"rules": [{"host": "a.b"}]}}
],
"Service": [

]
}"""
SCHEMA = Schema(subdomain_optional=True, protection=False)


def test_a_file_has_one_object_per_line() -> None:
    web = {
        "apiVersion": "networking.k8s.io/v1",
        "spec": {"tls": [{"hosts": ["a.b"]}], "rules": [{"host": "a.b"}]},
        "metadata": {"uid": "u", "name": "web", "namespace": "bb"},
    }
    books = {"annotations": {"x": "y", "pihole.io/hosts": "a"}, "name": "bücher", "namespace": "bb"}
    raw = RawSnapshot({"Service": [], "Ingress": [web, {"metadata": books}]}, "cluster-1", SCHEMA)

    text = snapshot_file.render(raw, AUTO)

    assert text == f'{json.dumps(HEAD)[:-1]}, "objects": {OBJECTS}}}\n'


def problem(tmp_path: Path, content: bytes, settings: Settings = AUTO) -> str:
    path = tmp_path / "snap.json"
    path.write_bytes(content)
    with pytest.raises(ManifestError) as caught:
        snapshot_file.read(str(path), settings, io.BytesIO())
    return str(caught.value).removeprefix(f"{tmp_path}/")


def test_a_written_file_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "snap.json"
    snapshot_file.write(json.dumps({**HEAD, "objects": {"Service": [{}], "Ingress": []}}), path)

    raw = snapshot_file.read(str(path), AUTO, io.BytesIO())

    assert raw == RawSnapshot({"Service": [{}], "Ingress": []}, "cluster-1", SCHEMA)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f":1: the file is not JSON, or it was cut off; {NEXT_STEP}"),
        (b'{"kind":\n"pic', f":2: the file is not JSON, or it was cut off; {NEXT_STEP}"),
        (b"\xff\xfe\xff", f": the file is not JSON; {NEXT_STEP}"),
        (b"[" * 200_000, f": the file is not JSON; {NEXT_STEP}"),
        (b"3", f": the file is not a snapshot of pic; {NEXT_STEP}"),
        (b'{"kind": "List"}', f": the file is not a snapshot of pic; {NEXT_STEP}"),
        (
            b'{"kind": "pic snapshot"}',
            f": the file has version null, but pic reads 1; {NEXT_STEP}",
        ),
    ],
)
def test_a_file_that_is_not_a_snapshot_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    assert problem(tmp_path, content) == f"snap.json{message}"


KINDS = (
    "ConfigMap, Ingress, IngressClass, Service, Namespace, PangolinTunnel, PangolinOrganization,"
    " PangolinResource"
)
FLAGS = "singleTarget, subdomainOptional, tunnelNamespace, protection"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"version": 2}, "the file has version 2, but pic reads 1"),
        ({"clusterId": 3}, "clusterId is not text"),
        ({"listings": None}, "listings is not a list of texts"),
        ({"listings": [3]}, "listings is not a list of texts"),
        ({"schema": None}, f"schema is not a map with {FLAGS}"),
        (
            {"schema": {**HEAD["schema"], "protection": 1}},
            f"schema is not a map with {FLAGS}, domainId",
        ),
        (
            {"schema": {**HEAD["schema"], "domainId": None}},
            f"schema is not a map with {FLAGS}, domainId",
        ),
        ({"objects": None}, f"objects is not a map of lists of {KINDS}"),
        ({"objects": {"Secret": []}}, f"objects is not a map of lists of {KINDS}"),
        ({"objects": {"Service": {}}}, f"objects is not a map of lists of {KINDS}"),
        ({"objects": {"Service": [3]}}, f"objects is not a map of lists of {KINDS}"),
    ],
)
def test_a_malformed_snapshot_is_refused(
    tmp_path: Path, part: dict[str, object], message: str
) -> None:
    content = json.dumps({**HEAD, "objects": {}, **part}).encode()

    assert problem(tmp_path, content) == f"snap.json: {message}; {NEXT_STEP}"


def test_a_snapshot_of_an_earlier_version_can_be_read() -> None:
    earlier = {key: HEAD["schema"][key] for key in HEAD["schema"] if key != "domainId"}
    content = json.dumps({**HEAD, "schema": earlier, "objects": {}}).encode()

    assert snapshot_file.read("-", AUTO, io.BytesIO(content)).schema == SCHEMA


def test_a_snapshot_for_other_settings_is_refused(tmp_path: Path) -> None:
    content = json.dumps({**HEAD, "objects": {}}).encode()

    other = Settings(namespaces=("bb",), ingress_classes=("",))

    assert problem(tmp_path, content, other) == (
        "snap.json: the file was written for other settings: it lacks"
        " ingressclasses.networking.k8s.io, lacks ingresses.networking.k8s.io in bb,"
        " lacks services in bb,"
        f" also has ingresses.networking.k8s.io, also has services; {NEXT_STEP}"
    )


@pytest.mark.parametrize(
    ("setting", "schema"),
    [
        (ResourceSchema.AUTO, SCHEMA),
        (ResourceSchema.TARGETS, SCHEMA_TARGETS),
        (ResourceSchema.TARGET, SCHEMA_TARGET),
    ],
)
def test_a_schema_in_the_settings_wins_over_the_one_in_the_file(
    setting: ResourceSchema, schema: Schema
) -> None:
    settings = Settings(resource_schema=setting)

    assert written_and_read(RawSnapshot({}, "cluster-1", SCHEMA), settings) == RawSnapshot(
        {}, "cluster-1", schema
    )


@pytest.mark.parametrize(
    "settings",
    [
        AUTO,
        Settings(targets=(TargetName.PIHOLE,), namespaces=("aa", "bb")),
        Settings(ingress_classes=("", "x"), tunnel_namespace="net", tunnel_namespaces=("a",)),
    ],
)
def test_a_file_names_the_listings_that_a_run_makes(settings: Settings) -> None:
    listed = sorted(
        (one.kind.plural, f" in {one.namespace}" if one.namespace else "")
        for one in listing.listings(settings)
    )

    if namespace := register_namespace(settings):
        listed = sorted([*listed, ("configmaps", f" in {namespace}")])

    parts = [name.partition(" in ") for name in snapshot_file.listing_names(settings)]

    assert sorted((what.partition(".")[0], sep + where) for what, sep, where in parts) == listed


def test_the_error_for_an_unreadable_file_names_the_command_that_writes_one() -> None:
    with pytest.raises(ManifestError) as caught:
        snapshot_file.read("/nowhere", AUTO, io.BytesIO())

    assert str(caught.value) == f"/nowhere: cannot be read: No such file or directory; {NEXT_STEP}"


def test_a_file_that_cannot_be_written_is_an_error() -> None:
    with pytest.raises(SettingsError) as caught:
        snapshot_file.write("{}", Path("/nowhere/at/all"))

    assert str(caught.value) == "/nowhere/at/all cannot be written: No such file or directory"


def test_a_snapshot_file_has_the_time_of_its_reading_and_the_phases_of_namespaces() -> None:
    body = {
        "metadata": {"name": "old", "deletionTimestamp": "t", "labels": {"team": "a"}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Terminating", "conditions": []},
    }
    raw = RawSnapshot({"Namespace": [body]}, "cluster-1", now="2025-01-01T00:00:00Z")

    read = written_and_read(raw, AUTO)

    assert read.now == "2025-01-01T00:00:00Z"
    assert read.objects["Namespace"] == [
        {
            "metadata": {"name": "old", "deletionTimestamp": "t"},
            "status": {"phase": "Terminating"},
        }
    ]
