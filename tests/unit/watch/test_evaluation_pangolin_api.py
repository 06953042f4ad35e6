"""Tests the evaluation of the watcher where pic changes Pangolin itself."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pic.cluster import listing
from pic.cluster.listing import PANGOLIN
from pic.core.errors import ClusterError
from pic.run import fingerprint
from pic.run.targets.interface import ReadTimeouts
from pic.watch.evaluation import Evaluator
from pic.watch.store import Store
from tests.support.api import SHORT_TIMEOUTS, ingress
from tests.support.evaluators import refill
from tests.support.publishing import HOST, Publisher, publishing

RESOURCES = f"{PANGOLIN}/pangolinresources"
QUICK = ReadTimeouts(1.0, 1.0, 1.0)


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    with publishing(tmp_path) as publisher:
        publisher.ingresses(ingress("web", HOST))
        yield publisher


def evaluator_of(publisher: Publisher) -> Evaluator:
    config = publisher.config()
    transport = listing.connect(config.settings, publisher.environment, SHORT_TIMEOUTS)
    store = Store(listing.listings(config.settings), lambda: 1.0, lambda: None)
    evaluator = Evaluator(config, transport, store, publisher.environment, QUICK)
    refill(evaluator)
    return evaluator


def test_what_is_published_is_in_sync_until_someone_changes_it(publisher: Publisher) -> None:
    publisher.deploy()
    evaluator = evaluator_of(publisher)
    evaluator.deployed = json.loads(json.dumps(fingerprint.deployment(publisher.situation())))

    assert evaluator.evaluate()[0].verdict.in_sync
    assert evaluator.evaluate()[1] is None

    publisher.server.ask("POST", f"/resource/{publisher.id_of()}", {"enabled": False})

    assert evaluator.evaluate(read_targets=False)[0].verdict.in_sync
    assert not evaluator.evaluate()[0].verdict.in_sync


def test_a_pangolin_that_does_not_answer_is_a_reason_for_a_run(publisher: Publisher) -> None:
    publisher.deploy()
    evaluator = evaluator_of(publisher)
    evaluator.deployed = json.loads(json.dumps(fingerprint.deployment(publisher.situation())))
    publisher.server.die("a test")

    assert not evaluator.evaluate()[0].verdict.in_sync


def test_an_object_of_an_operator_is_seen_with_a_refresh(publisher: Publisher) -> None:
    evaluator = evaluator_of(publisher)
    plan = evaluator.evaluate()[1]
    publisher.api.set_objects(
        RESOURCES,
        {
            "metadata": {"namespace": "prod", "name": "theirs", "uid": "1"},
            "spec": {"httpConfig": {"domainName": "example.com", "subdomain": "web"}},
        },
    )
    evaluator.refresh()
    after = evaluator.evaluate()[1]

    assert plan is not None
    assert after is not None
    assert (len(plan.resources), len(after.resources)) == (1, 0)


def test_objects_of_an_operator_that_cannot_be_read_are_an_error(publisher: Publisher) -> None:
    publisher.api.refuse(RESOURCES, 500, "broken")
    settings = replace(publisher.config().settings)
    transport = listing.connect(settings, publisher.environment, SHORT_TIMEOUTS)

    with pytest.raises(ClusterError):
        listing.read_objects_of_operator(transport, settings)
