"""Tests the judge of the chaos run: which deletions are justified, and which hosts are lost."""

import pytest

from dev.chaos.judge import (
    ADDED,
    DELETED,
    INGRESS,
    LONGEST_RUN_SECONDS,
    MODIFIED,
    RESOURCE,
    Judgement,
    Observation,
    judge,
    observe,
)

LATE = LONGEST_RUN_SECONDS + 1


class History:
    """Builds what a witness has observed, in order, with one second between events."""

    def __init__(self) -> None:
        self.events: list[Observation] = []
        self.born: dict[str, int] = {}
        self.now = 0.0

    def ingress(self, change: str, *hosts: str, name: str = "web", space: str = "a") -> "History":
        uid = f"i-{space}-{name}"
        return self._add(Observation(0, 0, INGRESS, change, space, name, uid, hosts))

    def resource(
        self, change: str, host: str, *, owner: str = "i-a-web", space: str = "a", at: int = 0
    ) -> "History":
        name, uid = f"pic-{host}", f"r-{space}-{host}-{at}"
        return self._add(Observation(0, 0, RESOURCE, change, space, name, uid, (host,), (owner,)))

    def _add(self, event: Observation) -> "History":
        self.now += 1
        revision = len(self.events) + 1
        born = self.born.setdefault(event.uid, revision)
        self.events.append(event._replace(revision=revision, at=self.now, born=born))
        return self

    def later(self, seconds: float) -> "History":
        self.now += seconds
        return self

    @property
    def verdict(self) -> Judgement:
        # Two watches deliver the events, so the judge must not depend on their order.
        return judge(reversed(self.events))


def deployed(*hosts: str) -> History:
    """Return a history in which the hosts of one Ingress are deployed."""
    history = History().ingress(ADDED, *hosts)
    for host in hosts:
        history.resource(ADDED, host)
    return history


def test_a_claimed_host_that_is_exposed_is_fine() -> None:
    assert deployed("x", "y").verdict == Judgement()


def test_a_claimed_host_that_is_not_exposed_is_lost() -> None:
    assert deployed("x").ingress(MODIFIED, "x", "y").verdict == Judgement(lost=("y",))


def test_an_exposed_host_that_is_not_claimed_is_left_over() -> None:
    assert deployed("x", "y").ingress(MODIFIED, "x").verdict == Judgement(extra=("y",))


def test_an_unjustified_deletion_is_wrong_even_if_it_is_repaired() -> None:
    history = deployed("x").resource(DELETED, "x")
    wrong = history.events[-1]

    history.resource(ADDED, "x", at=2)

    assert history.verdict == Judgement(wrong=(wrong,), deletions=1)


def test_removing_a_host_from_its_ingress_justifies_its_deletion() -> None:
    history = deployed("x", "y").ingress(MODIFIED, "x").resource(DELETED, "y")

    assert history.verdict == Judgement(deletions=1)


def test_deleting_the_ingress_justifies_a_deletion() -> None:
    history = deployed("x").ingress(DELETED, "x").resource(DELETED, "x")

    assert history.verdict == Judgement(deletions=1, collected=1)


def test_recreating_the_owner_with_another_uid_justifies_a_deletion() -> None:
    history = deployed("x").ingress(DELETED, "x").ingress(ADDED, "x", name="again")

    history.resource(DELETED, "x").resource(ADDED, "x", owner="i-a-again", at=2)

    assert history.verdict == Judgement(deletions=1, collected=1)


def test_a_host_that_moves_to_another_namespace_is_wrongly_exposed() -> None:
    history = deployed("x").ingress(ADDED, "x", space="b").ingress(MODIFIED)

    history.resource(ADDED, "x", space="b", owner="i-b-web").resource(DELETED, "x")

    assert history.verdict == Judgement(exposed=(history.events[-2],), deletions=1)


def test_a_claim_from_another_namespace_does_not_justify_a_deletion() -> None:
    history = deployed("x").ingress(ADDED, "x", space="b").resource(DELETED, "x")

    assert history.verdict == Judgement(lost=("x",), wrong=(history.events[-1],), deletions=1)


def test_a_run_may_act_on_a_recent_state() -> None:
    history = deployed("x").ingress(MODIFIED).ingress(MODIFIED, "x").resource(DELETED, "x")

    assert history.verdict == Judgement(lost=("x",), deletions=1)


def test_a_run_must_not_act_on_an_old_state() -> None:
    history = deployed("x").ingress(MODIFIED).ingress(MODIFIED, "x").later(LATE)

    history.resource(DELETED, "x")

    assert history.verdict == Judgement(lost=("x",), wrong=(history.events[-1],), deletions=1)


def test_a_state_before_the_creation_does_not_justify_a_deletion() -> None:
    history = History().ingress(ADDED).ingress(MODIFIED, "x").resource(ADDED, "x")

    history.resource(DELETED, "x")

    assert history.verdict == Judgement(lost=("x",), wrong=(history.events[-1],), deletions=1)


def test_a_host_that_another_ingress_also_claims_must_stay() -> None:
    history = deployed("x").ingress(ADDED, "x", name="more").ingress(MODIFIED)

    history.resource(DELETED, "x")

    assert history.verdict == Judgement(lost=("x",), wrong=(history.events[-1],), deletions=1)


@pytest.mark.parametrize(
    ("class_name", "enabled", "hosts"),
    [
        ("pangolin", "true", ("x", "y")),
        ("pangolin", "false", ()),
        ("nginx", "true", ()),
    ],
)
def test_class_and_annotation_decide_whether_an_ingress_claims_its_hosts(
    class_name: str, enabled: str, hosts: tuple[str, ...]
) -> None:
    raw = {
        "metadata": {
            "uid": "u",
            "resourceVersion": "7",
            "namespace": "a",
            "name": "web",
            "annotations": {"pangolin.ingress.k8s.io/enabled": enabled},
        },
        "spec": {"ingressClassName": class_name, "rules": [{"host": "x"}, {"host": "y"}]},
    }

    assert observe(INGRESS, ADDED, raw, 1.5, {}) == Observation(
        *(7, 1.5, INGRESS, ADDED, "a", "web", "u", hosts), born=7
    )


# The entry of a manager that has set the host of an object.
FIELDS: dict[str, object] = {"f:spec": {"f:httpConfig": {"f:subdomain": {}}}}


def test_an_object_exposes_its_public_host() -> None:
    raw = {
        "metadata": {
            "uid": "u",
            "resourceVersion": "7",
            "namespace": "a",
            "name": "pic-x",
            "ownerReferences": [{"uid": "i"}],
            "managedFields": [{"manager": "pic", "fieldsV1": FIELDS}],
        },
        "spec": {"httpConfig": {"subdomain": "x", "domainName": "chaos.example"}},
    }

    assert observe(RESOURCE, DELETED, raw, 1.5, {"u": 3}) == Observation(
        *(7, 1.5, RESOURCE, DELETED, "a", "pic-x", "u", ("x.chaos.example",), ("i",), 3)
    )
