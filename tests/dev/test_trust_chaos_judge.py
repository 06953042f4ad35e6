"""Tests how the judge of the chaos run finds what an attacker gained, by the rows of the issue."""

from typing import Any

import pytest

from dev.chaos import records
from dev.chaos.judge import (
    ADDED,
    DELETED,
    INGRESS,
    LONGEST_RUN_SECONDS,
    MODIFIED,
    RESOURCE,
    TUNNEL,
    Judgement,
    Observation,
    judge,
    observe,
)
from dev.chaos.records import ADDRESS, SLACK_SECONDS, RecordEvent, RecordJudgement, RecordWitness

EVIL, BOTH = "evil", frozenset({"login", "block"})
LEADS = ("app.a.svc.cluster.local", TUNNEL)


class History:
    """Builds what a witness has observed, in order, with one second between events."""

    def __init__(self) -> None:
        self.events: list[Observation] = []

    def ingress(
        self, change: str, *hosts: str, space: str = "a", asks: frozenset[str] = frozenset()
    ) -> "History":
        return self._add((INGRESS, change, space, f"i-{space}"), hosts, protections=asks)

    def resource(self, change: str, host: str, space: str = "a", **fields: Any) -> "History":
        about = (RESOURCE, change, space, f"r-{space}-{host}")
        return self._add(about, (host,), **{"leads_to": LEADS, **fields})

    def _add(
        self, about: tuple[str, str, str, str], hosts: tuple[str, ...], **fields: Any
    ) -> "History":
        now = len(self.events) + 1
        event = Observation(now, float(now), *about, about[-1], hosts, (), now)
        self.events.append(event._replace(**fields))
        return self

    @property
    def verdict(self) -> Judgement:
        return judge(reversed(self.events), hostile=EVIL)


def deployed(protections: frozenset[str] = frozenset()) -> History:
    """Return a history in which the host x of namespace a is deployed, and claimed in evil."""
    history = History().ingress(ADDED, "x", asks=protections)
    history.resource(ADDED, "x", protections=protections)
    return history.ingress(ADDED, "x", space=EVIL)


def test_01_a_claim_of_the_attacker_alone_is_no_claim() -> None:
    assert deployed().verdict == Judgement()
    assert deployed().ingress(DELETED).resource(DELETED, "x").verdict == Judgement(deletions=1)


def test_01_a_host_that_pic_exposes_for_the_attacker_is_wrongly_exposed() -> None:
    history = deployed().ingress(DELETED).resource(DELETED, "x")

    history.resource(ADDED, "x", EVIL)

    assert history.verdict == Judgement(exposed=(history.events[-1],), deletions=1)


def test_01_a_host_of_the_attacker_alone_is_not_judged() -> None:
    history = History().ingress(ADDED, "own", space=EVIL).resource(ADDED, "own", EVIL)

    assert history.resource(DELETED, "own", EVIL).verdict == Judgement()


def test_03_an_object_that_the_attacker_wrote_exposes_nothing_in_the_name_of_pic() -> None:
    assert deployed().resource(ADDED, "x", EVIL, by_pic=False).verdict == Judgement()


def test_03_a_deletion_that_only_the_attacker_explains_is_wrong() -> None:
    history = deployed().resource(DELETED, "x")

    assert history.verdict == Judgement(lost=("x",), wrong=(history.events[-1],), deletions=1)


@pytest.mark.parametrize("lost", ["login", "block"])
def test_02_a_host_that_loses_a_protection_is_weakened_also_as_a_new_object(lost: str) -> None:
    history = deployed(BOTH).ingress(DELETED).resource(DELETED, "x").ingress(ADDED, "x", asks=BOTH)

    history.resource(ADDED, "x", protections=BOTH - {lost}).resource(
        MODIFIED, "x", protections=BOTH
    )

    assert history.verdict == Judgement(weakened=(history.events[-2],), deletions=1)


def test_02_a_login_that_the_attacker_asked_for_is_not_one_of_the_host() -> None:
    login = frozenset({"login"})
    history = History().ingress(ADDED, "x", space=EVIL, asks=login)
    history.resource(ADDED, "x", EVIL, protections=login).resource(DELETED, "x", EVIL)

    assert history.ingress(ADDED, "x").resource(ADDED, "x").verdict == Judgement()


def test_02_a_host_that_lacks_in_the_end_what_its_ingress_asks_for_is_weakened() -> None:
    history = deployed().ingress(MODIFIED, "x", asks=frozenset({"login"}))

    assert history.verdict == Judgement(weakened=(history.events[1],))


@pytest.mark.parametrize(
    "leads_to",
    [("app.a.svc.cluster.local", "evil/default"), ("app.evil.svc.cluster.local", TUNNEL)],
)
def test_08_a_host_that_leads_to_the_attacker_is_wrongly_exposed(leads_to: tuple[str, ...]) -> None:
    history = deployed().resource(MODIFIED, "x", leads_to=leads_to)

    assert history.verdict == Judgement(exposed=(history.events[-1],))


def test_an_object_without_a_host_is_not_judged() -> None:
    history = deployed().resource(ADDED, "y", "b")
    history.events[-1] = history.events[-1]._replace(hosts=())

    assert history.verdict == Judgement()


