"""Looking at what is known: planned for once, compared with what was deployed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from pic.cluster import listing
from pic.cluster.listing import CRD, NETWORKING, PANGOLIN
from pic.core.errors import ClusterError
from pic.planning.ownership import Ownership
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings
from pic.watch.evaluation import Evaluator
from pic.watch.store import Store, object_key, pack
from tests.support.api import (
    CRD_FILE,
    SHORT_TIMEOUTS,
    Answer,
    Api,
    fill_cluster,
    ingress,
    serving,
)
from tests.support.deployed import STACK

HOST = "app.example.com"
RESOURCES = f"{PANGOLIN}/pangolinresources"


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as made:
        fill_cluster(made, [ingress("web", HOST)])
        yield made


def looker(api: Api, folder: Path, **settings: Any) -> Evaluator:
    asked = StackConfig(Settings(**settings), STACK, Ownership(STACK), ())
    transport = listing.connect(
        asked.settings, {"KUBECONFIG": api.kubeconfig(folder / "config")}, SHORT_TIMEOUTS
    )
    made = Evaluator(
        asked, transport, Store(listing.listings(asked.settings), lambda: 1.0, lambda: None)
    )
    refresh(made)
    return made


def refresh(looker: Evaluator) -> None:
    """Let the cache know what the server has."""
    for read in listing.listings(looker.config.settings):
        found = listing.list_objects(looker.transport, read)
        looker.cache.replace(read, {object_key(raw): pack(read.kind.name, raw) for raw in found})


def created(looker: Evaluator) -> Mapping[str, object]:
    """Let the object of the plan be there, and return what is deployed then."""
    _, plan = looker.look()
    assert plan is not None
    [made] = plan.resources
    return {
        "metadata": {
            "namespace": made.namespace,
            "name": made.name,
            "labels": made.labels,
            "ownerReferences": [
                {"kind": "Ingress", "name": each.name, "uid": each.uid, "controller": True}
                for each in made.owners
            ],
        },
        "spec": {
            "enabled": True,
            "name": made.spec.name,
            "protocol": made.spec.protocol,
            "tunnelRef": {"name": "default", "namespace": "prod"},
            "httpConfig": {
                "domainName": made.spec.http.domain_name,
                "subdomain": made.spec.http.subdomain,
                "sso": made.spec.http.sso,
                "blockAccess": made.spec.http.block_access,
            },
            "targets": [
                {
                    "ip": each.ip,
                    "port": each.port,
                    "method": each.method,
                    "path": each.path,
                    "pathMatchType": each.match,
                    "priority": each.priority,
                }
                for each in made.spec.targets
            ],
        },
    }


def test_a_host_without_an_object_differs(api: Api, tmp_path: Path) -> None:
    view, plan = looker(api, tmp_path).look()

    assert plan is not None
    assert [each.host for each in plan.resources] == [HOST]
    assert (view.verdict.same, view.verdict.refusal, view.removals) == (False, "", 0)


def test_what_is_live_and_was_deployed_is_the_same(api: Api, tmp_path: Path) -> None:
    found = looker(api, tmp_path)
    api.set_objects(RESOURCES, created(found))
    refresh(found)
    unknown, _ = found.look()
    found.deployed = dict(unknown.deployment)
    known, plan = found.look()

    assert (unknown.verdict.same, known.verdict.same) == (False, True)
    assert plan is None
    assert found.plans == 2


def test_an_object_that_was_changed_by_hand_differs(api: Api, tmp_path: Path) -> None:
    found = looker(api, tmp_path)
    live: Any = created(found)
    api.set_objects(RESOURCES, live)
    refresh(found)
    view, _ = found.look()
    found.deployed = dict(view.deployment)
    live["spec"]["targets"][0]["port"] = 81
    refresh(found)
    changed, _ = found.look()

    assert (found.look()[0].verdict.same, changed.verdict.same) == (False, False)
    assert changed.verdict.wish != view.verdict.wish


def test_another_schema_is_planned_for_anew(api: Api, tmp_path: Path) -> None:
    found = looker(api, tmp_path)
    found.look()
    found.ask()
    same, _ = found.look()
    crd = yaml.safe_load(CRD_FILE.read_text().replace("targets:", "target:"))
    api.set_answers(CRD, Answer(crd))
    found.ask()
    other, plan = found.look()

    assert plan is not None
    assert other.verdict.wish != same.verdict.wish


def test_without_a_schema_nobody_looks(api: Api, tmp_path: Path) -> None:
    found = looker(api, tmp_path)
    api.refuse(CRD, 404, "not found")

    with pytest.raises(ClusterError, match="the cluster has no CRD for PangolinResource"):
        found.look()


def test_what_the_guard_refuses_has_a_name_and_a_number(api: Api, tmp_path: Path) -> None:
    found = looker(api, tmp_path)
    live = created(found)
    api.set_objects(RESOURCES, live)
    api.set_objects(f"{NETWORKING}/ingresses")
    refresh(found)
    view, _ = found.look()

    assert "The plan has no hosts" in view.verdict.refusal
    assert view.removals == 1
