"""Tests how long a run waits for objects that Kubernetes is deleting."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pic.cluster import wait
from pic.cluster.listing import StatusError
from pic.cluster.wait import Clock
from pic.core.errors import ClusterError
from pic.core.ingress import Deletion
from pic.core.model import LiveResource
from pic.run import settling
from pic.run.situation import Situation
from pic.settings.parse import ResourceSchema, Settings
from tests.support.deployed import CLUSTER, A, B, make_live, make_situation, wanted

SETTINGS = Settings(cluster_id=CLUSTER, resource_schema=ResourceSchema.TARGETS)
PLURAL = "/apis/tunnel.pangolin.io/v1alpha1/namespaces/prod/pangolinresources"


def going(host: str, since: str = "2025-01-01T00:00:00+00:00") -> LiveResource:
    return replace(make_live(wanted(host)), going=Deletion(since))


@dataclass
class Cluster:
    """A cluster whose objects are gone after some seconds, and a clock that only sleeping moves."""

    gone_at: float
    uid: str = "uid-of-pic-a"
    seconds: float = 0.0
    lines: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def get(self, path: str) -> object:
        self.paths.append(path)
        if "kube-system" in path:
            return {"metadata": {"uid": CLUSTER}}
        bare = path.partition("?")[0]
        kinds = {"ingresses": "Ingress", "services": "Service", "namespaces": "Namespace"}
        kinds |= {"pangolintunnels": "PangolinTunnel", "pangolinresources": "PangolinResource"}
        kind = kinds.get(bare.rpartition("/")[2], "PangolinOrganization")
        items: list[Any] = []
        if bare == PLURAL and self.seconds < self.gone_at:
            items = [{"metadata": {"uid": self.uid}}]
        return {"kind": f"{kind}List", "metadata": {}, "items": items}

    def request(self, method: str, path: str, body: object) -> object:
        raise AssertionError((method, path, body))

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    @property
    def clock(self) -> Clock:
        return Clock(self.lines.append, lambda: self.seconds, self.sleep)


def settled(situation: Situation, cluster: Cluster) -> Situation:
    return settling.settle(replace(situation, transport=cluster), {}, cluster.clock)


def test_23_a_run_plans_again_once_the_object_is_gone() -> None:
    cluster = Cluster(0.5)
    situation = make_situation((going(A),), (wanted(A),), SETTINGS)

    after = settled(situation, cluster)

    assert cluster.lines == ["waiting for 1 object that Kubernetes is deleting"]
    assert 0.5 <= cluster.seconds < 1
    assert cluster.paths[0] == f"{PLURAL}?fieldSelector=metadata.name%3Dpic-a"
    assert (after.changes.going, after.plan.resources) == ((), ())


def test_23_a_run_waits_ten_seconds_for_all_objects_together() -> None:
    cluster = Cluster(1000)
    situation = make_situation((going(A), going(B)), (wanted(A), wanted(B)), SETTINGS)

    settled(situation, cluster)

    assert cluster.lines == ["waiting for 2 objects that Kubernetes is deleting"]
    assert cluster.seconds == pytest.approx(10, abs=0.3)


def test_23_another_object_of_the_same_name_is_not_waited_for() -> None:
    cluster = Cluster(1000, uid="other")

    settled(make_situation((going(A),), (wanted(A),), SETTINGS), cluster)

    assert cluster.seconds == 0


def test_20_an_object_that_has_been_going_for_long_is_not_waited_for() -> None:
    situation = make_situation((going(A),), (wanted(A),), SETTINGS)
    late = replace(situation.snapshot, now="2025-01-01T01:00:00+00:00")
    situation = replace(situation, snapshot=late)
    cluster = Cluster(1000)

    assert settled(situation, cluster).plan == situation.plan
    assert cluster.paths == []


def test_an_answer_that_is_an_error_ends_the_wait() -> None:
    class Failing(Cluster):
        def get(self, path: str) -> object:
            raise StatusError(500, f"away: {path[:5]}")

    cluster = Failing(1)
    with pytest.raises(ClusterError) as caught:
        wait.wait_until_gone(cluster, [going(A)], 1, cluster.clock)

    assert str(caught.value) == (
        "cannot list pangolinresources in namespace prod: away: /apis (HTTP 500); try again when"
        " the API server is healthy"
    )
