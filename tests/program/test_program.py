"""What the program registers for a cluster, what it exports and says, and when it does nothing."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest

from pic import program
from pic.cluster import CRD, IDENTITY, NETWORKING
from pic.config import Settings
from pic.model import Owner, Plan, Resource, Spec
from pic.names import labels
from tests.program import engine
from tests.program.api import CLUSTER, Api, furnish, ingress
from tests.program.engine import Seen

Run = Callable[..., Seen]
BOUND = {"pic:clusterId": CLUSTER}
PROVIDER_TYPE = "pulumi:providers:kubernetes"
PROVIDER = f"urn:pulumi:prod::pic::pulumi:pulumi:Stack${PROVIDER_TYPE}::cluster"
TYPE = "kubernetes:tunnel.pangolin.io/v1alpha1:PangolinResource"
HOOKS = ["pic:after-create", "pic:after-update", "pic:before-delete", "pic:after-delete"]
A, B = "a.example.com", "b.example.com"
NAME_A = "pic-prod-web-a85a2439"


@pytest.fixture
def run(api: Api, tmp_path: Path) -> Run:
    """Run the program against the API server, with a stack that belongs to it."""
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    def run(
        config: Mapping[str, str] = {},
        *,
        preview: bool = False,
        **more: str,
    ) -> Seen:
        return engine.run(
            lambda: program.run({**environment, **more}), {**BOUND, **config}, preview=preview
        )

    return run


def live(host: str, namespace: str = "prod", name: str = "") -> dict[str, Any]:
    """A live object of ours, with a spec that the Ingress `web` asks for as well."""
    subdomain, _, domain = host.partition(".")
    return {
        "metadata": {
            "namespace": namespace,
            "name": name or f"pic-{host}",
            "labels": labels("pic.prod", namespace, "web", f"uid-{namespace}-web"),
        },
        "spec": {"name": host, "httpConfig": {"domainName": domain, "subdomain": subdomain}},
    }


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
    furnish(api, [ingress("web", A, sso="true")])

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


def test_the_stack_exports_how_many_there_are_and_their_digest(api: Api, run: Run) -> None:
    furnish(api, [ingress("web", A, B)])

    outputs = run().outputs

    assert outputs == {"resources": 2.0, "digest": outputs["digest"]}
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
    furnish(api, [younger, older])
    same = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "blockOwnerDeletion": True}

    assert owners(run(), A) == [
        {**same, "name": "old", "uid": "uid-prod-old", "controller": True},
        {**same, "name": "new", "uid": "uid-prod-new", "controller": False},
    ]


def test_owner_references_can_be_left_out(api: Api, run: Run) -> None:
    furnish(api, [ingress("web", A)])

    assert owners(run({"pic:ownerReferences": "false"}), A) is None


def test_an_object_of_ours_is_imported_and_a_new_one_is_not(api: Api, run: Run) -> None:
    furnish(api, [ingress("web", A, B)], live(A, name="as-it-was"))

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
    furnish(api, [ingress("web", A), ingress("odd", B, tunnel_name="nowhere")], live(B))

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
    furnish(api, [ingress("web", *hosts)])

    seen = run()

    assert sorted(seen.names) == ["cluster", *hosts]
    assert seen.outputs["resources"] == 130.0


def test_without_events_only_the_check_before_a_delete_is_bound(api: Api, run: Run) -> None:
    furnish(api, [ingress("web", A)])

    seen = run({"pic:events": "false"})

    assert seen.resources[1]["hooks"] == {"beforeDelete": ["pic:before-delete"]}
    assert seen.hooks == HOOKS


def test_a_resource_that_the_engine_refuses_fails_the_run(api: Api, tmp_path: Path) -> None:
    furnish(api, [ingress("web", A, B)])
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    seen = engine.run(lambda: program.run(environment), BOUND, refuses=A)

    assert str(seen.error) == "the engine says no"


def test_a_preview_and_a_real_run_register_the_same(api: Api, run: Run) -> None:
    furnish(api, [ingress("web", A)])

    assert run(preview=True).resources == run().resources


# The guard.


EMPTY = f"The plan is empty, and 1 of 1 hosts would be removed: {A}."


def test_a_real_run_that_is_refused_registers_nothing(api: Api, run: Run) -> None:
    furnish(api, [], live(A))

    seen = run()

    assert isinstance(seen.error, pulumi.RunError)
    assert str(seen.error).splitlines()[0] == EMPTY
    assert (seen.resources, seen.outputs, seen.hooks) == ([], {}, HOOKS)


def test_a_preview_that_would_be_refused_declares_everything_and_warns(api: Api, run: Run) -> None:
    hosts = [f"h{at}.example.com" for at in range(6)]
    furnish(api, [ingress("web", A)], *(live(host) for host in hosts))

    seen = run(preview=True)

    assert seen.names == ["cluster", A]
    [(level, text)] = seen.log
    assert level == "WARNING"
    assert text.splitlines()[:2] == [
        "`pulumi up` would refuse this:",
        "6 of 6 hosts would be removed, but at most 5 may go in one run (pic:maxRemovals 5,"
        f" pic:maxRemovalRatio 0.2): {', '.join(hosts)}.",
    ]
    assert seen.error is None


def test_an_acknowledged_run_goes_through(api: Api, run: Run) -> None:
    furnish(api, [], live(A))
    digest = str(run().error).rpartition("PIC_ACKNOWLEDGE=")[2].split()[0]

    seen = run(PIC_ACKNOWLEDGE=digest)

    assert (seen.error, seen.names) == (None, ["cluster"])


def test_another_cluster_is_refused(run: Run) -> None:
    seen = run({"pic:clusterId": "22222222-2222-3333-4444-555555555555"})

    assert str(seen.error).startswith(f"This is cluster {CLUSTER}, and the stack belongs to 2222")
    assert seen.resources == []


# What cannot be run.


@pytest.mark.parametrize("preview", [False, True])
def test_settings_that_cannot_be_right_are_told_at_once(run: Run, preview: bool) -> None:  # noqa: FBT001
    seen = run(
        {"pic:maxRemovals": "many", "pic:events": "maybe", "pic:tunel": "x"}, preview=preview
    )

    assert isinstance(seen.error, pulumi.RunError)
    assert [line.partition(",")[0].partition(";")[0] for line in str(seen.error).splitlines()] == [
        "unknown setting pic:tunel",
        "pic:maxRemovals is 'many'",
        "pic:events is 'maybe'",
    ]
    assert (seen.resources, seen.hooks) == ([], HOOKS)


def test_settings_that_do_not_suit_a_deployment_are_told_at_once(run: Run) -> None:
    seen = run(
        {"pic:clusterId": "", "pic:kubeconfig": "/elsewhere", "pic:targets": "pangolin,pihole"}
    )

    assert str(seen.error) == (
        "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run pic init"
        " --stack prod\n"
        "pic:kubeconfig cannot reach the engine's Kubernetes plugin by itself: run with"
        " KUBECONFIG=/elsewhere\n"
        "pic:targets: pihole can be planned, but not deployed yet: leave it out"
    )
    assert seen.resources == []


def test_a_kubeconfig_that_is_also_in_the_environment_is_fine(api: Api, tmp_path: Path) -> None:
    path = api.kubeconfig(tmp_path / "config")
    config = {**BOUND, "pic:kubeconfig": path}

    seen = engine.run(lambda: program.run({"KUBECONFIG": path}), config)

    assert (seen.error, seen.names) == (None, ["cluster"])


def test_settings_of_other_projects_are_not_ours(run: Run) -> None:
    assert run({"aws:region": "eu"}).error is None


@pytest.mark.parametrize("path", [IDENTITY, CRD, f"{NETWORKING}/ingresses"])
@pytest.mark.parametrize("preview", [False, True])
def test_a_cluster_that_cannot_be_read_whole_registers_nothing(
    api: Api,
    run: Run,
    path: str,
    preview: bool,  # noqa: FBT001
) -> None:
    api.refuses(path, 401, "who are you")

    seen = run(preview=preview)

    assert isinstance(seen.error, pulumi.RunError)
    assert str(seen.error).endswith(
        "who are you (HTTP 401); the credentials are not accepted: renew them"
    )
    assert (seen.resources, seen.hooks) == ([], HOOKS)


# What is told.


def test_notices_are_logged_the_loud_ones_first(api: Api, run: Run) -> None:
    furnish(api, [ingress("blocks", A, block_access="true"), ingress("odd", "", B)])

    seen = run({"pic:domains": "example.com"}, PIC_LOG_LEVEL="debug")

    assert seen.log == [
        ("WARNING", seen.log[0][1]),
        ("INFO", seen.log[1][1]),
    ]
    assert [text.partition(": ")[0] for _, text in seen.log] == ["EmptyHost", "BlockAccess"]


def test_more_notices_than_anybody_reads_are_counted(api: Api, run: Run) -> None:
    furnish(api, [ingress(f"odd-{at:02}", "") for at in range(program.SHOWN_NOTICES + 3)])

    log = run().log

    assert len(log) == program.SHOWN_NOTICES + 1
    assert log[-1] == ("WARNING", "and 3 more notices: see pic plan")


# Release, and the digest.


def test_a_release_registers_the_hooks_only_and_reads_nothing(api: Api, run: Run) -> None:
    furnish(api, [ingress("web", A)])

    seen = run(PIC_RELEASE="1")

    assert seen == Seen(hooks=HOOKS)
    assert api.asked == []


def planned(uid: str = "uid") -> Plan:
    owner = Owner("prod", "web", uid)
    return Plan((Resource(A, "prod", "pic-web", (owner,), {"a": "b"}, Spec(name=A)),))


def test_the_digest_names_what_is_declared() -> None:
    found = {
        program.digest(planned(), Settings()),
        program.digest(planned("other"), Settings()),
        program.digest(planned(), Settings(owner_references=False)),
        program.digest(Plan(), Settings()),
    }

    assert len(found) == 4
    assert program.digest(planned(), Settings()) == program.digest(
        planned(), Settings(events=False)
    )


def test_a_checkout_that_is_not_installed_has_no_version() -> None:
    assert program.installed_version() != "uninstalled"
    assert program.installed_version("no-such-distribution") == "uninstalled"
