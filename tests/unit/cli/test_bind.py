"""Tests how `pic init` binds a stack, with a fake cluster."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pic.cli import bind
from pic.cluster.listing import IDENTITY, PANGOLIN, StatusError
from pic.core.errors import ClusterError, SettingsError
from pic.settings.parse import parse
from pic.settings.stack_file import StackFile

THIS_CLUSTER = "11111111-2222-3333-4444-555555555555"
OTHER_CLUSTER = "22222222-2222-3333-4444-555555555555"
HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"
READY = """
The cluster has all CRDs and permissions that pic needs. Next:
  pulumi stack init prod
  pulumi preview --stack prod"""


class Cluster:
    """A transport to a cluster with kinds, tunnels and permissions."""

    def __init__(self, *tunnels: str) -> None:
        self.kinds: object = ["pangolinresources", "pangolintunnels", "pangolinorganizations"]
        self.tunnels: object = tunnels
        self.denied: set[tuple[str, str]] = set()
        self.review_error: StatusError | None = None

    def get(self, path: str) -> object:
        if path == IDENTITY:
            return {"metadata": {"uid": THIS_CLUSTER}}
        if path == PANGOLIN:
            return {"resources": [{"name": name} for name in answer(self.kinds)]}
        assert path == f"{PANGOLIN}/pangolintunnels?limit=500"
        items = [{"metadata": {"namespace": n, "name": "t"}} for n in answer(self.tunnels)]
        return {"kind": "PangolinTunnelList", "metadata": {}, "items": items}

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: Any) -> object:
        assert (method, path) == (
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        )
        if self.review_error:
            raise self.review_error
        attributes = body["spec"]["resourceAttributes"]
        permission = (attributes["verb"], attributes["resource"])
        return {"status": {"allowed": permission not in self.denied}}


def answer(value: object) -> tuple[str, ...]:
    if isinstance(value, Exception):
        raise value
    assert isinstance(value, list | tuple)
    return tuple(value)


class User:
    """A user at a terminal who gives the same answer to each question."""

    def __init__(self, answer: str = "") -> None:
        self.answer = answer
        self.questions: list[str] = []

    def ask(self, question: str) -> str:
        self.questions.append(question)
        return self.answer


def init(
    root: Path,
    cluster: Cluster,
    overrides: dict[str, object] | None = None,
    user: User | None = None,
) -> bind.BindResult:
    file = StackFile(root, "prod")
    stored = file.settings() if file.path.exists() else {}
    settings, _ = parse({**stored, **(overrides or {})}, {})
    user = user or User()
    return bind.write_stack_file(file, overrides or {}, settings, cluster, user.ask)


def stack_file(root: Path) -> object:
    return yaml.safe_load((root / "stacks" / "Pulumi.prod.yaml").read_text())


def stack_id(root: Path) -> str:
    """Return the id that pic has given to the stack."""
    value = StackFile(root, "prod").settings()["stackId"]
    assert isinstance(value, str)
    assert re.fullmatch("[0-9a-f]{16}", value)
    return value


def chosen(root: Path) -> object:
    """Return what `pic init` has written but ids."""
    settings = StackFile(root, "prod").settings()
    return {key: value for key, value in settings.items() if not key.endswith("Id")}


@pytest.mark.parametrize("word", ["y", "Yes"])
def test_a_new_stack_gets_the_cluster_id_and_the_namespace_of_the_tunnels(
    tmp_path: Path, word: str
) -> None:
    user = User(word)
    result = init(tmp_path, Cluster("tunnels", "tunnels"), user=user)

    assert user.questions == [
        "All tunnels are in namespace tunnels. Every host may use them.\n"
        "Can only the platform team create tunnels there? [y/N] "
    ]
    assert result == bind.BindResult(
        "wrote stacks/Pulumi.prod.yaml\n"
        f"  pic:clusterId: {THIS_CLUSTER}\n"
        f"  pic:stackId: {stack_id(tmp_path)}\n"
        "  pic:tunnelNamespace: tunnels\n"
        "  pic:registerNamespace: tunnels\n" + READY,
        0,
    )
    assert stack_file(tmp_path) == {
        "config": {
            "pic:clusterId": THIS_CLUSTER,
            "pic:stackId": stack_id(tmp_path),
            "pic:tunnelNamespace": "tunnels",
            "pic:registerNamespace": "tunnels",
        }
    }


@pytest.mark.parametrize("word", ["", "n", "tunnels"])
def test_08_the_only_tunnel_may_be_one_of_a_tenant_so_init_trusts_it_only_if_told(
    tmp_path: Path, word: str
) -> None:
    user = User(word)
    result = init(tmp_path, Cluster("tenant"), {"registerNamespace": "pic"}, user)

    assert len(user.questions) == 1
    assert chosen(tmp_path) == {"registerNamespace": "pic"}
    assert result.text.splitlines()[5:9] == [
        "pic:tunnelNamespace is not set. Namespaces with tunnels: tenant.",
        "Until you set it, pic exposes no new host. If only the platform team can create tunnels"
        " there:",
        "  pic init --stack prod --tunnel-namespace tenant",
        "or, to use the tunnels in the namespace of each Ingress:",
    ]


def test_one_team_is_not_asked_about_its_tunnels(tmp_path: Path) -> None:
    user = User()
    init(tmp_path, Cluster("tunnels"), {"tenants": "one"}, user)

    assert user.questions == []
    assert chosen(tmp_path) == {
        "tenants": "one",
        "tunnelNamespace": "tunnels",
        "registerNamespace": "tunnels",
    }


@pytest.mark.parametrize(
    ("tunnels", "namespaces"), [((), "none yet"), (("two", "one", "two"), "one, two")]
)
def test_tunnels_in_no_or_several_namespaces_set_no_namespace_and_init_says_so(
    tmp_path: Path, tunnels: tuple[str, ...], namespaces: str
) -> None:
    user = User("pic")
    result = init(tmp_path, Cluster(*tunnels), user=user)

    assert user.questions == [bind.REGISTER_QUESTION]
    assert result == bind.BindResult(
        "wrote stacks/Pulumi.prod.yaml\n"
        f"  pic:clusterId: {THIS_CLUSTER}\n"
        f"  pic:stackId: {stack_id(tmp_path)}\n"
        "  pic:registerNamespace: pic\n"
        "\n"
        f"pic:tunnelNamespace is not set. Namespaces with tunnels: {namespaces}.\n"
        "Until you set it, pic exposes no new host. If only the platform team can create tunnels"
        " there:\n"
        "  pic init --stack prod --tunnel-namespace NAMESPACE\n"
        "or, to use the tunnels in the namespace of each Ingress:\n"
        "  pic init --stack prod --config tunnelNamespaces=.\n" + READY,
        0,
    )
    assert stack_file(tmp_path) == {
        "config": {
            "pic:clusterId": THIS_CLUSTER,
            "pic:stackId": stack_id(tmp_path),
            "pic:registerNamespace": "pic",
        }
    }


@pytest.mark.parametrize(
    ("overrides", "register"),
    [
        ({"tunnelNamespace": "mine"}, {"pic:registerNamespace": "mine"}),
        ({"tunnelNamespaces": "mine,theirs"}, {"pic:registerNamespace": "answer"}),
        ({"tunnelNamespaces": "."}, {"pic:registerNamespace": "answer"}),
        ({"targets": "pihole"}, {"pic:registerNamespace": "answer"}),
        ({"tunnelNamespace": "mine", "registerNamespace": "register"}, {}),
    ],
)
def test_namespaces_of_the_user_are_kept_and_pihole_alone_needs_none_of_tunnels(
    tmp_path: Path, overrides: dict[str, object], register: dict[str, object]
) -> None:
    user = User("answer")
    result = init(tmp_path, Cluster("tunnels"), overrides, user)

    assert "platform team" not in result.text
    assert bool(user.questions) is ("answer" in register.values())
    assert stack_file(tmp_path) == {
        "config": {f"pic:{key}": value for key, value in overrides.items()}
        | {"pic:clusterId": THIS_CLUSTER, "pic:stackId": stack_id(tmp_path)}
        | register
    }


def test_a_stack_without_a_namespace_for_its_register_lacks_one(tmp_path: Path) -> None:
    assert init(tmp_path, Cluster(), {"tunnelNamespaces": "."}) == bind.BindResult(
        "wrote stacks/Pulumi.prod.yaml\n"
        "  pic:tunnelNamespaces: .\n"
        f"  pic:clusterId: {THIS_CLUSTER}\n"
        f"  pic:stackId: {stack_id(tmp_path)}\n"
        "\n"
        "The cluster lacks:\n"
        "  no namespace for the register, in which pic remembers who has which host: run pic init"
        " with --register-namespace and a namespace that only the platform team may write",
        5,
    )


def test_an_answer_that_is_no_namespace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        init(tmp_path, Cluster(), user=User("Not one"))

    assert str(caught.value).startswith("pic:registerNamespace is 'Not one'")
    assert not (tmp_path / "stacks").exists()


def test_permissions_are_those_of_the_namespaces_that_init_chooses(tmp_path: Path) -> None:
    cluster = Cluster("tunnels")
    cluster.denied = {("list", "configmaps"), ("patch", "configmaps"), ("list", "pangolintunnels")}

    assert init(tmp_path, cluster, user=User("y")).text.splitlines()[-4:] == [
        "The cluster lacks:",
        "  not allowed: list pangolintunnels.tunnel.pangolin.io in tunnels (to find the tunnels)",
        "  not allowed: list configmaps in tunnels (to read the register)",
        "  not allowed: patch configmaps in tunnels (to write the register)",
    ]


def test_an_existing_file_keeps_its_other_settings(tmp_path: Path) -> None:
    file = StackFile(tmp_path, "prod")
    settings = {
        "maxRemovals": 3,
        "clusterId": THIS_CLUSTER,
        "stackId": "0a0a0a0a",
        "tunnelNamespace": "mine",
        "registerNamespace": "register",
    }
    file.merge(settings)

    result = init(tmp_path, Cluster("tunnels"), {"context": "prod"})

    assert file.settings() == {**settings, "context": "prod"}
    assert result.text == (
        f"wrote stacks/Pulumi.prod.yaml\n  pic:context: prod\n  pic:clusterId: {THIS_CLUSTER}\n"
        + READY
    )


def test_the_stack_of_another_cluster_is_refused(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"clusterId": OTHER_CLUSTER})

    with pytest.raises(SettingsError) as caught:
        init(tmp_path, Cluster("tunnels"))

    assert str(caught.value) == (
        f"stack prod belongs to cluster {OTHER_CLUSTER}, but this is cluster {THIS_CLUSTER}:"
        " check pic:context and KUBECONFIG, or use another stack"
    )
    assert stack_file(tmp_path) == {"config": {"pic:clusterId": OTHER_CLUSTER}}


def test_init_lists_what_the_cluster_lacks_and_still_writes_the_file(
    tmp_path: Path,
) -> None:
    cluster = Cluster()
    cluster.kinds = ["pangolinresources"]
    cluster.tunnels = StatusError(404, "no such kind")
    # The optional one is not listed.
    cluster.denied = {("list", "services"), ("create", "events"), ("list", "namespaces")}

    assert init(tmp_path, cluster, user=User("pic")) == bind.BindResult(
        "wrote stacks/Pulumi.prod.yaml\n"
        f"  pic:clusterId: {THIS_CLUSTER}\n"
        f"  pic:stackId: {stack_id(tmp_path)}\n"
        "  pic:registerNamespace: pic\n"
        "\n"
        "The cluster lacks:\n"
        f"  CRD pangolintunnels.tunnel.pangolin.io is missing: {HINT}\n"
        f"  CRD pangolinorganizations.tunnel.pangolin.io is missing: {HINT}\n"
        "  not allowed: list services (to look up the ports of backends)\n"
        "  not allowed: create events (to create Events on Ingresses)",
        5,
    )
    assert stack_file(tmp_path) == {
        "config": {
            "pic:clusterId": THIS_CLUSTER,
            "pic:stackId": stack_id(tmp_path),
            "pic:registerNamespace": "pic",
        }
    }


def test_each_missing_crd_is_named(tmp_path: Path) -> None:
    cluster = Cluster()
    cluster.kinds = cluster.tunnels = StatusError(404, "no such group")

    lines = init(tmp_path, cluster, user=User("pic")).text.splitlines()

    assert lines[6:] == [
        f"  CRD {plural}.tunnel.pangolin.io is missing: {HINT}"
        for plural in ("pangolinresources", "pangolintunnels", "pangolinorganizations")
    ]


def test_an_error_of_the_cluster_leaves_no_file_behind(tmp_path: Path) -> None:
    without_kinds, without_reviews = Cluster(), Cluster()
    without_kinds.kinds = StatusError(500, "away")
    without_reviews.review_error = StatusError(403, "no")

    for cluster in (without_kinds, without_reviews):
        with pytest.raises(ClusterError):
            init(tmp_path, cluster)

        assert not (tmp_path / "stacks").exists()


def test_invalid_settings_are_reported_before_the_cluster_is_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        bind.bind_stack(tmp_path, "prod", {"maxRemovals": "x", "events": "y"}, {})

    assert [line.partition(";")[0] for line in caught.value.problems] == [
        "pic:maxRemovals is 'x'",
        "pic:events is 'y'",
    ]


def test_the_settings_in_the_stack_file_select_the_cluster(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"kubeconfig": "/nowhere"})

    message = r"^cannot connect to the cluster: there is no kubeconfig at /nowhere\."
    with pytest.raises(ClusterError, match=message):
        bind.bind_stack(tmp_path, "prod", {}, {})
