"""Tests what a status says of hosts in Pangolin itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pic.cluster.readiness import ReadyState
from pic.core.errors import TargetError
from pic.core.model import Snapshot
from pic.run import published_status
from tests.support.api import ingress
from tests.support.publishing import HOST, Publisher, publishing

OTHER = "shop.example.com"


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    with publishing(tmp_path) as publisher:
        publisher.ingresses(ingress("web", HOST))
        yield publisher


def status(publisher: Publisher) -> list[tuple[str, str, str, str]]:
    report = published_status.read_again(publisher.situation())
    return [(row.host, row.readiness.value, row.phase, row.message) for row in report.rows]


def test_a_host_is_ready_once_it_is_published(publisher: Publisher) -> None:
    publisher.deploy()

    assert status(publisher) == [(HOST, "ready", "published", "")]
    [row] = published_status.read_again(publisher.situation()).rows
    assert (row.url, row.namespace) == (f"https://{HOST}", "prod")


def test_a_report_after_a_run_knows_the_hosts_that_the_run_has_added(publisher: Publisher) -> None:
    before = publisher.deploy()

    report = published_status.read_again(before)

    assert [row.key for row in report.rows] == [it.key for it in before.plan.resources]


def test_a_host_without_a_register_is_reported_as_well(publisher: Publisher) -> None:
    publisher.deploy()
    situation = publisher.situation(register_namespace="")

    assert situation.plan.register is None
    assert published_status.read_again(situation).is_ready


def test_a_status_says_what_is_wrong(publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST, OTHER))
    publisher.deploy()
    number = publisher.id_of()
    publisher.server.ask("POST", f"/resource/{number}", {"enabled": False})
    publisher.server.store.sites[publisher.server.site_id]["online"] = False
    for target in publisher.server.store.targets.values():
        target.update(hcEnabled=True, hcHealth="unhealthy")

    address = "web.prod.svc.cluster.local:80"
    assert status(publisher) == [
        (
            OTHER,
            "error",
            "published",
            f"unhealthy by the check of Pangolin: {address}; site home is offline",
        ),
        (
            HOST,
            "error",
            "disabled",
            "it is disabled in Pangolin: pic up enables it again; unhealthy by the check of"
            f" Pangolin: {address}; site home is offline",
        ),
    ]


def test_a_host_with_one_healthy_target_or_none_is_pending(publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST, OTHER))
    publisher.deploy()
    ours = publisher.server.store.targets_of(publisher.id_of())
    row = ours[0]
    publisher.server.store.targets[999] = {
        **row,
        "targetId": 999,
        "hcHealth": "unhealthy",
        "hcEnabled": True,
    }
    for target in publisher.server.store.targets_of(publisher.id_of(OTHER)):
        del publisher.server.store.targets[target["targetId"]]

    assert [row[:2] for row in status(publisher)] == [(OTHER, "pending"), (HOST, "pending")]


def test_a_blocked_host_is_ready_and_says_so(publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST, block_access="true"))
    publisher.deploy()

    assert status(publisher) == [(HOST, "ready", "blocked", "")]


def test_a_pangolin_that_does_not_answer_is_an_error(publisher: Publisher) -> None:
    situation = publisher.deploy()
    publisher.server.die("a test")

    with pytest.raises(TargetError):
        published_status.read_again(situation)


def test_what_was_not_read_has_no_rows(publisher: Publisher) -> None:
    report = published_status.build_report(publisher.config(), Snapshot())

    assert (report.rows, report.counts[ReadyState.READY]) == ((), 0)


def test_a_look_finds_the_hosts_that_are_still_there(publisher: Publisher) -> None:
    situation = publisher.deploy()

    assert published_status.still_published(situation, [HOST, OTHER]) == (HOST,)
