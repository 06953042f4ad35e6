"""pic as the accounts of deploy/roles: they are enough, and each verb in them is needed."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime

import pytest

from pic.cli.doctor import DoctorContext, cluster
from pic.cli.doctor.project import Stack
from pic.settings.parse import Settings
from tests.engine.accounts import Account, Grant, account, grants
from tests.engine.stage import Said, Stage
from tests.support.waiting import until

PREVIEW, UP = grants("preview"), grants("up")
NO_DIFFERENCE = "Nothing differs from the last deployment.\n"
NOTHING_TO_DO = "Nothing to do: everything is as it was deployed.\n"

LEASES = "/apis/coordination.k8s.io/v1"
CANNOT = re.compile(
    r'cannot (\w+) resource "pangolinresources" in API group "tunnel.pangolin.io" in the namespace'
)
WATCHED = re.compile(
    r'apiserver_request_total\{code="200",.*resource="pangolinresources",scope="namespace",.*'
    r'verb="WATCH",.*\} (\d+)'
)
NAMED = re.compile(r'pangolinresources\.tunnel\.pangolin\.io "(\S+)" is forbidden')

Granting = Callable[[list[Grant]], Account]


@pytest.fixture
def granting(stage: Stage) -> Iterator[Granting]:
    """Make accounts that may do no more than is granted, in the namespace of the stage."""
    making = contextmanager(account)
    with ExitStack() as made:
        yield lambda granted: made.enter_context(
            making(stage.plane, stage.cluster.api, stage.name, granted)
        )


def less(granted: list[Grant], without: Grant) -> list[Grant]:
    return [it for it in granted if it != without]


def run(stage: Stage, who: Account, *words: str) -> Said:
    return stage.pic(*words, **who.environment)


def test_the_account_up_is_enough_from_the_first_deployment_to_the_last(
    stage: Stage, granting: Granting
) -> None:
    who = granting(UP)
    stage.ingress("web", "www", "old")

    codes = [run(stage, who, verb).code for verb in ("diff", "preview", "up")]
    assert (codes, set(stage.identities())) == ([0, 0, 0], {stage.host("www"), stage.host("old")})
    assert [reason for _, reason, _ in stage.events()] == ["Created", "Created"]

    stage.ingress("web", "www", paths=["/", "/api"])
    changed = run(stage, who, "up")
    assert (changed.code, changed.err, set(stage.identities())) == (0, "", {stage.host("www")})
    assert [reason for _, reason, _ in stage.events()] == [*["Created"] * 2, "Deleted", "Updated"]
    assert run(stage, who, "drift") == Said(0, NO_DIFFERENCE, "")
    assert run(stage, who, "status").code == 6  # no operator here makes anything ready

    stage.lose_state()
    assert run(stage, who, "up").code == 0
    assert run(stage, who, "up").out == NOTHING_TO_DO

    refused = run(stage, who, "destroy")
    (digest,) = re.findall(r"--acknowledge (\w+)", refused.err)
    assert (refused.code, run(stage, who, "destroy", "--acknowledge", digest).code) == (3, 0)
    assert stage.identities() == {}


def test_the_account_preview_shows_everything_and_changes_nothing(
    stage: Stage, granting: Granting
) -> None:
    who = granting(PREVIEW)
    stage.ingress("web", "www", "old")
    stage.pic("up")
    stage.ingress("web", "www", "new", paths=["/", "/api"])
    before = stage.identities()

    for verb in ("plan", "diff", "preview", "snapshot", "drift"):
        mine, admins = run(stage, who, verb), stage.pic(verb)
        assert (mine.code, mine.out) == (0, admins.out), verb
    denied = run(stage, who, "up")

    assert (denied.code, sorted(set(CANNOT.findall(denied.err)))) == (6, ["get", "patch"])
    assert stage.identities() == before


def test_the_account_watch_is_enough_to_deploy_what_comes(stage: Stage, granting: Granting) -> None:
    who = granting(grants("watch"))
    words = ("--listen=", "--leader-elect", f"--lease-namespace={stage.name}")
    command = (str(stage.workspace.python), "-m", "pic", "watch", f"--stack={stage.name}", *words)
    lease = f"{LEASES}/namespaces/{stage.name}/leases/pic-{stage.name}"

    with stage.workspace.start(*command, env=who.environment) as watcher:
        until(lambda: stage.cluster.api.has(lease), "the Lease is there")
        stage.ingress("web", "www")
        until(lambda: stage.identities().keys() == {stage.host("www")}, "the host is exposed", 60)
        until(lambda: [it[1] for it in stage.events()] == ["Created"], "and the Ingress told")
        watcher.terminate()
        printed, _ = watcher.communicate(timeout=60)

    assert "cannot" not in printed


# Without a verb: what is read is missed at once, before anything is planned.


@pytest.mark.parametrize("verb", PREVIEW, ids=str)
def test_each_verb_for_reading_is_missed_by_its_name(
    stage: Stage, granting: Granting, verb: Grant
) -> None:
    who = granting(less(PREVIEW, verb))
    stage.ingress("web", "www")

    # Without the cluster's id in the settings there is nothing that could stand in for it.
    answer = run(stage, who, "diff", "--config", "clusterId=")

    assert (answer.code, answer.out) == (5, "")
    assert f"{verb.forbidden(who.user, stage.name)} (HTTP 403); grant the verb" in answer.err
    assert f"grant the verb {verb.verb} to the account that runs pic" in answer.err


def test_the_default_class_is_looked_up_only_by_who_may(stage: Stage, granting: Granting) -> None:
    stage.settings(ingressClasses=["pangolin", ""])
    stage.ingress("web", "www")
    verb = Grant("cluster", "networking.k8s.io", "ingressclasses", "list")
    may, may_not = granting([*PREVIEW, verb]), granting(PREVIEW)

    answer = run(stage, may_not, "diff")

    assert run(stage, may, "diff").code == 0
    assert (answer.code, answer.out) == (5, "")
    assert f"{verb.forbidden(may_not.user, stage.name)} (HTTP 403)" in answer.err


WRITING = [it for it in UP if it not in PREVIEW]
FATAL = [it for it in WRITING if it.resource == "pangolinresources" and it.verb != "watch"]


@pytest.mark.parametrize("verb", UP, ids=str)
def test_the_doctor_tells_each_verb_that_is_missing(
    stage: Stage, granting: Granting, verb: Grant
) -> None:
    who = granting(less(UP, verb))
    settings = Settings(namespaces=(stage.name,), tunnel_namespace=stage.name)
    patient = DoctorContext(
        stage.workspace.path, stage.name, (), who.environment, "here", datetime.now(UTC)
    )

    found = [
        it
        for it in cluster.examine(patient, Stack(stage.name, settings))
        if "not allowed" in it.message
    ]

    assert [it.message.partition(" (")[0] for it in found] == [
        f"not allowed: {verb.asked(stage.name)}"
    ]


# What is written is missed by the object it was for; the others are done.


@pytest.mark.parametrize("verb", FATAL, ids=str)
def test_each_verb_for_writing_is_missed_by_its_name(
    stage: Stage, granting: Granting, verb: Grant
) -> None:
    who = granting(less(UP, verb))
    with_a_change_of_each_kind(stage)

    answer = run(stage, who, "up")

    assert answer.code == 6
    named = {verb.forbidden(who.user, stage.name, name) for name in NAMED.findall(answer.err)}
    assert [it for it in named if it not in answer.err] == []
    assert set(CANNOT.findall(answer.err)) == {verb.verb}


def with_a_change_of_each_kind(stage: Stage) -> None:
    """Deploy, and let there be an object to create, one to update and one to delete."""
    stage.ingress("web", "www", "old")
    assert stage.pic("up").code == 0
    stage.ingress("web", "www", "new", paths=["/", "/api"])


def test_without_events_only_the_events_are_missing(stage: Stage, granting: Granting) -> None:
    (verb,) = [it for it in WRITING if it.resource == "events"]
    who = granting(less(UP, verb))
    stage.ingress("web", "www")

    answer = run(stage, who, "up")

    assert (answer.code, set(stage.identities())) == (0, {stage.host("www")})
    assert verb.forbidden(who.user, stage.name) in answer.err
    assert stage.events() == []


def test_a_delete_is_watched_and_without_that_right_listed_again(
    stage: Stage, granting: Granting
) -> None:
    (verb,) = [it for it in WRITING if it.verb == "watch"]

    for granted, watched in ((UP, True), (less(UP, verb), False)):
        who = granting(granted)
        with_a_change_of_each_kind(stage)
        before = watches(stage)
        assert run(stage, who, "up").code == 0
        assert (watches(stage) > before) is watched


def watches(stage: Stage) -> int:
    """How often the API server has let somebody watch our objects in one namespace."""
    metrics = stage.plane.kubectl("get", "--raw", "/metrics")
    return sum(int(it[1]) for it in WATCHED.finditer(metrics))


def test_every_verb_is_asked_for_by_one_of_these_tests() -> None:
    others = [it for it in WRITING if it not in FATAL]

    assert [str(it) for it in others] == ["watch-pangolinresources", "create-events"]
