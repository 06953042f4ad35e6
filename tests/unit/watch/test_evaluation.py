"""Tests the evaluation: it plans once, and compares with what was deployed."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from pic.cluster import listing
from pic.cluster.listing import CORE, CRD, NETWORKING, PANGOLIN, Transport
from pic.core.errors import ClusterError
from pic.core.held import Verdict
from pic.core.register import GoneBy
from pic.planning.ownership import Ownership
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings
from pic.watch.evaluation import Evaluator
from pic.watch.store import Store
from tests.support.api import (
    CRD_FILE,
    REGISTER,
    REGISTER_NAMESPACE,
    SHORT_TIMEOUTS,
    STACK_ID,
    Answer,
    Api,
    config_maps_of,
    fill_cluster,
    ingress,
    serving,
)
from tests.support.deployed import STACK
from tests.support.evaluators import refill
from tests.support.memories import entry, register

HOST = "app.example.com"
RESOURCES = f"{PANGOLIN}/pangolinresources"
SETTINGS = Settings(tunnel_namespaces=(".",))


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as server:
        fill_cluster(server, [ingress("web", HOST)])
        yield server


@pytest.fixture
def evaluator(api: Api, tmp_path: Path) -> Evaluator:
    """An evaluator whose store has everything that the server has."""
    config = StackConfig(SETTINGS, STACK, Ownership(STACK), ())
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
    transport = listing.connect(config.settings, environment, SHORT_TIMEOUTS)
    store = Store(listing.listings(config.settings), lambda: 1.0, lambda: None)
    evaluator = Evaluator(config, transport, store)
    refill(evaluator)
    return evaluator


def live_object(evaluator: Evaluator) -> Mapping[str, object]:
    """Return the object that the one planned resource becomes."""
    _, plan = evaluator.evaluate()
    assert plan is not None
    [resource] = plan.resources
    return {
        "metadata": {
            "namespace": resource.namespace,
            "name": resource.name,
            "labels": resource.labels,
            "ownerReferences": [
                {"kind": "Ingress", "name": owner.name, "uid": owner.uid, "controller": True}
                for owner in resource.owners
            ],
        },
        "spec": {
            "enabled": True,
            "name": resource.spec.name,
            "protocol": resource.spec.protocol,
            "tunnelRef": {"name": "default", "namespace": "prod"},
            "httpConfig": {
                "domainName": resource.spec.http.domain_name,
                "subdomain": resource.spec.http.subdomain,
                "sso": resource.spec.http.sso,
                "blockAccess": resource.spec.http.block_access,
            },
            "targets": [
                {
                    "ip": target.ip,
                    "port": target.port,
                    "method": target.method,
                    "path": target.path,
                    "pathMatchType": target.match,
                    "priority": target.priority,
                }
                for target in resource.spec.targets
            ],
        },
    }


def test_a_host_without_an_object_is_work(evaluator: Evaluator) -> None:
    evaluation, plan = evaluator.evaluate()

    assert plan is not None
    assert [resource.host for resource in plan.resources] == [HOST]
    verdict = evaluation.verdict
    assert (verdict.in_sync, verdict.refusal, evaluation.removals) == (False, "", 0)


def test_live_objects_that_were_deployed_are_in_sync_without_a_new_plan(
    api: Api, evaluator: Evaluator
) -> None:
    api.set_objects(RESOURCES, live_object(evaluator))
    refill(evaluator)
    first, _ = evaluator.evaluate()
    evaluator.deployed = dict(first.deployment)
    second, plan = evaluator.evaluate()

    assert (first.verdict.in_sync, second.verdict.in_sync) == (False, True)
    assert plan is None
    assert evaluator.plan_count == 2


def test_an_object_that_was_changed_by_hand_is_work(api: Api, evaluator: Evaluator) -> None:
    live: Any = live_object(evaluator)
    api.set_objects(RESOURCES, live)
    refill(evaluator)
    before, _ = evaluator.evaluate()
    evaluator.deployed = dict(before.deployment)
    live["spec"]["targets"][0]["port"] = 81
    refill(evaluator)
    after, _ = evaluator.evaluate()
    again, _ = evaluator.evaluate()

    assert (again.verdict.in_sync, after.verdict.in_sync) == (False, False)
    assert after.verdict.work != before.verdict.work


def test_a_changed_schema_makes_a_new_plan(api: Api, evaluator: Evaluator) -> None:
    evaluator.evaluate()
    evaluator.refresh()
    before, _ = evaluator.evaluate()
    crd = yaml.safe_load(CRD_FILE.read_text().replace("targets:", "target:"))
    api.set_answers(CRD, Answer(crd))
    evaluator.refresh()
    after, plan = evaluator.evaluate()

    assert plan is not None
    assert after.verdict.work != before.verdict.work


def test_an_evaluation_without_a_schema_fails(api: Api, evaluator: Evaluator) -> None:
    api.refuse(CRD, 404, "not found")

    with pytest.raises(ClusterError, match="the cluster has no CRD for PangolinResource"):
        evaluator.evaluate()


class Clock(Transport):
    """Reads from the server, and tells the time of the test."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.time = "2026-01-02T00:00:00Z"

    def get(self, path: str) -> object:
        return self.inner.get(path)

    def now(self) -> str:
        return self.time

    def request(self, method: str, path: str, body: object) -> object:
        return self.inner.request(method, path, body)


