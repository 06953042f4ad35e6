"""The judge of the chaos: which deletions something explains, and what is lost."""

import pytest

from dev.chaos.judge import (
    ADDED,
    DELETED,
    INGRESS,
    LONGEST_RUN_SECONDS,
    MODIFIED,
    RESOURCE,
    Seen,
    Verdict,
    judge,
    seen_of,
)

LATE = LONGEST_RUN_SECONDS + 1


class History:
    """What a witness saw, told in the order in which it happened, a second each."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.born: dict[str, int] = {}
        self.now = 0.0

    def ingress(self, change: str, *hosts: str, name: str = "web", space: str = "a") -> "History":
        uid = f"i-{space}-{name}"
        return self._note(Seen(0, 0, INGRESS, change, space, name, uid, hosts))

    def resource(
        self, change: str, host: str, *, owner: str = "i-a-web", space: str = "a", at: int = 0
    ) -> "History":
        name, uid = f"pic-{host}", f"r-{space}-{host}-{at}"
        return self._note(Seen(0, 0, RESOURCE, change, space, name, uid, (host,), (owner,)))

    def _note(self, seen: Seen) -> "History":
        self.now += 1
        revision = len(self.seen) + 1
        born = self.born.setdefault(seen.uid, revision)
        self.seen.append(seen._replace(revision=revision, at=self.now, born=born))
        return self

    def later(self, seconds: float) -> "History":
        self.now += seconds
        return self

    @property
    def verdict(self) -> Verdict:
        # The order in which the two watches tell it means nothing.
        return judge(reversed(self.seen))


def deployed(*hosts: str) -> History:
    """Return a history in which some hosts of an Ingress are there."""
    found = History().ingress(ADDED, *hosts)
    for host in hosts:
        found.resource(ADDED, host)
    return found


def test_what_is_asked_for_and_there_is_well() -> None:
    assert deployed("x", "y").verdict == Verdict()


def test_what_is_asked_for_and_not_there_is_lost() -> None:
    assert deployed("x").ingress(MODIFIED, "x", "y").verdict == Verdict(lost=("y",))


def test_what_is_there_and_not_asked_for_is_left_over() -> None:
    assert deployed("x", "y").ingress(MODIFIED, "x").verdict == Verdict(extra=("y",))


def test_a_deletion_for_nothing_is_wrong_even_if_it_is_mended() -> None:
    history = deployed("x").resource(DELETED, "x")
    wrong = history.seen[-1]

    history.resource(ADDED, "x", at=2)

    assert history.verdict == Verdict(wrong=(wrong,), deletions=1)


def test_a_host_that_has_gone_from_its_ingress_explains_it() -> None:
    history = deployed("x", "y").ingress(MODIFIED, "x").resource(DELETED, "y")

    assert history.verdict == Verdict(deletions=1)


def test_the_end_of_its_ingress_explains_it() -> None:
    history = deployed("x").ingress(DELETED, "x").resource(DELETED, "x")

    assert history.verdict == Verdict(deletions=1, collected=1)


def test_an_owner_that_came_again_by_another_uid_explains_it() -> None:
    history = deployed("x").ingress(DELETED, "x").ingress(ADDED, "x", name="again")

    history.resource(DELETED, "x").resource(ADDED, "x", owner="i-a-again", at=2)

    assert history.verdict == Verdict(deletions=1, collected=1)


def test_a_move_to_another_namespace_explains_it() -> None:
    history = deployed("x").ingress(ADDED, "x", space="b").ingress(MODIFIED)

    history.resource(ADDED, "x", space="b", owner="i-b-web").resource(DELETED, "x")

    assert history.verdict == Verdict(deletions=1)


def test_that_another_namespace_asks_for_it_explains_nothing() -> None:
    history = deployed("x").ingress(ADDED, "x", space="b").resource(DELETED, "x")

    assert history.verdict == Verdict(lost=("x",), wrong=(history.seen[-1],), deletions=1)


def test_a_run_may_act_by_what_was_so_a_short_time_ago() -> None:
    history = deployed("x").ingress(MODIFIED).ingress(MODIFIED, "x").resource(DELETED, "x")

    assert history.verdict == Verdict(lost=("x",), deletions=1)


def test_a_run_may_not_act_by_what_was_so_a_long_time_ago() -> None:
    history = deployed("x").ingress(MODIFIED).ingress(MODIFIED, "x").later(LATE)

    history.resource(DELETED, "x")

    assert history.verdict == Verdict(lost=("x",), wrong=(history.seen[-1],), deletions=1)


def test_what_was_so_before_an_object_was_made_explains_nothing() -> None:
    history = History().ingress(ADDED).ingress(MODIFIED, "x").resource(ADDED, "x")

    history.resource(DELETED, "x")

    assert history.verdict == Verdict(lost=("x",), wrong=(history.seen[-1],), deletions=1)


def test_a_host_that_another_ingress_claims_as_well_stays() -> None:
    history = deployed("x").ingress(ADDED, "x", name="more").ingress(MODIFIED)

    history.resource(DELETED, "x")

    assert history.verdict == Verdict(lost=("x",), wrong=(history.seen[-1],), deletions=1)


@pytest.mark.parametrize(
    ("class_name", "enabled", "hosts"),
    [
        ("pangolin", "true", ("x", "y")),
        ("pangolin", "false", ()),
        ("nginx", "true", ()),
    ],
)
def test_an_ingress_claims_by_class_and_switch(
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

    assert seen_of(INGRESS, ADDED, raw, 1.5, {}) == Seen(
        *(7, 1.5, INGRESS, ADDED, "a", "web", "u", hosts), born=7
    )


def test_an_object_exposes_its_public_host() -> None:
    raw = {
        "metadata": {
            "uid": "u",
            "resourceVersion": "7",
            "namespace": "a",
            "name": "pic-x",
            "ownerReferences": [{"uid": "i"}],
        },
        "spec": {"httpConfig": {"subdomain": "x", "domainName": "chaos.example"}},
    }

    assert seen_of(RESOURCE, DELETED, raw, 1.5, {"u": 3}) == Seen(
        *(7, 1.5, RESOURCE, DELETED, "a", "pic-x", "u", ("x.chaos.example",), ("i",), 3)
    )
