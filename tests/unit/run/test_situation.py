"""Tests the situation of a run whose target is Pi-hole."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.pihole.server import PiHole
from pic.cluster import listing
from pic.core.errors import FailureClass
from pic.core.model import LiveRecord
from pic.core.notices import Notice, Reason, Ref
from pic.planning.ownership import Ownership
from pic.planning.record_changes import RecordChanges
from pic.run import situation as situations
from pic.run.stack_config import StackConfig
from tests.support.api import STACK_ID, Api
from tests.support.pihole_cluster import (
    MARKER,
    PASSWORD,
    TARGET_IP,
    environment,
    pihole_settings,
    serving_cluster,
)

OURS = Ownership("pic.prod", stack_id=STACK_ID)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with serving_cluster(tmp_path) as api:
        yield api


def read_situation(tmp_path: Path, url: str) -> situations.Situation:
    config = StackConfig(pihole_settings(url), "pic.prod", OURS, ())
    variables = environment(tmp_path, PIHOLE_PASSWORD=PASSWORD)
    transport = listing.connect(config.settings, variables)
    return situations.read_and_plan(config, transport, variables)


@pytest.mark.usefixtures("api")
def test_a_situation_compares_the_records(tmp_path: Path) -> None:
    with PiHole(password=PASSWORD, records=[f"192.0.2.1 gone.lan {MARKER}"]) as pihole:
        situation = read_situation(tmp_path, pihole.url)

    assert situation.unread_targets == {}
    assert situation.changes.records == RecordChanges(
        live_count=1,
        planned_count=1,
        created=situation.plan.records,
        removed=(LiveRecord("gone.lan", "192.0.2.1", ours=True),),
        compared=True,
    )


@pytest.mark.usefixtures("api")
def test_records_of_the_state_can_be_taken_as_ours(tmp_path: Path) -> None:
    lines = ["192.0.2.1 web.lan", "192.0.2.7 gone.lan"]
    with PiHole(password=PASSWORD, records=lines) as pihole:
        situation = read_situation(tmp_path, pihole.url)

    owned = situations.with_own_records(situation, ["web.lan", "gone.lan"])

    assert situation.changes.records == RecordChanges(compared=True)
    assert [notice.reason for notice in situation.plan.notices] == [Reason.RECORD_EXISTS]
    assert owned.changes.records == RecordChanges(
        live_count=2,
        planned_count=1,
        removed=(LiveRecord("gone.lan", "192.0.2.7", ours=True),),
        compared=True,
    )
    assert owned.plan.notices == ()
    assert situations.with_own_records(situation, ["elsewhere.lan"]) is situation
    assert situations.with_own_records(owned, ["web.lan"]) is owned


@pytest.mark.usefixtures("api")
def test_a_pihole_that_does_not_answer_is_reported_and_does_not_stop_the_run(
    tmp_path: Path,
) -> None:
    with PiHole(password=PASSWORD) as pihole:
        pihole.die("it is switched off")
        url = pihole.url
        situation = read_situation(tmp_path, url)

    assert situation.unread_targets["pihole"].kind is FailureClass.TEMPORARY
    assert [(record.host, record.ip) for record in situation.plan.records] == [
        ("web.lan", TARGET_IP)
    ]
    assert situation.changes.records == RecordChanges(planned_count=1)
    assert situation.plan.notices == (
        Notice(
            Reason.PIHOLE_UNREADABLE,
            Ref("Pi-hole", "", url),
            "its records are unknown, so pic neither compares nor holds them:"
            f" {situation.unread_targets['pihole']}",
        ),
    )
