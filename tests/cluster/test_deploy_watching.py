"""The account of the watcher: each verb that it has beyond `up` is needed."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from dev.controlplane import ControlPlane
from pic.cluster import listing
from pic.core.errors import ClusterError
from pic.settings.kinds import KINDS
from pic.settings.parse import Settings
from pic.watch.follower import following
from pic.watch.leader import Leader
from pic.watch.store import Store
from tests.engine.accounts import Account, Grant, account, grants
from tests.engine.stage import api_of
from tests.support.waiting import until

WATCH = grants("watch")
FOLLOWED = [it for it in WATCH if it.verb == "watch"]
LEASED = [it for it in WATCH if it.part == "lease"]

Granting = Callable[[list[Grant]], Account]


@pytest.fixture
def granting(control_plane: ControlPlane, namespace: str) -> Iterator[Granting]:
    """Make accounts that may do no more than is granted, in the namespace of the test."""
    making, api = contextmanager(account), api_of(control_plane)
    with ExitStack() as made:
        yield lambda granted: made.enter_context(making(control_plane, api, namespace, granted))


def less(without: Grant) -> list[Grant]:
    return [it for it in WATCH if it != without]


def follow(who: Account, namespace: str, enough: Callable[[Store, list[str]], bool]) -> list[str]:
    """Follow everything that a watcher follows until it is enough; return its warnings."""
    settings = Settings(namespaces=(namespace,), tunnel_namespace=namespace)
    source = listing.connect(settings, who.environment, in_subprocess=True)
    reads, told, lock = listing.listings(settings), list[str](), threading.Lock()
    cache = Store(reads, time.monotonic, lambda: None)

    def tell(_: str, words: str, **__: object) -> None:
        with lock:
            told.append(words)

    with following(reads, source, cache, tell):
        until(lambda: enough(cache, told), f"enough of {told}")
    return told


def test_the_account_is_enough_to_follow_everything_and_to_lead(
    control_plane: ControlPlane, granting: Granting, namespace: str
) -> None:
    who = granting(WATCH)
    leader = lead(who, namespace)
    apps = (
        ("service", "clusterip", "app", "--tcp=80"),
        ("ingress", "web", "--rule=a.example/=app:80"),
    )

    def heard_of_both(cache: Store, _: list[str]) -> bool:
        if cache.news().complete and not known:
            known.append(cache.changes)
            for each in apps:
                control_plane.kubectl("create", "-n", namespace, *each)
        return bool(known) and cache.changes >= known[0] + len(apps)

    known: list[int] = []
    assert follow(who, namespace, heard_of_both) == []
    # The second renews what the first has made.
    assert [leader.hold(), leader.hold()] == [True, True]


def lead(who: Account, namespace: str) -> Leader:
    transport = listing.connect(Settings(), who.environment)
    return Leader(transport, namespace, "pic-prod", who.user)


@pytest.mark.parametrize("verb", FOLLOWED, ids=str)
def test_each_verb_for_following_is_missed_by_its_name(
    granting: Granting, namespace: str, verb: Grant
) -> None:
    who = granting(less(verb))

    told = follow(who, namespace, lambda _, told: bool(told))

    where = "all namespaces" if verb.wide else f"namespace {namespace}"
    assert told == [
        f"cannot watch {verb.resource} in {where}: {verb.forbidden(who.user, namespace)}"
        f" (HTTP 403); grant the verb watch to who runs pic{instead(verb)}"
    ]


def instead(verb: Grant) -> str:
    way = next((kind.remedy for kind in KINDS if kind.plural == verb.resource), "")
    return f", or {way}" if way else ""


@pytest.mark.parametrize("verb", LEASED, ids=str)
def test_each_verb_for_leading_is_missed_by_its_name(
    granting: Granting, namespace: str, verb: Grant
) -> None:
    leader = lead(granting(less(verb)), namespace)
    name = "" if verb.verb == "create" else "pic-prod"

    forbidden = verb.forbidden(leader.identity, namespace, name)
    with pytest.raises(ClusterError, match=re.escape(forbidden)):
        make_and_take_over(leader)
    assert leader.problem == forbidden


def make_and_take_over(leader: Leader) -> None:
    leader.hold()
    leader.release()
    leader.hold()
