"""Tests that the accounts of deploy/roles suffice, and that pic needs each of their verbs."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from pic.cli.doctor import DoctorContext, cluster
from pic.cli.doctor.project import Stack
from pic.settings.parse import Settings
from tests.engine.stage import PicRun, Stage
from tests.support.accounts import Account, Grant, grants, open_account
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
REFUSED_BUCKETS = re.compile(r'configmaps "(\S+)" is forbidden')
NAMED = re.compile(r'pangolinresources\.tunnel\.pangolin\.io "(\S+)" is forbidden')

Granting = Callable[[list[Grant]], Account]


@pytest.fixture
def granting(stage: Stage) -> Iterator[Granting]:
    """Provide a function that creates an account with some grants in the namespace."""
    with ExitStack() as accounts:
        yield lambda granted: accounts.enter_context(
            open_account(stage.plane, stage.cluster.api, stage.name, granted)
        )


def less(granted: list[Grant], without: Grant) -> list[Grant]:
    return [grant for grant in granted if grant != without]


def run(stage: Stage, account: Account, *words: str) -> PicRun:
    return stage.pic(*words, **account.environment)


def test_the_account_up_suffices_for_the_whole_life_of_a_stack(
    stage: Stage, granting: Granting
) -> None:
    account = granting(UP)
    stage.ingress("web", "www", "old")

    codes = [run(stage, account, verb).code for verb in ("diff", "preview", "up")]
    assert (codes, set(stage.identities())) == ([0, 0, 0], {stage.host("www"), stage.host("old")})
    assert [reason for _, reason, _ in stage.events()] == ["Created", "Created"]

    stage.ingress("web", "www", paths=["/", "/api"])
    changed = run(stage, account, "up")
    assert (changed.code, changed.err, set(stage.identities())) == (0, "", {stage.host("www")})
    assert [reason for _, reason, _ in stage.events()] == [*["Created"] * 2, "Deleted", "Updated"]
    assert run(stage, account, "drift") == PicRun(0, NO_DIFFERENCE, "")
    assert run(stage, account, "status").code == 6  # there is no operator that makes objects ready

    stage.lose_state()
    assert run(stage, account, "up").code == 0
    assert run(stage, account, "up").out == NOTHING_TO_DO

    refused = run(stage, account, "destroy")
    (digest,) = re.findall(r"--acknowledge (\w+)", refused.err)
    assert (refused.code, run(stage, account, "destroy", "--acknowledge", digest).code) == (3, 0)
    assert stage.identities() == {}


def test_the_account_preview_shows_everything_and_changes_nothing(
    stage: Stage, granting: Granting
) -> None:
    account = granting(PREVIEW)
    stage.ingress("web", "www", "old")
    stage.pic("up")
    stage.ingress("web", "www", "new", paths=["/", "/api"])
    before = stage.identities()

    for verb in ("plan", "diff", "preview", "snapshot", "drift"):
        own, admins = run(stage, account, verb), stage.pic(verb)
        assert (own.code, without_time(own.out)) == (0, without_time(admins.out)), verb
    denied = run(stage, account, "up")

    assert (denied.code, sorted(set(CANNOT.findall(denied.err)))) == (6, ["get", "patch"])
    assert stage.identities() == before


def without_time(text: str) -> str:
    """Return an output without the time of a snapshot."""
    return re.sub(r'"now": "[^"]+"', "", text)


def test_the_account_watch_suffices_to_deploy_a_new_ingress(
    stage: Stage, granting: Granting
) -> None:
    account = granting(grants("watch"))
    words = ("--listen=", "--leader-elect", f"--lease-namespace={stage.name}")
    command = (str(stage.workspace.python), "-m", "pic", "watch", f"--stack={stage.name}", *words)
    lease = f"{LEASES}/namespaces/{stage.name}/leases/pic-{stage.name}"

    with stage.workspace.start(*command, env=account.environment) as watcher:
        until(lambda: stage.cluster.api.has(lease), "the Lease exists")
        stage.ingress("web", "www")
        until(lambda: stage.identities().keys() == {stage.host("www")}, "the host is exposed", 60)
        until(lambda: [event[1] for event in stage.events()] == ["Created"], "the Event exists")
        watcher.terminate()
        printed, _ = watcher.communicate(timeout=60)

    assert "cannot" not in printed


# A missing verb for reading ends the run before it plans anything.


@pytest.mark.parametrize(
    "verb",
    [verb for verb in PREVIEW if not verb.is_optional and verb.resource != "configmaps"],
    ids=str,
)
def test_a_missing_verb_for_reading_is_named(stage: Stage, granting: Granting, verb: Grant) -> None:
    account = granting(less(PREVIEW, verb))
    stage.ingress("web", "www")

    # With pic:clusterId set, pic would not read the namespace kube-system.
    answer = run(stage, account, "diff", "--config", "clusterId=")

    assert (answer.code, answer.out) == (5, "")
    assert f"{verb.forbidden(account.user, stage.name)} (HTTP 403); grant the verb" in answer.err
    assert f"grant the verb {verb.verb} to the account that runs pic" in answer.err


def test_without_the_verb_for_the_register_pic_says_that_it_remembers_nothing(
    stage: Stage, granting: Granting
) -> None:
    (verb,) = [verb for verb in PREVIEW if verb.resource == "configmaps"]
    account = granting(less(PREVIEW, verb))
    stage.ingress("web", "www")

    answer = run(stage, account, "diff")

    assert (answer.code, answer.err) == (0, "")
    assert (
        f"Warning: RegisterMissing: Register register: pic may not list ConfigMaps in namespace"
        f" {stage.name}, so it remembers nothing: grant it (docs/permissions.md)\n"
    ) in answer.out


def test_reading_the_default_class_needs_its_own_verb(stage: Stage, granting: Granting) -> None:
    stage.settings(ingressClasses=["pangolin", ""])
    stage.ingress("web", "www")
    verb = Grant("cluster", "networking.k8s.io", "ingressclasses", "list")
    with_verb, without_verb = granting([*PREVIEW, verb]), granting(PREVIEW)

    answer = run(stage, without_verb, "diff")

    assert run(stage, with_verb, "diff").code == 0
    assert (answer.code, answer.out) == (5, "")
    assert f"{verb.forbidden(without_verb.user, stage.name)} (HTTP 403)" in answer.err


WRITING = [grant for grant in UP if grant not in PREVIEW]
FATAL = [
    grant for grant in WRITING if grant.resource == "pangolinresources" and grant.verb != "watch"
]
REGISTER = [grant for grant in WRITING if grant.resource == "configmaps"]


def test_a_stack_works_without_the_optional_verbs(stage: Stage, granting: Granting) -> None:
    account = granting([verb for verb in UP if not verb.is_optional])
    stage.ingress("web", "www")

    answer = run(stage, account, "up")

    assert (answer.code, answer.err) == (0, "")


# With pic:namespaces, pic lists none.
REVIEWED = [verb for verb in UP if not (verb.is_optional and verb.wide)]


@pytest.mark.parametrize("verb", REVIEWED, ids=str)
def test_the_doctor_reports_a_missing_verb(stage: Stage, granting: Granting, verb: Grant) -> None:
    account = granting(less(UP, verb))
    settings = Settings(namespaces=(stage.name,), tunnel_namespace=stage.name)
    context = DoctorContext(
        stage.workspace.path, stage.name, (), account.environment, "here", datetime.now(UTC)
    )

    findings = [
        finding
        for finding in cluster.examine(context, Stack(stage.name, settings))
        if "not allowed" in finding.message
    ]

    assert [finding.message.partition(" (")[0] for finding in findings] == [
        f"not allowed: {verb.permission(stage.name)}"
    ]


# A missing verb for writing fails one object; the others are deployed.


@pytest.mark.parametrize("verb", FATAL, ids=str)
def test_a_missing_verb_for_writing_is_named_with_its_object(
    stage: Stage, granting: Granting, verb: Grant
) -> None:
    account = granting(less(UP, verb))
    prepare_changes(stage)

    answer = run(stage, account, "up")

    assert answer.code == 6
    messages = {
        verb.forbidden(account.user, stage.name, name) for name in NAMED.findall(answer.err)
    }
    assert [message for message in messages if message not in answer.err] == []
    assert set(CANNOT.findall(answer.err)) == {verb.verb}


def prepare_changes(stage: Stage, *, deployed: bool = True) -> None:
    """Deploy, and then prepare an object to create, one to update and one to delete."""
    if deployed:
        stage.ingress("web", "www", "old")
        assert stage.pic("up").code == 0
    stage.ingress("web", "www", "new", paths=["/", "/api"])


def test_without_the_verb_for_events_only_events_are_missing(
    stage: Stage, granting: Granting
) -> None:
    (verb,) = [grant for grant in WRITING if grant.resource == "events"]
    account = granting(less(UP, verb))
    stage.ingress("web", "www")

    answer = run(stage, account, "up")

    assert (answer.code, set(stage.identities())) == (0, {stage.host("www")})
    assert verb.forbidden(account.user, stage.name) in answer.err
    assert stage.events() == []


def test_a_deletion_works_with_and_without_the_verb_watch(stage: Stage, granting: Granting) -> None:
    (verb,) = [grant for grant in WRITING if grant.verb == "watch"]

    for granted, watched in ((UP, True), (less(UP, verb), False)):
        account = granting(granted)
        prepare_changes(stage)
        before = watches(stage)
        assert run(stage, account, "up").code == 0
        assert (watches(stage) > before) is watched


def watches(stage: Stage) -> int:
    """Return how many watches of PangolinResources the API server has allowed."""
    metrics = stage.plane.kubectl("get", "--raw", "/metrics")
    return sum(int(match[1]) for match in WATCHED.finditer(metrics))


@pytest.mark.parametrize("word", ["get", "create", "patch"])
def test_without_a_verb_for_the_register_hosts_are_deployed_and_the_verb_is_named(
    stage: Stage, granting: Granting, word: str
) -> None:
    (verb,) = [grant for grant in REGISTER if grant.verb == word]
    account = granting(less(UP, verb))
    prepare_changes(stage, deployed=word != "create")

    answer = run(stage, account, "up")

    assert (answer.code, set(stage.identities())) == (6, {stage.host("www"), stage.host("new")})
    buckets = REFUSED_BUCKETS.findall(answer.err)
    messages = {verb.forbidden(account.user, stage.name, name) for name in buckets}
    assert (bool(buckets), [text for text in messages if text not in answer.err]) == (True, [])


def test_these_tests_cover_every_verb() -> None:
    others = [grant for grant in WRITING if grant not in FATAL]

    assert [str(grant) for grant in others] == [
        "watch-pangolinresources",
        "create-events",
        "get-configmaps",
        "create-configmaps",
        "patch-configmaps",
        "delete-configmaps",
    ]
