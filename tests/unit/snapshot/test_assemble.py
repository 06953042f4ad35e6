from pic.core.json_values import Raw
from pic.core.model import Service, Snapshot, Unreadable
from pic.core.names import STACK_LABEL, derived_uid
from pic.snapshot import assemble, overlay
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.pangolin import SCHEMA_TARGET, SCHEMA_TARGETS

NETWORKING = "networking.k8s.io/v1"
PANGOLIN = "tunnel.pangolin.io/v1alpha1"


def raw(kind: str, api: str, **more: object) -> Raw:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "x"}, **more}


def test_files_are_sorted_by_kind_and_group() -> None:
    kept = {
        "Ingress": [raw("Ingress", NETWORKING), raw("Ingress", "extensions/v1beta1")],
        "Service": [raw("Service", "v1")],
        "PangolinTunnel": [raw("PangolinTunnel", PANGOLIN)],
    }
    others = [
        raw("Ingress", "example.org/v1"),
        raw("Ingress", "v1"),
        raw("Service", "serving.knative.dev/v1"),
        raw("ConfigMap", "v1"),
        {"kind": 7},
        {},
    ]

    seen = assemble.from_documents(
        [*others, *kept["Ingress"], *kept["Service"], *kept["PangolinTunnel"]], SCHEMA_TARGET
    )

    assert seen == RawSnapshot(kept, schema=SCHEMA_TARGET)


def test_of_resources_in_files_only_those_with_a_stack_label_are_live() -> None:
    labels = [{STACK_LABEL: "pic.prod"}, {"app": "x"}, None, "x"]
    found = [raw("PangolinResource", PANGOLIN, metadata={"labels": each}) for each in labels]
    odd = [raw("PangolinResource", PANGOLIN, metadata=each) for each in ("x", None)]

    seen = assemble.from_documents([*found, *odd], SCHEMA_TARGETS)

    assert seen.objects == {"PangolinResource": [found[0]]}


def test_a_kind_that_was_not_looked_at_is_not_empty() -> None:
    assert assemble.snapshot(
        RawSnapshot({"Service": [raw("Service", "v1")]}, "cluster-1")
    ) == Snapshot(cluster_id="cluster-1", services=(Service("default", "x"),))
    assert assemble.snapshot(RawSnapshot({"PangolinTunnel": []})) == Snapshot(tunnels=())


def test_an_object_of_wrong_shape_is_set_apart_with_all_that_can_be_told_of_it() -> None:
    known = {"namespace": "prod", "name": "web", "uid": "u", "creationTimestamp": "2025-01-01"}
    wrong: dict[str, list[Raw]] = {
        "Ingress": [{"metadata": known, "spec": 3}, {"metadata": 3}],
        "IngressClass": [{"metadata": {"name": "X"}}],
    }

    assert assemble.snapshot(RawSnapshot(wrong)).unreadable == (
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
            "metadata.name 'X' is not a legal name",
            uid=derived_uid("IngressClass", "", "X"),
        ),
    )


def test_a_file_says_what_an_object_should_be_and_the_cluster_who_it_is() -> None:
    identity = {
        "uid": "u",
        "creationTimestamp": "t",
        "deletionTimestamp": "d",
        "finalizers": ["f"],
    }
    there = {
        "metadata": {"name": "x", "labels": {"old": "y"}, **identity},
        "spec": 1,
        "status": "s",
    }
    file = {"metadata": {"name": "x", "uid": "forged", "labels": {"new": "y"}}, "spec": 2}
    new = {"metadata": {"name": "y", "uid": "forged", "creationTimestamp": "forged"}, "spec": 3}
    odd: list[Raw] = [{"metadata": {"name": 1}}, {"metadata": []}]

    merged = overlay.overlay(
        RawSnapshot({"Service": [there], "Ingress": [dict(odd[0])]}, "cluster-1", SCHEMA_TARGET),
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


def test_live_resources_are_never_those_of_files() -> None:
    there = {"PangolinResource": [raw("PangolinResource", PANGOLIN)]}

    assert overlay.overlay(
        RawSnapshot(there), RawSnapshot({"PangolinResource": []})
    ) == RawSnapshot(there)


def named(kind: str, namespace: str, name: str) -> Raw:
    return {"kind": kind, "metadata": {"namespace": namespace, "name": name}}


def test_what_a_branch_deletes_is_taken_out_unless_it_is_elsewhere_in_the_branch() -> None:
    web, api, far = (
        named("Ingress", "prod", "web"),
        named("Ingress", "prod", "api"),
        named("Ingress", "team", "web"),
    )
    odd: Raw = {"metadata": []}
    service, resource = named("Service", "prod", "web"), named("PangolinResource", "prod", "pic")
    seen = RawSnapshot(
        {
            "Ingress": [web, api, far, odd],
            "Service": [service],
            "PangolinResource": [resource],
        },
        "cluster-1",
        SCHEMA_TARGET,
    )
    gone = RawSnapshot(
        {
            "Ingress": [
                named("Ingress", "prod", "web"),
                named("Ingress", "prod", "api"),
                dict(odd),
            ],
            "Service": [named("Service", "prod", "gone")],
            "PangolinResource": [resource],
            "PangolinTunnel": [named("PangolinTunnel", "prod", "x")],
        }
    )

    left = overlay.without(seen, gone, RawSnapshot({"Ingress": [named("Ingress", "prod", "api")]}))

    assert left == RawSnapshot(
        {**seen.objects, "Ingress": [api, far, odd]}, "cluster-1", SCHEMA_TARGET
    )


def test_files_count_only_where_a_live_run_looks() -> None:
    here, there = named("Ingress", "prod", "web"), named("Ingress", "team", "web")
    odd: Raw = {"metadata": []}
    tunnel = named("PangolinTunnel", "team", "x")

    found = overlay.within(
        RawSnapshot(
            {"Ingress": [here, there, odd], "PangolinTunnel": [tunnel]}, schema=SCHEMA_TARGET
        ),
        {"Ingress": ("prod", "dev")},
    )

    assert found == RawSnapshot(
        {"Ingress": [here, odd], "PangolinTunnel": [tunnel]}, schema=SCHEMA_TARGET
    )