def test_17_a_plan_is_made_again_when_time_alone_changes_it(api: Api, evaluator: Evaluator) -> None:
    """Without a change in the cluster, a host that is gone becomes free for others."""
    gone = entry(HOST, "team", gone="2026-01-01T00:01:00Z", gone_by=GoneBy.KUBERNETES)
    api.set_objects(REGISTER, *config_maps_of(register([gone], stack_id=STACK_ID)))
    settings = replace(SETTINGS, stack_id=STACK_ID, register_namespace=REGISTER_NAMESPACE)
    ownership = Ownership(STACK, stack_id=STACK_ID)
    clock = Clock(evaluator.transport)
    evaluator.transport = clock
    evaluator.config = replace(evaluator.config, settings=settings, ownership=ownership)

    first, waiting = evaluator.evaluate()
    evaluator.deployed = dict(first.deployment)
    assert waiting is not None
    assert ([it.verdict for it in waiting.held], waiting.resources) == ([Verdict.MOVED], ())
    assert evaluator.next_change == 60.0

    clock.time = "2026-01-02T00:01:30Z"
    assert evaluator.next_change == 0.0
    _, free = evaluator.evaluate()
    assert free is not None
    assert [resource.host for resource in free.resources] == [HOST]
    assert evaluator.next_change is None


def test_an_evaluation_reports_what_the_guard_refuses(api: Api, evaluator: Evaluator) -> None:
    live: Any = live_object(evaluator)
    # Kubernetes collects an object with owners, so without an Ingress nothing is lost by pic.
    live["metadata"]["ownerReferences"] = []
    api.set_objects(RESOURCES, live)
    api.set_objects(f"{NETWORKING}/ingresses")
    refill(evaluator)
    evaluation, _ = evaluator.evaluate()

    assert evaluation.verdict.refusal.splitlines()[1:] == [
        f"The only live host would be removed: {HOST}."
    ]
    assert evaluation.removals == 1


def test_26_a_namespace_that_begins_to_go_makes_a_new_plan(evaluator: Evaluator, api: Api) -> None:
    first, _ = evaluator.evaluate()
    going = {"metadata": {"name": "prod", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    api.set_objects(f"{CORE}/namespaces", going)

    second, plan = evaluator.evaluate()

    assert plan is not None
    assert plan.resources == ()
    assert (first.verdict.in_sync, second.verdict.in_sync) == (False, False)


def test_26_an_evaluation_does_without_the_namespaces(evaluator: Evaluator, api: Api) -> None:
    api.refuse(f"{CORE}/namespaces", 403, "no")

    _, plan = evaluator.evaluate()

    assert plan is not None
    assert [resource.host for resource in plan.resources] == [HOST]