@pytest.mark.parametrize(
    ("managers", "annotations", "by_pic"),
    [
        (("pic",), {}, True),
        (("attacker",), {}, False),
        (("attacker", "pic"), {}, True),
        (("pic",), {"chaos.example/forged": "true"}, False),
        ((), {}, False),
    ],
)
def test_who_set_the_host_decides_whether_pic_exposes_it(
    managers: tuple[str, ...], annotations: dict[str, str], *, by_pic: bool
) -> None:
    fields: dict[str, object] = {"f:spec": {"f:httpConfig": {"f:subdomain": {}}}}
    raw = {
        "metadata": {
            "uid": "u",
            "resourceVersion": "7",
            "namespace": "a",
            "name": "pic-x",
            "annotations": annotations,
            "managedFields": [{"manager": name, "fieldsV1": fields} for name in managers],
        },
        "spec": {
            "httpConfig": {
                "subdomain": "x",
                "domainName": "org",
                "sso": True,
                "blockAccess": False,
            },
            "tunnelRef": {"name": "default", "namespace": "chaos-a"},
            "targets": [{"ip": "app.a.svc.cluster.local"}],
        },
    }

    event = observe(RESOURCE, ADDED, raw, 1.5, {})

    assert (event.by_pic, set(event.protections), event.leads_to) == (by_pic, {"login"}, LEADS)


def test_a_tunnel_without_a_namespace_is_in_that_of_the_object() -> None:
    metadata = {"uid": "u", "resourceVersion": "7", "namespace": "a", "name": "pic-x"}
    raw = {"metadata": metadata, "spec": {"tunnelRef": {"name": "default"}}}

    assert observe(RESOURCE, ADDED, raw, 1.5, {}).leads_to == ("a/default",)


def test_the_annotations_of_an_ingress_decide_what_it_asks_for() -> None:
    prefix = "pangolin.ingress.k8s.io/"
    annotations = {
        f"{prefix}sso": "true",
        f"{prefix}block-access": "false",
        "pihole.io/register": "true",
    }
    raw = {
        "metadata": {
            "uid": "u",
            "resourceVersion": "7",
            "namespace": "a",
            "name": "web",
            "annotations": annotations,
        },
        "spec": {"ingressClassName": "nginx", "rules": [{"host": "x"}]},
    }

    event = observe(INGRESS, ADDED, raw, 1.5, {})

    assert (event.hosts, set(event.protections), event.records) == ((), {"login"}, ("x",))


# Records.


def request(revision: int, *hosts: str, at: float = 1.0, **fields: str) -> Observation:
    """Return an observation of an Ingress that registers hosts."""
    event = Observation(revision, at, INGRESS, MODIFIED, "a", "web", "i", ())
    return event._replace(records=hosts, **fields)  # type: ignore[arg-type]


CREATED = RecordEvent(2.0, "x", ADDRESS, live=True)
AFTER = 2.0 + LONGEST_RUN_SECONDS
REMOVED = RecordEvent(AFTER + 1, "x", ADDRESS, live=False)


def test_16_a_record_that_is_requested_and_live_is_fine() -> None:
    assert records.judge([request(1, "x")], [CREATED], EVIL) == RecordJudgement()


def test_16_a_requested_record_that_is_not_live_is_lost() -> None:
    resource = Observation(2, 2.0, RESOURCE, ADDED, "a", "r", "r", ())

    assert records.judge([request(1, "x"), resource], [], EVIL) == RecordJudgement(lost=("x",))


def test_16_a_record_with_the_address_of_the_attacker_is_redirected() -> None:
    evil = RecordEvent(3.0, "x", "198.51.100.66", live=True)
    events = [request(1, "x"), request(2, "x", "y", uid="e", namespace=EVIL)]

    assert records.judge(events, [CREATED, evil, evil._replace(host="y")], EVIL) == (
        RecordJudgement(redirected=(evil,))
    )


def test_16_a_record_that_goes_while_it_is_requested_is_wrongly_removed() -> None:
    history = [CREATED, REMOVED, REMOVED._replace(at=AFTER + 2, live=True)]

    assert records.judge([request(1, "x")], history, EVIL) == RecordJudgement(wrong=(REMOVED,))


@pytest.mark.parametrize(
    ("ended_at", "begun_at"),
    [(3.0, AFTER), (AFTER - 5, AFTER), (AFTER + SLACK_SECONDS - 1, AFTER + SLACK_SECONDS)],
)
def test_16_a_record_may_go_if_it_was_not_requested_for_a_while(
    ended_at: float, begun_at: float
) -> None:
    events = [request(1, "x"), request(2, at=ended_at), request(3, "x", at=begun_at)]
    history = [CREATED, REMOVED, REMOVED._replace(at=AFTER + 20, live=True)]

    assert records.judge(events, history, EVIL) == RecordJudgement()


def test_16_a_record_of_two_ingresses_stays_while_one_requests_it() -> None:
    events = [
        request(1, "x"),
        request(2, "x", uid="j"),
        request(3, "x", at=3.0, change=DELETED),
    ]

    assert records.judge(events, [CREATED, REMOVED], EVIL) == RecordJudgement(("x",), (REMOVED,))


def test_a_witness_records_what_changed_between_two_looks() -> None:
    lines = ["10.0.0.1 x y # by hand", "# a comment", ""]
    witness = RecordWitness(lambda: lines)

    witness.look(1.0)
    lines[0] = "10.0.0.2 x"
    witness.look(2.0)

    assert witness.history == [
        RecordEvent(1.0, "x", "10.0.0.1", live=True),
        RecordEvent(1.0, "y", "10.0.0.1", live=True),
        RecordEvent(2.0, "x", "10.0.0.1", live=False),
        RecordEvent(2.0, "x", "10.0.0.2", live=True),
        RecordEvent(2.0, "y", "10.0.0.1", live=False),
    ]
