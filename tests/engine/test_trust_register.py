"""Tests that pic remembers who has a host, whatever the people of other namespaces do."""

from collections.abc import Iterator
from contextlib import contextmanager

from dev.controlplane import ControlPlane
from dev.toolchain import Toolchain
from dev.workspace import workspace
from pic.core.names import object_name
from tests.engine.stage import Object, Stage, open_stage

LOGIN = {"pangolin.ingress.k8s.io/sso": "true"}
OTHER_STACK = "pic.ingress.k8s.io/stack"


def access(live: Object) -> tuple[str, str, bool]:
    """Return the namespace, the host and whether the host asks for a login."""
    http = live["spec"]["httpConfig"]
    return live["metadata"]["namespace"], live["spec"]["name"], http["sso"]


def forge(stage: Stage, namespace: str, owner: Object, word: str, **labels: str) -> None:
    """Create a public object for a host, with all the labels that pic would write for an owner."""
    metadata, host = owner["metadata"], stage.host(word)
    name = object_name(namespace, metadata["name"], host)
    written = {
        "pic.ingress.k8s.io/stack": stage.label,
        "pic.ingress.k8s.io/uid": metadata["uid"],
        "pic.ingress.k8s.io/name": metadata["name"],
        "pic.ingress.k8s.io/namespace": namespace,
        **labels,
    }
    body = {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinResource",
        "metadata": {
            "name": name,
            "labels": written,
            "ownerReferences": [
                {
                    "apiVersion": "networking.k8s.io/v1",
                    "kind": "Ingress",
                    "name": metadata["name"],
                    "uid": metadata["uid"],
                    "controller": True,
                }
            ],
        },
        "spec": {
            "name": host,
            "enabled": True,
            "protocol": "http",
            "tunnelRef": {"name": "default", "namespace": stage.name},
            "httpConfig": {
                "subdomain": word,
                "domainName": host.partition(".")[2],
                "sso": False,
                "blockAccess": False,
            },
            "targets": [{"ip": "evil", "port": 80, "method": "http"}],
        },
    }
    path = f"/apis/tunnel.pangolin.io/v1alpha1/namespaces/{namespace}/pangolinresources"
    stage.cluster.api.request("POST", f"{path}?fieldManager=pic", body)


def test_01_a_host_does_not_move_to_another_namespace_while_its_owner_deploys_again(
    stage: Stage,
) -> None:
    attacker = stage.add_namespace()
    stage.ingress("web", "www", annotations=LOGIN)
    assert stage.pic("up").code == 0
    stage.ingress("web", "www", namespace=attacker)
    assert stage.pic("up").code == 0
    stage.delete_ingress("web")

    held = stage.pic("up")

    assert (held.code, stage.objects(), stage.objects(attacker)) == (8, [], []), held
    stage.ingress("web", "www", annotations=LOGIN)
    assert stage.pic("up").code == 0
    assert access(stage.object("www")) == (stage.name, stage.host("www"), True)
    assert stage.objects(attacker) == []


def test_01_a_move_goes_through_once_it_is_acknowledged(stage: Stage) -> None:
    new = stage.add_namespace()
    stage.ingress("web", "www", annotations=LOGIN)
    assert stage.pic("up").code == 0
    stage.delete_ingress("web")
    stage.ingress("web", "www", namespace=new)
    held = stage.pic("up")
    digest = held.out.rpartition("--acknowledge ")[2].split()[0]

    moved = stage.pic("up", "--acknowledge", digest)

    assert (held.code, moved.code) == (8, 0), (held, moved)
    assert access(stage.object("www", new)) == (new, stage.host("www"), False)
    assert stage.pic("up").out == "Nothing to do: everything is as it was deployed.\n"


def test_02_a_login_does_not_go_with_an_ingress_that_is_deleted_and_created_anew(
    stage: Stage,
) -> None:
    stage.settings(maxWeakened=0)
    stage.ingress("web", "www", annotations=LOGIN)
    stage.ingress("other", "other")
    assert stage.pic("up").code == 0
    stage.delete_ingress("web")
    stage.ingress("web", "www")
    stage.ingress("other", "other", "more")

    held = stage.pic("up")

    assert held.code == 8, held
    assert {access(live) for live in stage.objects()} == {
        (stage.name, stage.host("www"), True),
        (stage.name, stage.host("other"), False),
        (stage.name, stage.host("more"), False),
    }


def test_03_an_object_with_our_labels_is_never_ours_where_another_namespace_has_the_host(
    stage: Stage,
) -> None:
    attacker = stage.add_namespace()
    older = stage.ingress("old", "boring", namespace=attacker)
    stage.ingress("web", "www", annotations=LOGIN)
    assert stage.pic("up").code == 0
    before = stage.object("www")
    stage.ingress("old", "www", namespace=attacker)
    for labels in ({}, {"pic.ingress.k8s.io/stack-id": stage.stack_id}):
        forge(stage, attacker, older, "www", **labels)
        forged = stage.object("www", attacker)

        answer = stage.pic("up")

        assert answer.code == 0, answer
        assert stage.object("www") == before
        assert stage.object("www", attacker) == forged
        stage.cluster.delete("PangolinResource", attacker, forged["metadata"]["name"])


