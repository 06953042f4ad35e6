"""What is read from Pi-hole after the cluster, and what a deployment to it needs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dev.pihole.server import PiHole
from pic.core.errors import FailureClass, PiholeError, SettingsError
from pic.core.model import LiveRecord, Unanswered
from pic.core.notices import Notice, Reason, Ref
from pic.planning.ownership import Ownership
from pic.planning.record_changes import RecordChanges
from pic.run import reading, situation, stack_config
from pic.run.stack_config import StackConfig
from pic.settings.parse import PiholeApi, Settings, TargetName
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.branch import Branch, Proposal, propose
from tests.support.api import (
    CLUSTER,
    Api,
    fill_cluster,
    ingress,
    serving,
)

PASSWORD = "sesame-opens"  # noqa: S105 - of no Pi-hole but this one
TARGET = "192.0.2.1"
MARK = f"# k8s:{CLUSTER}"


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with serving() as found:
        web = ingress("web", "web.lan")
        web["metadata"]["annotations"] = {
            "pihole.io/register": "true",
            "pihole.io/managed-hosts": "web.lan",
        }
        fill_cluster(found, [web])
        found.kubeconfig(tmp_path / "config")
        yield found


def settings(url: str, **others: object) -> Settings:
    made = Settings(
        cluster_id=CLUSTER,
        targets=(TargetName.PIHOLE,),
        pihole_url=url,
        pihole_target_ip=TARGET,
    )
    return replace(made, **others)  # type: ignore[arg-type]


def environment(tmp_path: Path, **others: str) -> Mapping[str, str]:
    return {"KUBECONFIG": str(tmp_path / "config"), **others}


def look(tmp_path: Path, url: str, **others: object) -> RawSnapshot:
    return reading.look(settings(url, **others), environment(tmp_path, PIHOLE_PASSWORD=PASSWORD))


def survey(tmp_path: Path, url: str) -> situation.Situation:
    asked = StackConfig(settings(url), "pic.prod", Ownership("pic.prod"), ())
    return situation.survey(asked, environment(tmp_path, PIHOLE_PASSWORD=PASSWORD))


@pytest.mark.usefixtures("api")
def test_the_records_of_pihole_are_read_and_its_session_is_given_back(tmp_path: Path) -> None:
    lines = [f"192.0.2.9 web.lan {MARK}", "192.0.2.7 nas.lan nas"]

    with PiHole(password=PASSWORD, records=lines) as pihole:
        found = look(tmp_path, pihole.url).records
        left = pihole.sessions

    assert found == (
        LiveRecord("nas", "192.0.2.7", alone=False),
        LiveRecord("nas.lan", "192.0.2.7", alone=False),
        LiveRecord("web.lan", "192.0.2.9", ours=True),
    )
    assert left == 0


@pytest.mark.usefixtures("api")
def test_a_situation_compares_the_records(tmp_path: Path) -> None:
    with PiHole(password=PASSWORD, records=[f"192.0.2.1 gone.lan {MARK}"]) as pihole:
        known = survey(tmp_path, pihole.url)

    assert known.unread == {}
    assert known.changes.records == RecordChanges(
        known=1,
        wanted=1,
        created=known.plan.records,
        removed=(LiveRecord("gone.lan", "192.0.2.1", ours=True),),
        compared=True,
    )


@pytest.mark.usefixtures("api")
def test_without_room_for_a_marker_the_annotations_of_ingresses_tell_ours(tmp_path: Path) -> None:
    lines = ["192.0.2.9 web.lan", "192.0.2.7 nas.lan"]

    with PiHole(password=PASSWORD, api="dns-local", records=lines) as pihole:
        found = look(tmp_path, pihole.url, pihole_api=PiholeApi.DNS_LOCAL).records

    assert found == (
        LiveRecord("nas.lan", "192.0.2.7"),
        LiveRecord("web.lan", "192.0.2.9", ours=True),
    )


@pytest.mark.usefixtures("api")
def test_with_nothing_written_back_what_is_asked_for_counts_as_ours(tmp_path: Path) -> None:
    lines = ["192.0.2.9 web.lan", "192.0.2.7 nas.lan"]
    local = {"pihole_api": PiholeApi.DNS_LOCAL, "pihole_annotate": False}

    with PiHole(password=PASSWORD, api="dns-local", records=lines) as pihole:
        found = look(tmp_path, pihole.url, **local).records

    assert found is not None
    assert [each.host for each in found if each.ours] == ["web.lan"]


@pytest.mark.usefixtures("api")
def test_what_the_engine_remembers_is_ours_as_well(tmp_path: Path) -> None:
    lines = ["192.0.2.1 web.lan", "192.0.2.7 gone.lan"]
    with PiHole(password=PASSWORD, records=lines) as pihole:
        known = survey(tmp_path, pihole.url)

    found = situation.owning(known, ["web.lan", "gone.lan"])

    assert known.changes.records == RecordChanges(compared=True)
    assert [each.reason for each in known.plan.notices] == [Reason.RECORD_EXISTS]
    assert found.changes.records == RecordChanges(
        known=2, wanted=1, removed=(LiveRecord("gone.lan", "192.0.2.7", ours=True),), compared=True
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
    assert [(each.host, each.ip) for each in known.plan.records] == [("web.lan", TARGET)]
    assert known.changes.records == RecordChanges(wanted=1)
    assert known.plan.notices == (
        Notice(
            Reason.PIHOLE_UNREADABLE,
            Ref("Pi-hole", "", url),
            f"its records are not known, so none is compared or held: {known.unread['pihole']}",
        ),
    )


@pytest.mark.usefixtures("api")
def test_what_only_plans_does_without_a_password_and_tells_it(tmp_path: Path) -> None:
    found = reading.look(settings("http://127.0.0.1:9"), environment(tmp_path)).unanswered

    assert found is not None
    assert found.error.kind is FailureClass.AUTH
    assert found.url == "http://127.0.0.1:9"


def test_pihole_is_not_asked_where_it_is_no_target_or_nowhere(api: Api, tmp_path: Path) -> None:
    nowhere = look(tmp_path, "")
    with PiHole(password=PASSWORD) as pihole:
        other = look(tmp_path, pihole.url, targets=(TargetName.PANGOLIN,))
        asked = pihole.log

    assert (nowhere.records, nowhere.unanswered) == (None, None)
    assert (other.records, other.unanswered) == (None, None)
    assert asked == []
    assert api.requests


def test_a_review_of_a_branch_tells_that_records_were_not_compared(tmp_path: Path) -> None:
    (tmp_path / "branch.yaml").write_text("")
    branch = Branch([str(tmp_path / "branch.yaml")])
    why = Unanswered("http://pi.hole", PiholeError("no answer"))

    found = propose(RawSnapshot(unanswered=why), branch, settings(why.url))

    assert found == Proposal(RawSnapshot(unanswered=why), (RawSnapshot(),))


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

    run = stack_config.deployable(raw, "prod", {variable: PASSWORD, "DEFAULT_TARGET_IP": TARGET})

    assert run.settings == settings("http://pi.hole")
