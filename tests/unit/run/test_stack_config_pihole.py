"""Runs with Pi-hole as a target: the situation before a run, and what a deployment needs."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from dev.pihole.server import PiHole
from pic.core.errors import FailureClass, SettingsError
from pic.core.model import LiveRecord
from pic.core.notices import Notice, Reason, Ref
from pic.planning.ownership import Ownership
from pic.planning.record_changes import RecordChanges
from pic.run import situation, stack_config
from pic.run.stack_config import StackConfig
from tests.support.api import CLUSTER, Api
from tests.support.pihole_cluster import (
    MARKER,
    PASSWORD,
    TARGET_IP,
    environment,
    pihole_settings,
    serving_cluster,
)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with serving_cluster(tmp_path) as api:
        yield api


def survey(tmp_path: Path, url: str) -> situation.Situation:
    asked = StackConfig(pihole_settings(url), "pic.prod", Ownership("pic.prod"), ())
    return situation.survey(asked, environment(tmp_path, PIHOLE_PASSWORD=PASSWORD))


@pytest.mark.usefixtures("api")
def test_a_situation_compares_the_records(tmp_path: Path) -> None:
    with PiHole(password=PASSWORD, records=[f"192.0.2.1 gone.lan {MARKER}"]) as pihole:
        known = survey(tmp_path, pihole.url)

    assert known.unread == {}
    assert known.changes.records == RecordChanges(
        live_count=1,
        planned_count=1,
        created=known.plan.records,
        removed=(LiveRecord("gone.lan", "192.0.2.1", ours=True),),
        compared=True,
    )


@pytest.mark.usefixtures("api")
def test_what_the_engine_remembers_is_ours_as_well(tmp_path: Path) -> None:
    lines = ["192.0.2.1 web.lan", "192.0.2.7 gone.lan"]
    with PiHole(password=PASSWORD, records=lines) as pihole:
        known = survey(tmp_path, pihole.url)

    found = situation.owning(known, ["web.lan", "gone.lan"])

    assert known.changes.records == RecordChanges(compared=True)
    assert [each.reason for each in known.plan.notices] == [Reason.RECORD_EXISTS]
    assert found.changes.records == RecordChanges(
        live_count=2,
        planned_count=1,
        removed=(LiveRecord("gone.lan", "192.0.2.7", ours=True),),
        compared=True,
    )
    assert found.plan.notices == ()
    assert situation.owning(known, ["elsewhere.lan"]) is known
    assert situation.owning(found, ["web.lan"]) is found


@pytest.mark.usefixtures("api")
def test_a_pihole_that_does_not_answer_ends_nothing_and_is_told(tmp_path: Path) -> None:
    with PiHole(password=PASSWORD) as pihole:
        pihole.die("it is switched off")
        url = pihole.url
        known = survey(tmp_path, url)

    assert known.unread["pihole"].kind is FailureClass.TEMPORARY
    assert [(each.host, each.ip) for each in known.plan.records] == [("web.lan", TARGET_IP)]
    assert known.changes.records == RecordChanges(planned_count=1)
    assert known.plan.notices == (
        Notice(
            Reason.PIHOLE_UNREADABLE,
            Ref("Pi-hole", "", url),
            "its records are unknown, so pic neither compares nor holds them:"
            f" {known.unread['pihole']}",
        ),
    )


def problems(raw: Mapping[str, object], variables: Mapping[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        stack_config.deployable({"clusterId": CLUSTER, **raw}, "prod", variables)
    return caught.value.problems


def test_a_deployment_to_pihole_needs_its_place_an_address_and_a_password() -> None:
    assert problems({"targets": "pangolin,pihole"}, {"PIHOLE_PASSWORD": ""}) == (
        "pic:targets has pihole, and pic:piholeUrl is not set: set it, or PIHOLE_URL",
        "pic:targets has pihole, and pic:piholeTargetIp is not set: set it, or DEFAULT_TARGET_IP,"
        " to the IPv4 address for records whose Ingress names none",
        "pic:targets has pihole, and the password of Pi-hole is not set: set PIHOLE_PASSWORD or"
        " PIHOLE_API_TOKEN in the environment; an app password needs webserver.api.app_sudo",
    )


@pytest.mark.parametrize("variable", ["PIHOLE_PASSWORD", "PIHOLE_API_TOKEN"])
def test_either_variable_has_the_password(variable: str) -> None:
    raw = {"clusterId": CLUSTER, "targets": "pihole", "piholeUrl": "http://pi.hole"}

    run = stack_config.deployable(raw, "prod", {variable: PASSWORD, "DEFAULT_TARGET_IP": TARGET_IP})

    assert run.settings == pihole_settings("http://pi.hole")
