"""What the program registers for a cluster, and what it exports."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from pic.cluster.listing import IDENTITY
from pic.core.model import (
    Owner,
    Plan,
    Resource,
    Spec,
)
from pic.core.names import STACK_LABEL
from pic.core.version import installed_version
from pic.engine import program
from pic.run import fingerprint
from pic.settings.parse import Settings
from tests.support import engine
from tests.support.api import (
    CLUSTER,
    Api,
    fill_cluster,
    ingress,
    live_object,
)
from tests.support.engine import HOOKS, Seen

Run = Callable[..., Seen]
BOUND = {"pic:clusterId": CLUSTER}
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
            "kubeClientSettings": '{"burst": 2000, "qps": 1000}',
            **extra,
        },
    }


def test_a_host_is_one_resource_with_everything_the_operator_and_the_engine_need(
    api: Api, run: Run
) -> None:
    fill_cluster(api, [ingress("web", A, sso="true")])

    seen = run()

    assert seen.error is None
    assert seen.log == []
    assert seen.resources == [
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


def test_the_stack_exports_how_many_there_are_their_digest_and_what_they_depend_on(
    api: Api, run: Run
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
    }
    assert len(outputs["digest"]) == 64


def test_a_cluster_without_hosts_declares_the_provider_only(run: Run) -> None:
    seen = run()

    assert (seen.names, seen.outputs["resources"], seen.error) == (["cluster"], 0.0, None)


def owners(seen: Seen, host: str) -> object:
    [found] = [each for each in seen.resources if each["name"] == host]
    return found["object"]["metadata"].get("ownerReferences")


def test_of_several_owners_only_the_oldest_is_the_controller(api: Api, run: Run) -> None:
    older, younger = ingress("old", A), ingress("new", A)
    younger["metadata"]["creationTimestamp"] = "2026-02-01T00:00:00Z"
    fill_cluster(api, [younger, older])
    same = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "blockOwnerDeletion": True}

    assert owners(run(), A) == [
        {**same, "name": "old", "uid": "uid-prod-old", "controller": True},
        {**same, "name": "new", "uid": "uid-prod-new", "controller": False},
    ]


def test_owner_references_can_be_left_out(api: Api, run: Run) -> None:
    fill_cluster(api, [ingress("web", A)])

    assert owners(run({"pic:ownerReferences": "false"}), A) is None


def test_an_object_of_ours_is_imported_and_a_new_one_is_not(api: Api, run: Run) -> None:
    fill_cluster(api, [ingress("web", A, B)], live_object(A, name="as-it-was"))

    seen = run()

    assert [(each["name"], each.get("importId")) for each in seen.resources] == [
        ("cluster", None),
        (A, "prod/as-it-was"),
        (B, None),
    ]
    assert seen.resources[1]["object"]["metadata"]["name"] == "as-it-was"


def leaves(value: object) -> Iterator[object]:
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from leaves(each)


def test_no_input_is_empty(api: Api, run: Run) -> None:
    fill_cluster(api, [ingress("web", A), ingress("odd", B, tunnel_name="nowhere")], live_object(B))

    seen = run({"pic:ownerReferences": "false"})

    assert seen.names == ["cluster", A, B]
    for each in seen.resources[1:]:
        assert not [leaf for leaf in leaves(each["object"]) if leaf in (None, {}, [], "")]


def test_the_provider_has_the_context_and_no_kubeconfig_wherever_that_is(
    api: Api, tmp_path: Path
) -> None:
    found = []
    for place in ("one", "two"):
        environment = {"KUBECONFIG": api.kubeconfig(tmp_path / place)}
        config = {**BOUND, "pic:context": "here"}
        found.append(engine.run(lambda: program.run(environment), config).resources)  # noqa: B023

    assert found == [[provider(context="here")]] * 2


def test_many_hosts_are_all_declared(api: Api, run: Run) -> None:
    hosts = [f"h{at:03}.example.com" for at in range(130)]
    fill_cluster(api, [ingress("web", *hosts)])

    seen = run()

    assert sorted(seen.names) == ["cluster", *hosts]
    assert seen.outputs["resources"] == 130.0


@pytest.mark.parametrize(("count", "told"), [(100, True), (101, False)])
def test_hosts_that_change_in_bulk_get_no_events(
    api: Api, run: Run, count: int, *, told: bool
) -> None:
    fill_cluster(api, [ingress("web", *(f"h{at:03}.example.com" for at in range(count)))])

    seen = run()

    assert ("afterCreate" in seen.resources[1]["hooks"]) is told
    said = [("INFO", f"{count} hosts change at once: their Ingresses get no Events")]
    assert seen.log == ([] if told else said)


def test_without_events_only_the_check_before_a_delete_is_bound(api: Api, run: Run) -> None:
    fill_cluster(api, [ingress("web", A)])

    seen = run({"pic:events": "false"})

    assert seen.resources[1]["hooks"] == {"beforeDelete": ["pic:before-delete"]}
    assert seen.hooks == HOOKS


def test_only_what_is_adopted_is_taken_over_before_it_is_updated(api: Api, run: Run) -> None:
    old = live_object(A, name="theirs")
    del old["metadata"]["labels"][STACK_LABEL]
    fill_cluster(api, [ingress("web", A, B)], old, live_object(B))

    seen = run({"pic:adopt": "true", "pic:events": "false"})

    usual = {"beforeDelete": ["pic:before-delete"]}
    assert [(each["importId"], each["hooks"]) for each in seen.resources[1:]] == [
        ("prod/theirs", {**usual, "beforeUpdate": ["pic:before-update"]}),
        (f"prod/pic-{B}", usual),
    ]


def test_a_resource_that_the_engine_refuses_fails_the_run(api: Api, tmp_path: Path) -> None:
    fill_cluster(api, [ingress("web", A, B)])
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    seen = engine.run(lambda: program.run(environment), BOUND, refuses=A)

    assert str(seen.error) == "the engine says no"


def test_a_preview_and_a_real_run_register_the_same(api: Api, run: Run) -> None:
    fill_cluster(api, [ingress("web", A)])

    assert run(preview=True).resources == run().resources


# Release, and the digest.


def test_a_release_registers_the_hooks_only_and_reads_no_more_than_the_cluster_is_known_by(
    api: Api, run: Run
) -> None:
    fill_cluster(api, [ingress("web", A)])

    seen = run(PIC_RELEASE="1")

    assert seen == Seen(hooks=HOOKS)
    assert [each.path for each in api.requests] == [IDENTITY]


def test_a_release_on_another_cluster_is_refused(run: Run) -> None:
    other = "22222222-2222-3333-4444-555555555555"

    seen = run({"pic:clusterId": other}, PIC_RELEASE="1")

    assert str(seen.error) == (
        f"This is cluster {CLUSTER}, and the stack belongs to {other} (pic:clusterId). Check"
        " pic:context and KUBECONFIG; after a deliberate move to a new cluster, set pic:clusterId"
        " anew.\nNothing was changed."
    )


def planned(uid: str = "uid") -> Plan:
    owner = Owner("prod", "web", uid)
    return Plan((Resource(A, "prod", "pic-web", (owner,), {"a": "b"}, Spec(name=A)),))


def test_the_digest_names_what_is_declared() -> None:
    found = {
        fingerprint.digest(planned(), Settings()),
        fingerprint.digest(planned("other"), Settings()),
        fingerprint.digest(planned(), Settings(owner_references=False)),
        fingerprint.digest(Plan(), Settings()),
    }

    assert len(found) == 4
    assert fingerprint.digest(planned(), Settings()) == fingerprint.digest(
        planned(), Settings(events=False)
    )


def test_being_held_alone_does_not_change_the_digest() -> None:
    [resource] = planned().resources
    held = Plan((replace(resource, held=True),))

    assert fingerprint.digest(held, Settings()) == fingerprint.digest(planned(), Settings())


def test_a_checkout_that_is_not_installed_has_no_version() -> None:
    assert installed_version() != "uninstalled"
    assert installed_version("no-such-distribution") == "uninstalled"
