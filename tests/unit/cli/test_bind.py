"""Tests how `pic init` binds a stack, with a fake cluster."""

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


def init(
    root: Path, cluster: Cluster, overrides: dict[str, object] | None = None
) -> bind.BindResult:
    file = StackFile(root, "prod")
    stored = file.settings() if file.path.exists() else {}
    settings, _ = parse({**stored, **(overrides or {})}, {})
    return bind.write_stack_file(file, overrides or {}, settings, cluster)


def stack_file(root: Path) -> object:
    return yaml.safe_load((root / "stacks" / "Pulumi.prod.yaml").read_text())


def test_a_new_stack_gets_the_cluster_id_and_the_namespace_of_the_tunnels(tmp_path: Path) -> None:
    result = init(tmp_path, Cluster("tunnels", "tunnels"))

    assert result == bind.BindResult(
        "wrote stacks/Pulumi.prod.yaml\n"
        f"  pic:clusterId: {THIS_CLUSTER}\n"
        "  pic:tunnelNamespace: tunnels\n"
        "\n"
        "Only the platform team should create tunnels in namespace tunnels.\n" + READY,
        0,
    )
    assert stack_file(tmp_path) == {
        "config": {"pic:clusterId": THIS_CLUSTER, "pic:tunnelNamespace": "tunnels"}
    }


@pytest.mark.parametrize(
    ("tunnels", "namespaces"), [((), "none yet"), (("two", "one", "two"), "one, two")]
)
def test_tunnels_in_no_or_several_namespaces_set_no_namespace_and_init_says_so(
    tmp_path: Path, tunnels: tuple[str, ...], namespaces: str
) -> None:
    result = init(tmp_path, Cluster(*tunnels))

    assert result == bind.BindResult(
        "wrote stacks/Pulumi.prod.yaml\n"
        f"  pic:clusterId: {THIS_CLUSTER}\n"
        "\n"
        f"pic:tunnelNamespace is not set. Namespaces with tunnels: {namespaces}.\n"
        "Until you set it, pic exposes no new host:\n"
        "  pic init --stack prod --tunnel-namespace NAMESPACE\n"
        "or, to use the tunnels in the namespace of each Ingress:\n"
        "  pic init --stack prod --config tunnelNamespaces=.\n" + READY,
        0,
    )
    assert stack_file(tmp_path) == {"config": {"pic:clusterId": THIS_CLUSTER}}


@pytest.mark.parametrize(
    "overrides",
    [
        {"tunnelNamespace": "mine"},
        {"tunnelNamespaces": "mine,theirs"},
        {"tunnelNamespaces": "."},
        {"targets": "pihole"},
    ],
)
def test_a_tunnel_namespace_of_the_user_is_kept_and_pihole_alone_needs_none(
    tmp_path: Path, overrides: dict[str, object]
) -> None:
    result = init(tmp_path, Cluster("tunnels"), overrides)

    assert "platform team" not in result.text
    assert stack_file(tmp_path) == {
        "config": {f"pic:{key}": value for key, value in overrides.items()}
        | {"pic:clusterId": THIS_CLUSTER}
    }


def test_an_existing_file_keeps_its_other_settings(tmp_path: Path) -> None:
    file = StackFile(tmp_path, "prod")
    file.merge({"maxRemovals": 3, "clusterId": THIS_CLUSTER, "tunnelNamespace": "mine"})

    result = init(tmp_path, Cluster("tunnels"), {"context": "prod"})

    assert stack_file(tmp_path) == {
        "config": {
            "pic:maxRemovals": 3,
            "pic:clusterId": THIS_CLUSTER,
            "pic:tunnelNamespace": "mine",
            "pic:context": "prod",
        }
    }
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

    assert init(tmp_path, cluster) == bind.BindResult(
        "wrote stacks/Pulumi.prod.yaml\n"
        f"  pic:clusterId: {THIS_CLUSTER}\n"
        "\n"
        "The cluster lacks:\n"
        f"  CRD pangolintunnels.tunnel.pangolin.io is missing: {HINT}\n"
        f"  CRD pangolinorganizations.tunnel.pangolin.io is missing: {HINT}\n"
        "  not allowed: list services (to look up the ports of backends)\n"
        "  not allowed: create events (to create Events on Ingresses)",
        5,
    )
    assert stack_file(tmp_path) == {"config": {"pic:clusterId": THIS_CLUSTER}}


def test_each_missing_crd_is_named(tmp_path: Path) -> None:
    cluster = Cluster()
    cluster.kinds = cluster.tunnels = StatusError(404, "no such group")

    lines = init(tmp_path, cluster).text.splitlines()

    assert lines[4:] == [
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
