"""`pic init` against a cluster that is made up."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pic.cli import bind
from pic.cluster.listing import IDENTITY, PANGOLIN, StatusError
from pic.core.errors import ClusterError, SettingsError
from pic.settings.parse import parse
from pic.settings.stack_file import StackFile

HERE = "11111111-2222-3333-4444-555555555555"
ELSEWHERE = "22222222-2222-3333-4444-555555555555"
HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"
READY = """
CRDs and permissions are there. Next:
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
            return {"metadata": {"uid": HERE}}
        if path == PANGOLIN:
            return {"resources": [{"name": name} for name in answered(self.kinds)]}
        assert path == f"{PANGOLIN}/pangolintunnels?limit=500"
        items = [{"metadata": {"namespace": n, "name": "t"}} for n in answered(self.tunnels)]
        return {"kind": "PangolinTunnelList", "metadata": {}, "items": items}

    def request(self, method: str, path: str, body: Any) -> object:
        assert (method, path) == (
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        )
        if self.review_error:
            raise self.review_error
        asked = body["spec"]["resourceAttributes"]
        return {"status": {"allowed": (asked["verb"], asked["resource"]) not in self.denied}}


def answered(value: object) -> tuple[str, ...]:
    if isinstance(value, Exception):
        raise value
    assert isinstance(value, list | tuple)
    return tuple(value)


def bound(root: Path, cluster: Cluster, given: dict[str, object] | None = None) -> bind.BindResult:
    file = StackFile(root, "prod")
    stored = file.settings() if file.path.exists() else {}
    settings, _ = parse({**stored, **(given or {})}, {})
    return bind.write_stack_file(file, given or {}, settings, cluster)


def written(root: Path) -> object:
    return yaml.safe_load((root / "stacks" / "Pulumi.prod.yaml").read_text())


def test_a_fresh_stack_is_bound_to_the_cluster_and_its_tunnels(tmp_path: Path) -> None:
    result = bound(tmp_path, Cluster("tunnels", "tunnels"))

    assert result == bind.BindResult(
        "wrote stacks/Pulumi.prod.yaml\n"
        f"  pic:clusterId: {HERE}\n"
        "  pic:tunnelNamespace: tunnels\n" + READY,
        0,
    )
    assert written(tmp_path) == {
        "config": {"pic:clusterId": HERE, "pic:tunnelNamespace": "tunnels"}
    }


@pytest.mark.parametrize("tunnels", [(), ("one", "two")])
def test_tunnels_in_no_or_several_namespaces_decide_nothing(
    tmp_path: Path, tunnels: tuple[str, ...]
) -> None:
    bound(tmp_path, Cluster(*tunnels))

    assert written(tmp_path) == {"config": {"pic:clusterId": HERE}}


@pytest.mark.parametrize(
    "given", [{"tunnelNamespace": "mine"}, {"tunnelNamespaces": "mine,theirs"}]
)
def test_a_tunnel_namespace_that_is_given_is_kept(tmp_path: Path, given: dict[str, object]) -> None:
    bound(tmp_path, Cluster("tunnels"), given)

    assert written(tmp_path) == {
        "config": {f"pic:{key}": value for key, value in given.items()} | {"pic:clusterId": HERE}
    }


def test_a_file_that_is_there_is_merged_into(tmp_path: Path) -> None:
    file = StackFile(tmp_path, "prod")
    file.merge({"maxRemovals": 3, "clusterId": HERE, "tunnelNamespace": "mine"})

    result = bound(tmp_path, Cluster("tunnels"), {"context": "prod"})

    assert written(tmp_path) == {
        "config": {
            "pic:maxRemovals": 3,
            "pic:clusterId": HERE,
            "pic:tunnelNamespace": "mine",
            "pic:context": "prod",
        }
    }
    assert result.text == (
        f"wrote stacks/Pulumi.prod.yaml\n  pic:context: prod\n  pic:clusterId: {HERE}\n" + READY
    )


def test_a_stack_of_another_cluster_is_left_alone(tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"clusterId": ELSEWHERE})

    with pytest.raises(SettingsError) as caught:
        bound(tmp_path, Cluster("tunnels"))

    assert str(caught.value) == (
        f"stack prod belongs to cluster {ELSEWHERE}, and this is {HERE}: check pic:context and"
        " KUBECONFIG, or use another stack"
    )
    assert written(tmp_path) == {"config": {"pic:clusterId": ELSEWHERE}}


def test_what_the_cluster_lacks_is_told_and_the_file_is_written_all_the_same(
    tmp_path: Path,
) -> None:
    cluster = Cluster()
    cluster.kinds = ["pangolinresources"]
    cluster.tunnels = StatusError(404, "no such kind")
    cluster.denied = {("list", "services"), ("create", "events")}

    assert bound(tmp_path, cluster) == bind.BindResult(
        "wrote stacks/Pulumi.prod.yaml\n"
        f"  pic:clusterId: {HERE}\n"
        "\n"
        "The cluster lacks:\n"
        f"  CRD pangolintunnels.tunnel.pangolin.io is missing: {HINT}\n"
        f"  CRD pangolinorganizations.tunnel.pangolin.io is missing: {HINT}\n"
        "  not allowed: list services (to look up the ports of backends)\n"
        "  not allowed: create events (to create Events on Ingresses)",
        5,
    )
    assert written(tmp_path) == {"config": {"pic:clusterId": HERE}}


def test_without_any_crd_each_is_named(tmp_path: Path) -> None:
    cluster = Cluster()
    cluster.kinds = cluster.tunnels = StatusError(404, "no such group")

    lines = bound(tmp_path, cluster).text.splitlines()

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
            bound(tmp_path, cluster)

        assert not (tmp_path / "stacks").exists()


def test_settings_that_cannot_be_right_are_told_before_the_cluster_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SettingsError) as caught:
        bind.bind_stack("prod", {"maxRemovals": "x", "events": "y"}, {})

    assert [line.partition(";")[0] for line in caught.value.problems] == [
        "pic:maxRemovals is 'x'",
        "pic:events is 'y'",
    ]


def test_the_settings_of_a_stack_are_those_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    StackFile(tmp_path, "prod").merge({"kubeconfig": "/nowhere"})

    message = r"^cannot connect to the cluster: Invalid kube-config file"
    with pytest.raises(ClusterError, match=message):
        bind.bind_stack("prod", {}, {})
