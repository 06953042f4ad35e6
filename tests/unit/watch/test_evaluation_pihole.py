"""Looking at Pi-hole from within a watcher: what it has is compared, and it is not waited for."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dev.pihole import PiHole
from pic.cluster import listing
from pic.pihole.lock import hold_lock
from pic.planning.ownership import Ownership
from pic.run.stack_config import StackConfig
from pic.settings.parse import PiholeApi, Settings, TargetName
from pic.watch import evaluation
from pic.watch.evaluation import Evaluator
from pic.watch.store import Store
from tests.support.api import (
    CLUSTER,
    SHORT_TIMEOUTS,
    Api,
    fill_cluster,
    ingress,
    serving,
)
from tests.support.deployed import STACK
from tests.unit.watch.test_evaluation import refresh

HOST, TARGET = "web.lan", "192.0.2.1"
LINE = f"{TARGET} {HOST} # k8s:{CLUSTER}"
PASSWORD = "sesame-opens"  # noqa: S105 - of no Pi-hole but this one
MANAGED = {"pihole.io/managed-hosts": HOST}


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as made:
        hold(made, MANAGED)
        yield made


@pytest.fixture
def pihole() -> Iterator[PiHole]:
    with PiHole(password=PASSWORD, records=[LINE]) as made:
        yield made


def hold(api: Api, annotations: Mapping[str, str]) -> None:
    """Let the cluster have one Ingress whose host is to be registered."""
    web = ingress("web", HOST)
    web["metadata"]["annotations"] = {"pihole.io/register": "true", **annotations}
    fill_cluster(api, [web])


def logins(pihole: PiHole) -> int:
    return sum((each.method, each.path) == ("POST", "/api/auth") for each in pihole.log)


def looker(api: Api, folder: Path, url: str, **settings: Any) -> Evaluator:
    """Return one that knows what is in the cluster, and takes all of it for deployed."""
    wanted = Settings(
        targets=(TargetName.PIHOLE,), pihole_url=url, pihole_target_ip=TARGET, **settings
    )
    environment = {"KUBECONFIG": api.kubeconfig(folder / "config"), "PIHOLE_PASSWORD": PASSWORD}
    cache = Store(listing.listings(wanted), lambda: 1.0, lambda: None)
    transport = listing.connect(wanted, environment, SHORT_TIMEOUTS)
    made = Evaluator(
        StackConfig(wanted, STACK, Ownership(STACK), ()), transport, cache, environment
    )
    refresh(made)
    made.deployed = dict(made.look()[0].deployment)
    return made


def test_records_as_they_were_deployed_are_read_and_not_planned_for(
    api: Api, pihole: PiHole, tmp_path: Path
) -> None:
    found = looker(api, tmp_path, pihole.url)

    views = [found.look() for _ in range(2)]

    assert [(view.verdict.same, plan) for view, plan in views] == [(True, None)] * 2
    assert found.plans == 1
    assert (logins(pihole), pihole.sessions) == (3, 0)


@pytest.mark.parametrize("lines", [[], [LINE.replace(TARGET, "192.0.2.9")]])
def test_a_record_that_somebody_has_changed_is_a_reason_to_run(
    api: Api, pihole: PiHole, tmp_path: Path, lines: list[str]
) -> None:
    found = looker(api, tmp_path, pihole.url)
    before, _ = found.look()
    pihole.lines = lines

    changed, plan = found.look()
    pihole.lines = [LINE]
    again, _ = found.look()

    assert plan is not None
    assert [it.verdict.same for it in (before, changed, again)] == [True, False, True]
    assert changed.verdict.wish != before.verdict.wish


def test_a_record_of_ours_that_nobody_wants_is_a_reason_to_run(
    api: Api, pihole: PiHole, tmp_path: Path
) -> None:
    found = looker(api, tmp_path, pihole.url)
    pihole.lines = [LINE, LINE.replace(HOST, "gone.lan")]

    assert found.look()[0].verdict.same is False


def test_records_that_the_guard_refuses_to_remove_are_counted(
    api: Api, pihole: PiHole, tmp_path: Path
) -> None:
    found = looker(api, tmp_path, pihole.url)
    pihole.lines = [LINE, *(LINE.replace(HOST, f"h{at}.lan") for at in range(9))]

    view, _ = found.look()

    assert "9 of 10 DNS records would be removed" in view.verdict.refusal
    assert view.removals == 9


def test_records_of_others_are_none_of_our_business(
    api: Api, pihole: PiHole, tmp_path: Path
) -> None:
    found = looker(api, tmp_path, pihole.url)
    pihole.lines = [LINE, "192.0.2.7 nas.lan"]

    assert found.look()[0].verdict.same is True


def test_an_annotation_that_somebody_took_away_is_a_reason_to_run(
    api: Api, pihole: PiHole, tmp_path: Path
) -> None:
    found = looker(api, tmp_path, pihole.url)
    hold(api, {})
    refresh(found)

    assert found.look()[0].verdict.same is False


def test_what_a_pi_hole_does_not_tell_a_run_finds_out(
    api: Api, pihole: PiHole, tmp_path: Path
) -> None:
    found = looker(api, tmp_path, pihole.url)
    before, _ = found.look()
    pihole.die("it is switched off")

    away, _ = found.look()
    pihole.restart()
    back, _ = found.look()

    assert [it.verdict.same for it in (before, away, back)] == [True, False, True]
    assert away.verdict.wish != before.verdict.wish


def test_a_pi_hole_that_somebody_else_works_with_is_not_waited_for_long(
    api: Api, pihole: PiHole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = looker(api, tmp_path, pihole.url)
    monkeypatch.setattr(evaluation, "LOCK_SECONDS", 0.01)
    before = logins(pihole)

    with hold_lock(pihole.url):
        view, _ = found.look()

    assert (view.verdict.same, logins(pihole)) == (False, before)


def test_what_was_read_last_counts_where_pi_hole_is_left_alone(
    api: Api, pihole: PiHole, tmp_path: Path
) -> None:
    found = looker(api, tmp_path, pihole.url)
    before = logins(pihole)
    pihole.lines = []

    assert found.look(read_targets=False)[0].verdict.same is True
    assert logins(pihole) == before


def test_without_room_for_a_marker_the_annotations_tell_ours(api: Api, tmp_path: Path) -> None:
    lines = [f"{TARGET} {HOST}"]

    with PiHole(password=PASSWORD, api="dns-local", records=lines) as pihole:
        found = looker(api, tmp_path, pihole.url, pihole_api=PiholeApi.DNS_LOCAL)
        before, _ = found.look()
        pihole.lines = []
        gone, _ = found.look()

    assert (before.verdict.same, gone.verdict.same) == (True, False)
