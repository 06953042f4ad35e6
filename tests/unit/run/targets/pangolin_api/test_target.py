"""Tests the target for Pangolin itself: settings, reading, looking closer and declaring."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pic.core.errors import FailureClass, PangolinError
from pic.core.model import HttpConfig, Plan, Resource, Snapshot, Spec, Target, TunnelRef
from pic.core.published import Detail, PublicResource, Published
from pic.core.register import Register
from pic.pangolin_api.connection import KEY
from pic.planning.ownership import Ownership
from pic.run import planning
from pic.run.targets.interface import Look, ReadTimeouts
from pic.run.targets.pangolin_api import PangolinApi, reading
from pic.settings.parse import Settings, TargetName
from pic.snapshot.assemble import RawSnapshot
from tests.support.api import ingress
from tests.support.memories import forgetful
from tests.support.publishing import HOST, Publisher, publishing, settings_for

TARGET = PangolinApi()
LOOK = Look(forgetful(Ownership("pic.prod")))


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    with publishing(tmp_path) as publisher:
        publisher.ingresses(ingress("web", HOST))
        yield publisher


def test_every_missing_setting_is_named() -> None:
    problems = TARGET.problems(Settings(targets=(TargetName.PANGOLIN_API,)), {})

    assert [problem.split(" is ")[0] for problem in problems] == [
        "pic:targets has pangolin-api, and pic:pangolinUrl",
        "pic:targets has pangolin-api, and pic:pangolinOrg",
        "pic:targets has pangolin-api, and pic:stackId",
        "pic:targets has pangolin-api, and pic:registerNamespace",
        "pic:targets has pangolin-api, and PANGOLIN_API_KEY",
    ]
    assert TARGET.problems(settings_for("http://127.0.0.1:9"), {KEY: "id.secret"}) == []


def test_a_key_without_a_dot_is_named_before_pangolin_would_answer_with_a_fault() -> None:
    [problem] = TARGET.problems(settings_for("http://127.0.0.1:9"), {KEY: "nodot"})

    assert "a key has the form <id>.<secret>" in problem
    assert "nodot" not in problem


def test_without_a_url_nothing_is_read() -> None:
    raw = RawSnapshot()

    assert TARGET.read(raw, Settings(), {}) is raw
    assert TARGET.look_closer(Snapshot(), Plan(), Settings(), LOOK) == Snapshot()


def test_the_conditions_name_server_and_organisation() -> None:
    assert TARGET.conditions(settings_for("http://127.0.0.1:9")) == {
        "pangolinUrl": "http://127.0.0.1:9",
        "pangolinOrg": "home",
    }


def test_a_probe_says_why_pangolin_does_not_answer(publisher: Publisher) -> None:
    settings = settings_for(publisher.server.url)
    timeouts = ReadTimeouts(1.0, 1.0, 1.0)

    assert TARGET.probe(settings, publisher.environment, "cluster-1") is None
    wrong = TARGET.read(RawSnapshot(), settings, {KEY: "id.secret"}, timeouts).silent
    assert wrong is not None
    assert wrong.error.kind is FailureClass.AUTH


def test_an_organisation_without_anything_does_not_exist(publisher: Publisher) -> None:
    publisher.server.allow("root.key", None)
    settings = settings_for(publisher.server.url, pangolin_org="elsewhere")

    error = TARGET.probe(settings, {KEY: "root.key"}, "cluster-1")

    assert str(error) == (
        "organisation elsewhere has no site, no base domain and no resource: check pic:pangolinOrg"
    )


def test_what_is_gone_when_pic_looks_closer_is_left_out(publisher: Publisher) -> None:
    publisher.deploy()
    settings = settings_for(publisher.server.url)
    published = reading.read(settings, publisher.environment)
    gone = PublicResource(999, "pic-x", "x", "x.example.com")
    look = replace(LOOK, environment=publisher.environment)

    more = replace(published, resources=(*published.resources, gone))
    detailed = reading.detailed(more, (publisher.id_of(), 999), settings, look)

    assert detailed.resources == published.resources
    assert list(detailed.details) == [publisher.id_of()]


def test_a_pangolin_that_stops_to_answer_in_between_changes_nothing(publisher: Publisher) -> None:
    publisher.deploy()
    publisher.remember(Register())
    situation = publisher.situation()
    publisher.server.die("a test")
    config, closer = situation.config, planning.Closer(publisher.environment)
    published = replace(situation.snapshot.published or Published(), details={})
    shallow = planning.decided(config, replace(situation.snapshot, published=published))

    snapshot, plan = planning.planned(config, shallow, closer)

    assert (snapshot.published, plan.resources) == (None, ())
    assert snapshot.silent is not None
    assert str(closer) == "Closer(timeouts=None, everything=False)"


def resource(**fields: Any) -> Resource:
    spec = Spec(
        tunnel=TunnelRef("home"),
        http=HttpConfig("example.com", "web", sso=True, block_access=False),
        targets=(Target("web", 80),),
    )
    return replace(Resource(HOST, "prod", "pic-web", (), {}, spec), **fields)


def declare(publisher: Publisher, planned: Resource, **published: Any) -> object:
    settings = settings_for(publisher.server.url)
    read = replace(reading.read(settings, publisher.environment), **published)
    snapshot = planning.decided(publisher.config(), Snapshot(published=read))
    return TARGET.declare(Plan((planned,)), snapshot, settings).resources[0].inputs


@pytest.mark.parametrize(
    ("published", "missing"), [({"domains": ()}, "base domain"), ({"sites": ()}, "site")]
)
def test_what_is_gone_in_the_organisation_is_not_declared(
    publisher: Publisher, published: dict[str, object], missing: str
) -> None:
    with pytest.raises(PangolinError) as caught:
        declare(publisher, resource(), **published)

    assert str(caught.value) == (
        f"host {HOST}: its {missing} is not in the organisation any more: run pic again"
    )


def test_a_host_without_a_site_is_not_declared(publisher: Publisher) -> None:
    with pytest.raises(PangolinError):
        declare(publisher, resource(spec=replace(resource().spec, tunnel=None)))


def test_what_is_held_is_declared_only_if_all_of_it_is_known(publisher: Publisher) -> None:
    publisher.deploy()
    situation = publisher.situation()
    [planned] = situation.plan.resources
    settings = situation.settings

    with pytest.raises(PangolinError) as caught:
        TARGET.declare(Plan((replace(planned, held=True),)), situation.snapshot, settings)

    assert "has to stay as it is" in str(caught.value)


def test_a_second_resource_of_a_host_keeps_its_own_marker(publisher: Publisher) -> None:
    publisher.deploy()
    situation = publisher.situation(everything=True)
    published = situation.snapshot.published or Published()
    [row] = published.resources
    second = replace(row, id=999, nice_id=f"{row.nice_id}x")
    detail: Detail = published.details[row.id]
    both = replace(published, resources=(row, second), details={row.id: detail, second.id: detail})
    snapshot = planning.decided(situation.config, replace(situation.snapshot, published=both))
    [planned] = situation.plan.resources
    live = max(snapshot.live, key=lambda it: it.published)
    stray = replace(planned, host="stray", name=live.name, held=True)

    [declared] = TARGET.declare(Plan((stray,)), snapshot, situation.settings).resources

    assert (declared.import_id, declared.inputs["niceId"]) == ("999", second.nice_id)


def test_hosts_of_an_earlier_stack_are_taken_over(publisher: Publisher) -> None:
    publisher.deploy()
    old = publisher.server.store.resources[publisher.id_of()]
    old["niceId"] = str(old["niceId"]).replace("-prod-0a0a0a0a-", "-old-11111111-")
    situation = publisher.situation()
    register = situation.plan.register or Register()
    buckets = {digit: replace(it, stack_id="11111111") for digit, it in register.buckets.items()}
    publisher.remember_earlier("old", replace(register, buckets=buckets))
    publisher.remember(Register())

    adopted = publisher.situation(adopt_from="old")

    assert [it.adopts for it in adopted.plan.resources] == [True]
    [declared] = publisher.declarations(adopted)
    assert declared.import_id == str(old["resourceId"])
    assert "-prod-0a0a0a0a-" in str(declared.inputs["niceId"])
