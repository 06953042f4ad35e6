"""Tests how a snapshot is built from raw objects."""

from pic.core.ingress import Deletion, Ingress, Service
from pic.core.json_values import Raw
from pic.core.model import LiveResource, Namespace, Snapshot
from pic.core.names import STACK_LABEL, derived_uid
from pic.core.unread import Unreadable
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.pangolin import SCHEMA_TARGET, SCHEMA_TARGETS

NETWORKING = "networking.k8s.io/v1"
PANGOLIN = "tunnel.pangolin.io/v1alpha1"


def body(kind: str, api: str, **more: object) -> Raw:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "x"}, **more}


def test_objects_of_files_are_sorted_by_kind_and_others_are_ignored() -> None:
    objects = {
        "Ingress": [body("Ingress", NETWORKING), body("Ingress", "extensions/v1beta1")],
        "Service": [body("Service", "v1")],
        "PangolinTunnel": [body("PangolinTunnel", PANGOLIN)],
    }
    ignored = [
        body("Ingress", "example.org/v1"),
        body("Ingress", "v1"),
        body("Service", "serving.knative.dev/v1"),
        body("ConfigMap", "v1"),
        {"kind": 7},
        {},
    ]

    raw = assemble.from_documents(
        [*ignored, *objects["Ingress"], *objects["Service"], *objects["PangolinTunnel"]],
        SCHEMA_TARGET,
    )

    assert raw == RawSnapshot(objects, schema=SCHEMA_TARGET)


def test_a_resource_in_a_file_counts_as_live_only_if_pic_created_it_in_a_cluster() -> None:
    ours = {STACK_LABEL: "pic.prod"}
    saved = body("PangolinResource", PANGOLIN, metadata={"labels": ours, "uid": "u"})
    others = [
        body("PangolinResource", PANGOLIN, metadata=metadata)
        for metadata in (
            *({"labels": labels, "uid": "u"} for labels in ({"app": "x"}, None, "x")),
            {"labels": ours},
            "x",
            None,
        )
    ]
    service = body("Service", "v1")
    raw = assemble.from_documents([saved, *others, service], SCHEMA_TARGETS)

    assert raw.objects == {"PangolinResource": [saved, *others], "Service": [service]}
    assert assemble.as_live(raw).objects == {"PangolinResource": [saved], "Service": [service]}


def test_a_kind_that_was_not_read_differs_from_a_kind_without_objects() -> None:
    assert assemble.snapshot(
        RawSnapshot({"Service": [body("Service", "v1")]}, "cluster-1")
    ) == Snapshot(cluster_id="cluster-1", services=(Service("default", "x"),))
    assert assemble.snapshot(RawSnapshot({"PangolinTunnel": []})) == Snapshot(tunnels=())


def test_a_malformed_object_is_reported_with_everything_known_about_it() -> None:
    metadata = {"namespace": "prod", "name": "web", "uid": "u", "creationTimestamp": "2025-01-01"}
    malformed: dict[str, list[Raw]] = {
        "Ingress": [{"metadata": metadata, "spec": 3}, {"metadata": 3}],
        "IngressClass": [{"metadata": {"name": "X"}}],
    }

    assert assemble.snapshot(RawSnapshot(malformed)).unreadable == (
        Unreadable(
            "Ingress",
            "prod",
            "web",
            "spec is a number, not a map",
            uid="u",
            created="2025-01-01T00:00:00+00:00",
        ),
        Unreadable(
            "Ingress",
            "default",
            "",
            "metadata is a number, not a map",
            uid=derived_uid("Ingress", "default", ""),
        ),
        Unreadable(
            "IngressClass",
            "",
            "X",
            "metadata.name 'X' is not a legal name: it contains 'X'",
            uid=derived_uid("IngressClass", "", "X"),
        ),
    )


def test_everything_in_a_namespace_that_is_being_deleted_is_being_deleted_too() -> None:
    deleted, since = "2025-01-01T00:00:00Z", "2025-01-01T00:00:00+00:00"
    places = {"namespace": "old", "name": "x", "uid": "u"}
    own = {**places, "deletionTimestamp": deleted, "finalizers": ["example.org/x"]}
    objects: dict[str, list[Raw]] = {
        "Namespace": [{"metadata": {"name": "old", "deletionTimestamp": deleted}}],
        "Ingress": [{"metadata": places}, {"metadata": {**places, "namespace": "new"}}],
        "PangolinResource": [{"metadata": places}, {"metadata": own}],
    }

    snapshot = assemble.snapshot(RawSnapshot(objects, now=deleted))

    assert snapshot == Snapshot(
        ingresses=(Ingress("old", "x", "u", going=Deletion(since)), Ingress("new", "x", "u")),
        namespaces=(Namespace("old", going=Deletion(since)),),
        live=(
            LiveResource("old", "x", "u", "", going=Deletion(since)),
            LiveResource("old", "x", "u", "", going=Deletion(since, ("example.org/x",))),
        ),
        now=since,
    )
    assert not snapshot.ingresses[0].foreground


def test_a_namespace_in_a_file_is_not_read() -> None:
    assert assemble.from_documents([body("Namespace", "v1")], SCHEMA_TARGETS).objects == {}
