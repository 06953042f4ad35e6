"""Tests what the program registers for a cluster, and what it exports."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from pic.cluster.listing import IDENTITY
from pic.core.model import Owner, Plan, Resource, Spec
from pic.core.names import STACK_LABEL
from pic.core.version import installed_version
from pic.engine import program
from pic.run import fingerprint
from pic.settings.parse import Settings
from tests.support import engine
from tests.support.api import CLUSTER, STACK_ID, Api, fill_cluster, ingress, live_object
from tests.support.engine import HOOKS, ProgramRun
from tests.support.programs import BOUND, RunProgram

PROVIDER_TYPE = "pulumi:providers:kubernetes"
PROVIDER = f"urn:pulumi:prod::pic::pulumi:pulumi:Stack${PROVIDER_TYPE}::cluster"
TYPE = "kubernetes:tunnel.pangolin.io/v1alpha1:PangolinResource"
A, B = "a.example.com", "b.example.com"
NAME_A = "pic-prod-web-a85a2439"


def provider(**extra: str) -> dict[str, Any]:
    return {
        "urn": PROVIDER,
        "type": PROVIDER_TYPE,
        "name": "cluster",
        "version": "4.25.0",
        "hooks": {},
        "object": {
            "kubeconfig": "",
            "clusterIdentifier": CLUSTER,
            "enableConfigMapMutable": "true",
            "kubeClientSettings": '{"burst": 2000, "qps": 1000}',
            **extra,
        },
    }


def test_a_host_becomes_one_resource_with_all_that_operator_and_engine_need(
    api: Api, run: RunProgram
) -> None:
    fill_cluster(api, [ingress("web", A, sso="true")])

    registered = run()

    assert registered.error is None
    assert registered.log == []
    assert registered.order == ["cluster", "register-7", A]
    assert registered.resources == [
        provider(),
        {
            "urn": f"urn:pulumi:prod::pic::pulumi:pulumi:Stack${TYPE}::{A}",
            "type": TYPE,
            "name": A,
            "provider": f"{PROVIDER}::cluster",
            "version": "4.25.0",
            "deleteBeforeReplace": True,
            "deleteBeforeReplaceDefined": True,
            "customTimeouts": {"delete": "2m"},
            "hooks": {
                "afterCreate": ["pic:after-create"],
                "afterUpdate": ["pic:after-update"],
                "beforeDelete": ["pic:before-delete"],
                "afterDelete": ["pic:after-delete"],
            },
            "object": {
                "apiVersion": "tunnel.pangolin.io/v1alpha1",
                "kind": "PangolinResource",
                "metadata": {
                    "namespace": "prod",
                    "name": NAME_A,
                    "labels": {
                        "pic.ingress.k8s.io/name": "web",
                        "pic.ingress.k8s.io/namespace": "prod",
                        "pic.ingress.k8s.io/stack": "pic.prod",
                        "pic.ingress.k8s.io/stack-id": STACK_ID,
                        "pic.ingress.k8s.io/uid": "uid-prod-web",
                    },
                    "annotations": {
                        "pulumi.com/deletionPropagationPolicy": "background",
                        "pulumi.com/patchFieldManager": "pic",
                        "pulumi.com/patchForce": "true",
                    },
                    "ownerReferences": [
                        {
                            "apiVersion": "networking.k8s.io/v1",
                            "kind": "Ingress",
                            "name": "web",
                            "uid": "uid-prod-web",
                            "controller": True,
                            "blockOwnerDeletion": True,
                        }
                    ],
                },
                "spec": {
                    "enabled": True,
                    "name": A,
                    "protocol": "http",
                    "tunnelRef": {"name": "default"},
                    "httpConfig": {
                        "domainName": "example.com",
                        "subdomain": "a",
                        "sso": True,
                        "blockAccess": False,
                    },
                    "targets": [
                        {"ip": "web.prod.svc.cluster.local", "port": 80.0, "method": "http"}
                    ],
                },
            },
        },
    ]


def test_the_stack_exports_the_number_of_resources_their_digest_and_the_versions(
    api: Api, run: RunProgram
) -> None:
    fill_cluster(api, [ingress("web", A, B)])

    outputs = run().outputs

    assert outputs == {
        "resources": 2.0,
        "digest": outputs["digest"],
        "deployed": {
            "pic": installed_version(),
            "plugin": version("pulumi-kubernetes"),
            "cluster": CLUSTER,
            "namespaces": "all",
            "targets": "pangolin",
            "ingressClasses": "pangolin, pangolin-*",
        },
        "told": [],
        "register": {"7": 1.0, "c": 1.0},
    }
    assert len(outputs["digest"]) == 64


def test_without_hosts_only_the_provider_is_declared(run: RunProgram) -> None:
    registered = run()

    assert (registered.names, registered.outputs["resources"], registered.error) == (
        ["cluster"],
        0.0,
        None,
    )


def owners(registered: ProgramRun, host: str) -> object:
    [resource] = [item for item in registered.resources if item["name"] == host]
    return resource["object"]["metadata"].get("ownerReferences")


def test_only_the_oldest_of_several_owners_is_the_controller(api: Api, run: RunProgram) -> None:
    older, younger = ingress("old", A), ingress("new", A)
    younger["metadata"]["creationTimestamp"] = "2026-02-01T00:00:00Z"
    fill_cluster(api, [younger, older])
    same = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "blockOwnerDeletion": True}

    assert owners(run(), A) == [
        {**same, "name": "old", "uid": "uid-prod-old", "controller": True},
        {**same, "name": "new", "uid": "uid-prod-new", "controller": False},
    ]


def test_owner_references_can_be_turned_off(api: Api, run: RunProgram) -> None:
    fill_cluster(api, [ingress("web", A)])

    assert owners(run({"pic:ownerReferences": "false"}), A) is None


def test_a_live_object_of_the_stack_is_imported(api: Api, run: RunProgram) -> None:
    fill_cluster(api, [ingress("web", A, B)], live_object(A, name="its-live-name"))

    registered = run()

    assert [(item["name"], item.get("importId")) for item in registered.resources] == [
        ("cluster", None),
        (A, "prod/its-live-name"),
        (B, None),
    ]
    assert registered.resources[1]["object"]["metadata"]["name"] == "its-live-name"


def leaves(value: object) -> Iterator[object]:
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from leaves(item)


def test_no_input_is_empty(api: Api, run: RunProgram) -> None:
    fill_cluster(api, [ingress("web", A), ingress("odd", B, tunnel_name="nowhere")], live_object(B))

    registered = run({"pic:ownerReferences": "false"})

    assert registered.names == ["cluster", A, B]
    for resource in registered.resources[1:]:
        assert not [leaf for leaf in leaves(resource["object"]) if leaf in (None, {}, [], "")]


def test_the_provider_has_the_context_but_not_the_path_of_the_kubeconfig(
    api: Api, tmp_path: Path
) -> None:
    resources = []
    for name in ("one", "two"):
        environment = {"KUBECONFIG": api.kubeconfig(tmp_path / name)}
        config = {**BOUND, "pic:context": "here"}
        resources.append(engine.run(lambda: program.run(environment), config).resources)  # noqa: B023

    assert resources == [[provider(context="here")]] * 2


def test_every_one_of_many_hosts_is_declared(api: Api, run: RunProgram) -> None:
    hosts = [f"h{number:03}.example.com" for number in range(130)]
    fill_cluster(api, [ingress("web", *hosts)])

    registered = run()

    assert sorted(registered.names) == ["cluster", *hosts]
    assert registered.outputs["resources"] == 130.0


@pytest.mark.parametrize(("count", "events"), [(100, True), (101, False)])
def test_a_run_that_changes_many_hosts_posts_no_events(
    api: Api, run: RunProgram, count: int, *, events: bool
) -> None:
    fill_cluster(api, [ingress("web", *(f"h{number:03}.example.com" for number in range(count)))])

    registered = run({"pic:operatorLimit": "0"})

    assert ("afterCreate" in registered.resources[1]["hooks"]) is events
    message = [("INFO", f"{count} hosts change at once in prod, so pic posts no Events for them")]
    assert registered.log == ([] if events else message)


def test_without_events_only_the_check_before_a_deletion_is_bound(
    api: Api, run: RunProgram
) -> None:
    fill_cluster(api, [ingress("web", A)])

    registered = run({"pic:events": "false"})

    assert registered.resources[1]["hooks"] == {"beforeDelete": ["pic:before-delete"]}
    assert registered.hooks == HOOKS


def test_only_an_adopted_object_is_taken_over_before_its_update(api: Api, run: RunProgram) -> None:
    old = live_object(A, name="theirs")
    del old["metadata"]["labels"][STACK_LABEL]
    fill_cluster(api, [ingress("web", A, B)], old, live_object(B))

    registered = run({"pic:adopt": "true", "pic:events": "false"})

    default = {"beforeDelete": ["pic:before-delete"]}
    assert [(item["importId"], item["hooks"]) for item in registered.resources[1:]] == [
        ("prod/theirs", {**default, "beforeUpdate": ["pic:before-update"]}),
        (f"prod/pic-{B}", default),
    ]


def test_the_run_fails_if_the_engine_refuses_a_resource(api: Api, tmp_path: Path) -> None:
    fill_cluster(api, [ingress("web", A, B)])
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    registered = engine.run(lambda: program.run(environment), BOUND, refuses=A)

    assert str(registered.error) == "the engine says no"


def test_the_register_comes_first_and_blocks_no_host_if_it_fails(api: Api, tmp_path: Path) -> None:
    fill_cluster(api, [ingress("web", A, B)])
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    registered = engine.run(lambda: program.run(environment), BOUND, fails="register-7")

    assert registered.order[:3] == ["cluster", "register-7", "register-c"]
    assert sorted(registered.order[3:]) == [A, B]
    assert [it["object"]["metadata"]["name"] for it in registered.register] == [
        "pic-prod-7",
        "pic-prod-c",
    ]
    assert {it["provider"] for it in registered.register} == {f"{PROVIDER}::cluster"}
    assert [it["hooks"] for it in registered.register] == [{}, {}]


def test_a_preview_and_a_real_run_register_the_same_resources(api: Api, run: RunProgram) -> None:
    fill_cluster(api, [ingress("web", A)])

    assert run(preview=True).resources == run().resources


# Release, and the digest.


def test_a_release_registers_only_the_hooks_and_reads_only_the_cluster_id(
    api: Api, run: RunProgram
) -> None:
    fill_cluster(api, [ingress("web", A)])

    registered = run(PIC_RELEASE="1")

    assert registered == ProgramRun(hooks=HOOKS)
    assert [request.path for request in api.requests] == [IDENTITY]


def test_a_release_on_another_cluster_is_refused(run: RunProgram) -> None:
    other = "22222222-2222-3333-4444-555555555555"

    registered = run({"pic:clusterId": other}, PIC_RELEASE="1")

    assert str(registered.error) == (
        f"This is cluster {CLUSTER}, and the stack belongs to {other} (pic:clusterId). Check"
        " pic:context and KUBECONFIG. If you moved the stack to a new cluster, set pic:clusterId"
        " to its id.\nNothing was changed."
    )


def make_plan(uid: str = "uid") -> Plan:
    owner = Owner("prod", "web", uid)
    return Plan((Resource(A, "prod", "pic-web", (owner,), {"a": "b"}, Spec(name=A)),))


def test_the_digest_depends_on_what_is_declared() -> None:
    digests = {
        fingerprint.digest(make_plan(), Settings()),
        fingerprint.digest(make_plan("other"), Settings()),
        fingerprint.digest(make_plan(), Settings(owner_references=False)),
        fingerprint.digest(Plan(), Settings()),
    }

    assert len(digests) == 4
    assert fingerprint.digest(make_plan(), Settings()) == fingerprint.digest(
        make_plan(), Settings(events=False)
    )


def test_holding_a_resource_does_not_change_the_digest() -> None:
    [resource] = make_plan().resources
    held = Plan((replace(resource, held=True),))

    assert fingerprint.digest(held, Settings()) == fingerprint.digest(make_plan(), Settings())
