"""Tests that the watcher needs each verb that its account has in addition to `up`."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from dev.controlplane import ControlPlane
from pic.cluster import listing
from pic.core.errors import ClusterError
from pic.settings.kinds import KINDS
from pic.settings.parse import Settings
from pic.watch.follower import following
from pic.watch.leader import Leader
from pic.watch.store import Store
from tests.support.accounts import Account, Grant, grants, open_account
from tests.support.admin_api import api_of
from tests.support.waiting import until

WATCH = grants("watch")
WATCHING = [grant for grant in WATCH if grant.verb == "watch"]
LEASING = [grant for grant in WATCH if grant.part == "lease"]

Granting = Callable[[list[Grant]], Account]


@pytest.fixture
def granting(control_plane: ControlPlane, namespace: str) -> Iterator[Granting]:
    """Provide a function that creates an account with some grants in the namespace."""
    api = api_of(control_plane)
    with ExitStack() as accounts:
        yield lambda granted: accounts.enter_context(
            open_account(control_plane, api, namespace, granted)
        )


def less(without: Grant) -> list[Grant]:
    return [grant for grant in WATCH if grant != without]


def follow(
    account: Account, namespace: str, enough: Callable[[Store, list[str]], bool]
) -> list[str]:
    """Watch everything that a watcher watches until a condition is true; return the warnings."""
    settings = Settings(namespaces=(namespace,), tunnel_namespace=namespace)
    access = listing.resolve(settings, account.environment, in_subprocess=True)
    source = listing.connect_to(access)
    listings, warnings, lock = listing.listings(settings), list[str](), threading.Lock()
    store = Store(listings, time.monotonic, lambda: None)

    def tell(_: str, words: str, **__: object) -> None:
        with lock:
            warnings.append(words)

    with following(listings, source, store, tell):
        until(
            lambda: enough(store, warnings), f"the condition is true; the warnings are {warnings}"
        )
    return warnings


def test_the_account_suffices_to_watch_everything_and_to_lead(
    control_plane: ControlPlane, granting: Granting, namespace: str
) -> None:
    account = granting(WATCH)
    leader = lead(account, namespace)
    apps = (
        ("service", "clusterip", "app", "--tcp=80"),
        ("ingress", "web", "--rule=a.example/=app:80"),
    )

    def has_seen_both(store: Store, _: list[str]) -> bool:
        if store.take_updates().complete and not counts:
            counts.append(store.change_count)
            for words in apps:
                control_plane.kubectl("create", "-n", namespace, *words)
        return bool(counts) and store.change_count >= counts[0] + len(apps)

    counts: list[int] = []
    assert follow(account, namespace, has_seen_both) == []
    # The first call creates the Lease, and the second renews it.
    assert [leader.hold(), leader.hold()] == [True, True]


def lead(account: Account, namespace: str) -> Leader:
    transport = listing.connect(Settings(), account.environment)
    return Leader(transport, namespace, "pic-prod", account.user)


@pytest.mark.parametrize("verb", WATCHING, ids=str)
def test_a_missing_verb_for_watching_is_named_in_a_warning(
    granting: Granting, namespace: str, verb: Grant
) -> None:
    account = granting(less(verb))

    warnings = follow(account, namespace, lambda _, warnings: bool(warnings))

    scope = "all namespaces" if verb.wide else f"namespace {namespace}"
    assert warnings == [
        f"cannot watch {verb.resource} in {scope}: {verb.forbidden(account.user, namespace)}"
        f" (HTTP 403); grant the verb watch to the account that runs pic{alternative(verb)}"
    ]


def alternative(verb: Grant) -> str:
    remedy = next((kind.remedy for kind in KINDS if kind.plural == verb.resource), "")
    return f", or {remedy}" if remedy else ""


@pytest.mark.parametrize("verb", LEASING, ids=str)
def test_a_missing_verb_for_leading_is_named_in_an_error(
    granting: Granting, namespace: str, verb: Grant
) -> None:
    leader = lead(granting(less(verb)), namespace)
    name = "" if verb.verb == "create" else "pic-prod"

    forbidden = verb.forbidden(leader.identity, namespace, name)
    with pytest.raises(ClusterError, match=re.escape(forbidden)):
        create_and_take_over(leader)
    assert leader.problem == forbidden


def create_and_take_over(leader: Leader) -> None:
    leader.hold()
    leader.release()
    leader.hold()