def test_04_an_object_with_the_labels_of_the_go_controller_blocks_only_its_host(
    stage: Stage,
) -> None:
    attacker = stage.add_namespace()
    labels = {f"pic.ingress.k8s.io/{name}": "x" for name in ("uid", "name", "namespace")}
    host = stage.host("www")
    domain = host.partition(".")[2]
    spec = {"name": host, "httpConfig": {"subdomain": "www", "domainName": domain}}
    stage.cluster.apply("PangolinResource", attacker, "theirs", spec)
    stage.cluster.patch("PangolinResource", attacker, "theirs", {"metadata": {"labels": labels}})
    stage.ingress("web", "www", "free")

    answer = stage.pic("up")

    assert answer.code == 0, answer
    assert set(stage.identities()) == {stage.host("free")}
    assert "belongs to the Go controller" in answer.err


def test_05_an_object_without_labels_belongs_to_no_other_stack(
    stage: Stage, plane: ControlPlane, tools: Toolchain
) -> None:
    stage.ingress("web", "www")
    assert stage.pic("up").code == 0
    live = stage.object("www")
    name = live["metadata"]["name"]
    bare = {"metadata": {"labels": dict.fromkeys(live["metadata"]["labels"])}}
    stage.cluster.patch("PangolinResource", stage.name, name, bare)
    with open_stage(plane, tools) as other:
        other.ingress("app", "app")
        # Its first run is without a register.
        first, second = other.pic("up"), other.pic("up")

        assert (first.code, second.code) == (0, 0), (first, second)
    assert stage.object("www")["metadata"]["uid"] == live["metadata"]["uid"]
    assert stage.pic("up").code == 0
    assert stage.object("www")["metadata"]["labels"] == live["metadata"]["labels"]


@contextmanager
def twin(stage: Stage, plane: ControlPlane, tools: Toolchain) -> Iterator[Stage]:
    """Prepare a stack with the same name in another backend, for a namespace of its own."""
    namespace = stage.add_namespace()
    stage.settings(namespaces=[stage.name])
    with workspace(tools, plane.kubeconfig, PULUMI_STACK=stage.name) as project:
        other = Stage(plane, stage.cluster, project, stage.name, [namespace])
        other.settings(
            clusterId=stage.cluster.id,
            tunnelNamespace=stage.name,
            namespaces=[namespace],
            stackId="0123456789abcdef",
        )
        project.pulumi("stack", "init", stage.name, "--no-select")
        yield other


def test_06_stacks_of_the_same_name_leave_each_other_alone(
    stage: Stage, plane: ControlPlane, tools: Toolchain
) -> None:
    with twin(stage, plane, tools) as other:
        other.settings(registerNamespace=other.namespaces[0])
        stage.ingress("web", "www")
        other.ingress("app", "app", namespace=other.namespaces[0])

        codes = [it.pic("up").code for it in (stage, other, stage, other)]

        assert codes == [0, 0, 0, 0]
        assert set(stage.identities()) == {stage.host("www")}
        assert set(stage.identities(other.namespaces[0])) == {stage.host("app")}


def test_06_a_stack_of_the_same_name_does_not_write_the_register_of_another(
    stage: Stage, plane: ControlPlane, tools: Toolchain
) -> None:
    with twin(stage, plane, tools) as other:
        stage.ingress("web", "www")
        other.ingress("app", "app", namespace=other.namespaces[0])
        assert stage.pic("up").code == 0

        refused = other.pic("up")

        assert refused.code == 3, refused
        assert f"the id {stage.stack_id}" in refused.err
        assert stage.objects(other.namespaces[0]) == []


def test_07_one_new_host_does_not_let_all_others_go(stage: Stage) -> None:
    words = [f"h{number}" for number in range(5)]
    for word in words:
        stage.ingress(word, word)
    assert stage.pic("up").code == 0
    before = stage.objects()
    for word in words:
        stage.ingress(word, word, class_name="nginx")
    stage.ingress("new", "new")

    refused = stage.pic("up")

    assert refused.code == 3, refused
    assert "All 5 live hosts would be removed" in refused.err
    assert stage.objects() == before


def test_07_the_hosts_of_a_namespace_that_is_no_longer_listed_stay(stage: Stage) -> None:
    other = stage.add_namespace()
    stage.ingress("web", "www")
    stage.ingress("app", "app", namespace=other)
    assert stage.pic("up").code == 0
    before = stage.objects(other)
    stage.settings(namespaces=[stage.name, f"{other}x"])

    held = stage.pic("up")

    assert held.code == 8, held
    assert f"pic:namespaces does not list {other}" in held.out
    assert stage.objects(other) == before
    digest = held.out.rpartition("--acknowledge ")[2].split()[0]
    acknowledged = stage.pic("up", "--acknowledge", digest)
    assert acknowledged.code == 0, acknowledged
    assert stage.objects(other) == []
