"""Tests the evaluation with Pi-hole as a target: it compares records, and never waits for long."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dev.pihole import PiHole
from pic.cluster import listing
from pic.cluster.listing import NETWORKING
from pic.core.held import Verdict
from pic.pihole.lock import hold_lock
from pic.planning.ownership import Ownership
from pic.run.stack_config import StackConfig
from pic.settings.parse import PiholeApi, Settings, TargetName
from pic.watch.evaluation import Evaluator
from pic.watch.store import Store
from tests.support.api import CLUSTER, SHORT_TIMEOUTS, Api, fill_cluster, ingress, serving
from tests.support.deployed import STACK
from tests.support.evaluators import refill

HOST, TARGET = "web.lan", "192.0.2.1"
LINE = f"{TARGET} {HOST} # k8s:{CLUSTER}"
PASSWORD = "sesame-opens"  # noqa: S105 - of the fake Pi-hole only
MANAGED = {"pihole.io/managed-hosts": HOST}


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as server:
        set_ingress(server, MANAGED)
        yield server


@pytest.fixture
def pihole() -> Iterator[PiHole]:
    with PiHole(password=PASSWORD, records=[LINE]) as server:
        yield server


def set_ingress(api: Api, annotations: Mapping[str, str]) -> None:
    """Let the cluster have one Ingress whose host is to be registered."""
    web = ingress("web", HOST)
    web["metadata"]["annotations"] = {"pihole.io/register": "true", **annotations}
    fill_cluster(api, [web])


def logins(pihole: PiHole) -> int:
    return sum((entry.method, entry.path) == ("POST", "/api/auth") for entry in pihole.log)


def evaluator_for(api: Api, folder: Path, url: str, **fields: Any) -> Evaluator:
    """Return an evaluator that knows the whole cluster, all of which counts as deployed."""
    settings = Settings(
        targets=(TargetName.PIHOLE,), pihole_url=url, pihole_target_ip=TARGET, **fields
    )
    environment = {"KUBECONFIG": api.kubeconfig(folder / "config"), "PIHOLE_PASSWORD": PASSWORD}
    store = Store(listing.listings(settings), lambda: 1.0, lambda: None)
    transport = listing.connect(settings, environment, SHORT_TIMEOUTS)
    config = StackConfig(settings, STACK, Ownership(STACK), ())
    evaluator = Evaluator(config, transport, store, environment)
    refill(evaluator)
    evaluator.deployed = dict(evaluator.evaluate()[0].deployment)
    return evaluator


@pytest.fixture
def evaluator(api: Api, pihole: PiHole, tmp_path: Path) -> Evaluator:
    return evaluator_for(api, tmp_path, pihole.url)


def test_unchanged_records_are_read_but_not_planned_again(
    evaluator: Evaluator, pihole: PiHole
) -> None:
    results = [evaluator.evaluate() for _ in range(2)]

    assert [(result.verdict.in_sync, plan) for result, plan in results] == [(True, None)] * 2
    assert evaluator.plan_count == 1
    assert (logins(pihole), pihole.sessions) == (3, 0)


@pytest.mark.parametrize("lines", [[], [LINE.replace(TARGET, "192.0.2.9")]])
def test_a_record_that_was_changed_by_hand_is_a_reason_for_a_run(
    evaluator: Evaluator, pihole: PiHole, lines: list[str]
) -> None:
    before, _ = evaluator.evaluate()
    pihole.lines = lines

    changed, plan = evaluator.evaluate()
    pihole.lines = [LINE]
    after, _ = evaluator.evaluate()

    assert plan is not None
    assert [evaluation.verdict.in_sync for evaluation in (before, changed, after)] == [
        True,
        False,
        True,
    ]
    assert changed.verdict.work != before.verdict.work


def test_an_owned_record_that_is_not_planned_is_a_reason_for_a_run(
    evaluator: Evaluator, pihole: PiHole
) -> None:
    pihole.lines = [LINE, LINE.replace(HOST, "gone.lan")]

    assert evaluator.evaluate()[0].verdict.in_sync is False


def test_record_removals_that_the_guard_holds_are_no_work_and_in_the_plan(
    evaluator: Evaluator, pihole: PiHole
) -> None:
    pihole.lines = [LINE, *(LINE.replace(HOST, f"h{number}.lan") for number in range(9))]

    evaluation, plan = evaluator.evaluate()

    assert plan is not None
    assert [(held.host, held.verdict) for held in plan.held] == [
        (f"h{number}.lan/A", Verdict.REMOVED) for number in range(9)
    ]
    assert (evaluation.verdict.refusal, evaluation.removals) == ("", 0)


def test_record_removals_that_the_guard_refuses_are_counted(api: Api, evaluator: Evaluator) -> None:
    api.set_objects(f"{NETWORKING}/ingresses")
    refill(evaluator)

    evaluation, _ = evaluator.evaluate()

    assert evaluation.verdict.refusal.splitlines()[1:] == [
        f"The only live DNS record would be removed: {HOST} ({TARGET})."
    ]
    assert evaluation.removals == 1


def test_records_that_pic_does_not_own_are_ignored(evaluator: Evaluator, pihole: PiHole) -> None:
    pihole.lines = [LINE, "192.0.2.7 nas.lan"]

    assert evaluator.evaluate()[0].verdict.in_sync is True


def test_a_removed_annotation_is_a_reason_for_a_run(api: Api, evaluator: Evaluator) -> None:
    set_ingress(api, {})
    refill(evaluator)

    assert evaluator.evaluate()[0].verdict.in_sync is False


def test_a_pi_hole_that_does_not_answer_is_a_reason_for_a_run(
    evaluator: Evaluator, pihole: PiHole
) -> None:
    before, _ = evaluator.evaluate()
    pihole.die("it is switched off")

    away, _ = evaluator.evaluate()
    pihole.restart()
    back, _ = evaluator.evaluate()

    assert [evaluation.verdict.in_sync for evaluation in (before, away, back)] == [
        True,
        False,
        True,
    ]
    assert away.verdict.work != before.verdict.work


def test_an_evaluation_waits_only_briefly_for_a_locked_pi_hole(
    evaluator: Evaluator, pihole: PiHole
) -> None:
    evaluator.timeouts = replace(evaluator.timeouts, lock=0.01)
    before = logins(pihole)

    with hold_lock(pihole.url):
        evaluation, _ = evaluator.evaluate()

    assert (evaluation.verdict.in_sync, logins(pihole)) == (False, before)


def test_the_last_reading_counts_if_pi_hole_is_not_read(
    evaluator: Evaluator, pihole: PiHole
) -> None:
    before = logins(pihole)
    pihole.lines = []

    assert evaluator.evaluate(read_targets=False)[0].verdict.in_sync is True
    assert logins(pihole) == before


def test_annotations_identify_owned_records_that_have_no_marker(api: Api, tmp_path: Path) -> None:
    lines = [f"{TARGET} {HOST}"]

    with PiHole(password=PASSWORD, api="dns-local", records=lines) as pihole:
        evaluator = evaluator_for(api, tmp_path, pihole.url, pihole_api=PiholeApi.DNS_LOCAL)
        before, _ = evaluator.evaluate()
        pihole.lines = []
        after, _ = evaluator.evaluate()

    assert (before.verdict.in_sync, after.verdict.in_sync) == (True, False)
