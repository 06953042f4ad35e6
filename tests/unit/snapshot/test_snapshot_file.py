"""What was written is read again, and plans the same."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pic.cluster import listing
from pic.core.errors import ManifestError, SettingsError
from pic.core.model import Plan, Schema
from pic.planning import changes, plan
from pic.planning.ownership import Ownership
from pic.report import text as text_report
from pic.settings.parse import (
    ResourceSchema,
    Settings,
    TargetName,
    parse,
)
from pic.snapshot import assemble, snapshot_file
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.pangolin import SCHEMA_TARGET, SCHEMA_TARGETS
from tests.scenarios import test_scenarios as scenarios
from tests.support.strategies import (
    STACK,
    World,
    damaged_worlds,
    worlds,
)
from tests.unit.planning.test_plan_properties import FEW, all_schemas, all_settings

AUTO = Settings()
NEXT = "pic snapshot --out FILE writes a new one"


def again(seen: RawSnapshot, settings: Settings) -> RawSnapshot:
    text = snapshot_file.document(seen, settings)
    return snapshot_file.read("-", settings, io.BytesIO(text.encode()))


def outcome(
    seen: RawSnapshot, settings: Settings, stack: str = STACK
) -> tuple[Plan, str, str, object]:
    """The whole plan, and what it would change."""
    ownership = Ownership(stack, adopt=settings.adopt)
    snapshot = assemble.snapshot(seen)
    planned = plan.build(snapshot, settings, STACK, ownership)
    found = changes.between(snapshot, planned, STACK, ownership)
    others = [live.key for live in (*found.blocked, *found.predecessors)]
    return planned, text_report.changes(found), found.digest, others


@FEW
@given(damaged_worlds() | worlds(), all_settings, all_schemas)
def test_the_plan_of_what_was_written_is_the_plan_of_what_was_seen(
    world: World, settings: Settings, schema: Schema
) -> None:
    seen = RawSnapshot(world, "cluster-1", schema)

    assert outcome(again(seen, settings), settings) == outcome(seen, settings)


@pytest.mark.parametrize("path", scenarios.SCENARIOS, ids=lambda path: path.stem)
def test_each_scenario_plans_the_same_from_a_file(path: Path) -> None:
    scenario = scenarios.load(path)
    settings, _ = parse(scenario.get("settings", {}), {})
    seen = scenarios.seen(scenario)
    stack = "" if "stack" not in scenario else f"pic.{scenario['stack']}"

    found = outcome(again(seen, settings), settings, stack)

    assert found == outcome(seen, settings, stack)


@FEW
@given(st.data(), worlds(), all_schemas)
def test_the_same_cluster_gives_the_same_bytes_however_it_is_listed(
    data: st.DataObject, world: World, schema: Schema
) -> None:
    text = snapshot_file.document(RawSnapshot(world, "cluster-1", schema), AUTO)
    listed = {kind: data.draw(st.permutations(world[kind])) for kind in reversed(world)}

    assert snapshot_file.document(RawSnapshot(listed, "cluster-1", schema), AUTO) == text
    assert (
        snapshot_file.document(again(RawSnapshot(world, "cluster-1", schema), AUTO), AUTO) == text
    )


SECRET = "hunter2"  # noqa: S105 - what must not be found in a file
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
UNKNOWN = "pangolin.ingress.k8s.io/token"


def salted(value: object, at: str = "") -> object:
    """Every map gets keys that nobody reads; the names of managed fields are no values."""
    if isinstance(value, list):
        return [salted(each, at) for each in value]
    if not isinstance(value, dict) or at == "fieldsV1":
        return value
    inner = {key: salted(each, key) for key, each in value.items()}
    return {**inner, **dict.fromkeys(("data", "tls", "token", APPLIED, UNKNOWN), SECRET)}


@FEW
@given(worlds())
def test_what_nobody_reads_is_not_written(world: World) -> None:
    classes: World = {"IngressClass": [{"metadata": {"name": "pangolin", "annotations": {}}}]}
    salty: Any = {kind: salted(raws) for kind, raws in {**world, **classes}.items()}

    assert SECRET in json.dumps(salty)
    assert SECRET not in snapshot_file.document(RawSnapshot(salty), AUTO)


def test_what_has_the_wrong_shape_keeps_it_emptied() -> None:
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

    assert again(RawSnapshot({"PangolinResource": [wrong]}), AUTO).objects == {
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


def test_of_other_managers_only_the_name_is_written_and_of_services_no_address() -> None:
    theirs = {"manager": "operator", "fieldsV1": {"f:spec": {"f:name": {}}}, "time": "t"}
    ours = {
        "manager": "pic",
        "operation": "Apply",
        "fieldsV1": {
            "f:metadata": {"f:labels": {}},
            "f:spec": {"f:targets": {}, "f:httpConfig": {"f:sso": {"f:deeper": {}}}},
        },
    }
    seen = RawSnapshot(
        {
            "PangolinResource": [{"metadata": {"name": "x", "managedFields": [theirs, ours]}}],
            "Service": [
                {"metadata": {"name": "a"}, "spec": {"clusterIP": "10.0.0.7", "ports": 3}},
                {"metadata": {"name": "b"}, "spec": {"clusterIP": "None", "ports": None}},
            ],
        }
    )

    assert again(seen, AUTO).objects == {
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


def test_a_file_is_one_object_a_line() -> None:
    web = {
        "apiVersion": "networking.k8s.io/v1",
        "spec": {"tls": [{"hosts": ["a.b"]}], "rules": [{"host": "a.b"}]},
        "metadata": {"uid": "u", "name": "web", "namespace": "bb"},
    }
    books = {"annotations": {"x": "y", "pihole.io/hosts": "a"}, "name": "bücher", "namespace": "bb"}
    seen = RawSnapshot({"Service": [], "Ingress": [web, {"metadata": books}]}, "cluster-1", SCHEMA)

    text = snapshot_file.document(seen, AUTO)

    assert text == f'{json.dumps(HEAD)[:-1]}, "objects": {OBJECTS}}}\n'


def problem(tmp_path: Path, content: bytes, settings: Settings = AUTO) -> str:
    path = tmp_path / "snap.json"
    path.write_bytes(content)
    with pytest.raises(ManifestError) as caught:
        snapshot_file.read(str(path), settings, io.BytesIO())
    return str(caught.value).removeprefix(f"{tmp_path}/")


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "snap.json"
    snapshot_file.write(json.dumps({**HEAD, "objects": {"Service": [{}], "Ingress": []}}), path)

    seen = snapshot_file.read(str(path), AUTO, io.BytesIO())

    assert seen == RawSnapshot({"Service": [{}], "Ingress": []}, "cluster-1", SCHEMA)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f":1: it is not JSON, or was cut off; {NEXT}"),
        (b'{"kind":\n"pic', f":2: it is not JSON, or was cut off; {NEXT}"),
        (b"\xff\xfe\xff", f": it is not JSON; {NEXT}"),
        (b"[" * 200_000, f": it is not JSON; {NEXT}"),
        (b"3", f": it is no snapshot of pic; {NEXT}"),
        (b'{"kind": "List"}', f": it is no snapshot of pic; {NEXT}"),
        (b'{"kind": "pic snapshot"}', f": it has version null, and this pic reads 1; {NEXT}"),
    ],
)
def test_what_is_no_snapshot_says_so(tmp_path: Path, content: bytes, message: str) -> None:
    assert problem(tmp_path, content) == f"snap.json{message}"


KINDS = "Ingress, IngressClass, Service, PangolinTunnel, PangolinOrganization, PangolinResource"
FLAGS = "singleTarget, subdomainOptional, tunnelNamespace, protection"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"version": 2}, "it has version 2, and this pic reads 1"),
        ({"clusterId": 3}, "clusterId is no text"),
        ({"listings": None}, "listings is no list of texts"),
        ({"listings": [3]}, "listings is no list of texts"),
        ({"schema": None}, f"schema is not a map of {FLAGS}"),
        ({"schema": {**HEAD["schema"], "protection": 1}}, f"schema is not a map of {FLAGS}"),
        ({"objects": None}, f"objects is not a map of lists of {KINDS}"),
        ({"objects": {"Secret": []}}, f"objects is not a map of lists of {KINDS}"),
        ({"objects": {"Service": {}}}, f"objects is not a map of lists of {KINDS}"),
        ({"objects": {"Service": [3]}}, f"objects is not a map of lists of {KINDS}"),
    ],
)
def test_a_snapshot_of_another_shape_is_refused(
    tmp_path: Path, part: dict[str, object], message: str
) -> None:
    content = json.dumps({**HEAD, "objects": {}, **part}).encode()

    assert problem(tmp_path, content) == f"snap.json: {message}; {NEXT}"


def test_a_snapshot_of_other_settings_is_refused(tmp_path: Path) -> None:
    content = json.dumps({**HEAD, "objects": {}}).encode()

    other = Settings(namespaces=("bb",), ingress_classes=("",))

    assert problem(tmp_path, content, other) == (
        "snap.json: it was written for other settings: it lacks ingressclasses.networking.k8s.io,"
        " lacks ingresses.networking.k8s.io in bb, lacks services in bb,"
        f" also has ingresses.networking.k8s.io, also has services; {NEXT}"
    )


@pytest.mark.parametrize(
    ("setting", "schema"),
    [
        (ResourceSchema.AUTO, SCHEMA),
        (ResourceSchema.TARGETS, SCHEMA_TARGETS),
        (ResourceSchema.TARGET, SCHEMA_TARGET),
    ],
)
def test_a_schema_that_is_set_goes_before_the_one_that_was_seen(
    setting: ResourceSchema, schema: Schema
) -> None:
    settings = Settings(resource_schema=setting)

    assert again(RawSnapshot({}, "cluster-1", SCHEMA), settings) == RawSnapshot(
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
def test_the_listings_are_those_of_the_cluster(settings: Settings) -> None:
    listed = sorted(
        (each.kind.plural, f" in {each.namespace}" if each.namespace else "")
        for each in listing.listings(settings)
    )

    found = [each.partition(" in ") for each in snapshot_file.listings(settings)]

    assert sorted((what.partition(".")[0], sep + where) for what, sep, where in found) == listed


def test_a_file_that_cannot_be_read_names_what_writes_one() -> None:
    with pytest.raises(ManifestError) as caught:
        snapshot_file.read("/nowhere", AUTO, io.BytesIO())

    assert str(caught.value) == f"/nowhere: cannot be read: No such file or directory; {NEXT}"


def test_a_file_that_cannot_be_written_is_told() -> None:
    with pytest.raises(SettingsError) as caught:
        snapshot_file.write("{}", Path("/nowhere/at/all"))

    assert str(caught.value) == "/nowhere/at/all cannot be written: No such file or directory"
