"""Tests how objects of files replace live ones, are removed, and are limited to namespaces."""

from pic.core.json_values import Raw
from pic.snapshot import overlay
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.pangolin import SCHEMA_TARGET

PANGOLIN = "tunnel.pangolin.io/v1alpha1"


def named(kind: str, namespace: str, name: str) -> Raw:
    return {"kind": kind, "metadata": {"namespace": namespace, "name": name}}


def test_a_file_changes_an_object_but_not_its_identity_or_status() -> None:
    identity = {
        "uid": "u",
        "creationTimestamp": "t",
        "deletionTimestamp": "d",
        "finalizers": ["f"],
    }
    live = {
        "metadata": {"name": "x", "labels": {"old": "y"}, **identity},
        "spec": 1,
        "status": "s",
    }
    file = {"metadata": {"name": "x", "uid": "forged", "labels": {"new": "y"}}, "spec": 2}
    new = {"metadata": {"name": "y", "uid": "forged", "creationTimestamp": "forged"}, "spec": 3}
    odd: list[Raw] = [{"metadata": {"name": 1}}, {"metadata": []}]

    merged = overlay.lay_over(
        RawSnapshot({"Service": [live], "Ingress": [dict(odd[0])]}, "cluster-1", SCHEMA_TARGET),
        RawSnapshot({"Service": [file, new], "Ingress": odd, "PangolinTunnel": [file]}),
    )

    metadata = {"name": "x", "labels": {"new": "y"}, **identity}
    assert merged == RawSnapshot(
        {
            "Service": [
                {"metadata": metadata, "spec": 2, "status": "s"},
                {"metadata": {"name": "y"}, "spec": 3},
            ],
            "Ingress": [odd[0], odd[0], odd[1]],
        },
        "cluster-1",
        SCHEMA_TARGET,
    )


def test_files_do_not_change_live_resources() -> None:
    resource = {"apiVersion": PANGOLIN, "kind": "PangolinResource", "metadata": {"name": "x"}}
    live = RawSnapshot({"PangolinResource": [resource]})

    assert overlay.lay_over(live, RawSnapshot({"PangolinResource": []})) == live


def test_a_removed_object_is_gone_unless_it_is_in_another_file() -> None:
    web, api, elsewhere = (
        named("Ingress", "prod", "web"),
        named("Ingress", "prod", "api"),
        named("Ingress", "team", "web"),
    )
    odd: Raw = {"metadata": []}
    service, resource = named("Service", "prod", "web"), named("PangolinResource", "prod", "pic")
    live = RawSnapshot(
        {
            "Ingress": [web, api, elsewhere, odd],
            "Service": [service],
            "PangolinResource": [resource],
        },
        "cluster-1",
        SCHEMA_TARGET,
    )
    removed = RawSnapshot(
        {
            "Ingress": [
                named("Ingress", "prod", "web"),
                named("Ingress", "prod", "api"),
                dict(odd),
            ],
            "Service": [named("Service", "prod", "other")],
            "PangolinResource": [resource],
            "PangolinTunnel": [named("PangolinTunnel", "prod", "x")],
        }
    )
    renamed = RawSnapshot({"Ingress": [named("Ingress", "prod", "api")]})

    remaining = overlay.remove(live, removed, unless=renamed)

    assert remaining == RawSnapshot(
        {**live.objects, "Ingress": [api, elsewhere, odd]}, "cluster-1", SCHEMA_TARGET
    )


def test_objects_count_only_in_the_namespaces_that_a_live_run_reads() -> None:
    here, elsewhere = named("Ingress", "prod", "web"), named("Ingress", "team", "web")
    odd: Raw = {"metadata": []}
    tunnel = named("PangolinTunnel", "team", "x")
    files = RawSnapshot(
        {"Ingress": [here, elsewhere, odd], "PangolinTunnel": [tunnel]}, schema=SCHEMA_TARGET
    )

    restricted = overlay.restrict(files, {"Ingress": ("prod", "dev")})

    assert restricted == RawSnapshot(
        {"Ingress": [here, odd], "PangolinTunnel": [tunnel]}, schema=SCHEMA_TARGET
    )
