"""Tests that at most one of several watchers holds the Lease."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from pic.cluster.listing import StatusError
from pic.core.errors import ClusterError
from pic.watch.leader import Leader, LeaseTimes, boot_clock
from tests.support.leases import (
    NO_ANSWER,
    PATH,
    FakeTime,
    Leases,
    contender,
    do_nothing,
    failing,
    two_contenders,
)


def test_the_first_contender_creates_the_lease_and_holds_it() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)

    assert (first.hold(), second.hold()) == (True, False)
    assert leases.objects[PATH] == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"namespace": "pic", "name": "prod", "uid": "u-1", "resourceVersion": "1"},
        "spec": {
            "holderIdentity": "a",
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-01-02T03:04:05.000000Z",
            "renewTime": "2026-01-02T03:04:05.000000Z",
            "leaseTransitions": 0,
        },
    }


def test_a_holder_that_renews_keeps_the_lease() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)

    for _ in range(20):
        assert (first.hold(), second.hold()) == (True, False)
        time.seconds += 9
    assert leases.spec == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-02T03:04:05.000000Z",
        "renewTime": "2026-01-02T03:06:56.000000Z",
        "leaseTransitions": 0,
    }


def test_a_lease_that_is_not_renewed_goes_to_another_contender() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    assert (first.hold(), second.hold()) == (True, False)

    time.seconds = 15
    assert second.hold() is False
    time.seconds = 15.1
    assert second.hold() is True
    assert (first.held, first.hold()) == (False, False)
    assert leases.spec == {
        "holderIdentity": "b",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-02T03:04:20.100000Z",
        "renewTime": "2026-01-02T03:04:20.100000Z",
        "leaseTransitions": 1,
    }


def test_a_record_counts_as_fresh_when_a_contender_first_sees_it() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    first.hold()

    time.seconds = 3600
    assert second.hold() is False
    time.seconds += 15.1
    assert second.hold() is True


def test_the_duration_in_the_record_counts() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    first.times = LeaseTimes(lease_duration=60, renew_deadline=40)
    assert (first.hold(), second.hold()) == (True, False)

    time.seconds = 59
    assert second.hold() is False
    time.seconds = 61
    assert second.hold() is True


def test_a_record_without_a_duration_lasts_the_default_duration() -> None:
    leases, time = Leases(), FakeTime()
    second = contender("b", leases, time)
    spec = {"holderIdentity": "a"}
    leases.objects[PATH] = {"kind": "Lease", "metadata": {"resourceVersion": "7"}, "spec": spec}

    assert second.hold() is False
    time.seconds = 15.1
    assert second.hold() is True


def test_a_released_lease_is_free_at_once() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    assert (first.hold(), second.hold()) == (True, False)

    first.release()

    assert leases.spec == {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "acquireTime": "2026-01-02T03:04:05.000000Z",
        "renewTime": "2026-01-02T03:04:05.000001Z",
        "leaseTransitions": 0,
    }
    assert (first.held, second.hold()) == (False, True)


def test_a_contender_cannot_release_the_lease_of_another() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    first.hold()
    before = dict(leases.objects)

    second.release()

    assert leases.objects == before


def test_a_former_holder_does_not_release_the_lease_of_its_successor() -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)
    first.hold()
    spec = {**leases.spec, "holderIdentity": "b"}
    leases.objects[PATH] = {**leases.objects[PATH], "spec": spec}

    first.release()

    assert (first.held, leases.spec) == (False, spec)


def test_releasing_a_deleted_lease_succeeds() -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)
    first.hold()
    leases.objects.clear()

    first.release()

    assert (first.held, first.problem, leases.objects) == (False, "", {})


def test_a_release_without_an_answer_does_not_raise() -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)
    first.hold()
    leases.before = failing(NO_ANSWER, "GET")

    first.release()

    assert (first.held, first.problem) == (False, "no answer")


def test_of_two_contenders_that_create_at_once_one_holds_the_lease() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    leases.before = once("POST", first.hold)

    assert (second.hold(), first.held) == (False, True)
    assert leases.spec["holderIdentity"] == "a"


def test_of_two_contenders_that_replace_at_once_one_holds_the_lease() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    contender("gone", leases, time).hold()
    assert (first.hold(), second.hold()) == (False, False)
    time.seconds = 16
    leases.before = once("PUT", first.hold)

    assert (second.hold(), first.held) == (False, True)
    assert leases.spec["holderIdentity"] == "a"


def once(method: str, act: Callable[[], object]) -> Callable[[str], None]:
    """Return a hook that acts before the first request with a method."""
    acted: list[str] = []

    def before(current: str) -> None:
        if current == method and not acted:
            acted.append(current)
            act()

    return before


def test_a_holder_recognizes_its_own_write_whose_answer_was_lost() -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)
    assert first.hold()
    leases.after = failing(NO_ANSWER, "PUT")
    time.seconds = 2
    assert (first.hold(), first.problem) == (True, "no answer")

    leases.after = do_nothing
    time.seconds = 4
    assert (first.hold(), first.problem) == (True, "")


def test_a_lease_that_changes_between_read_and_write_is_read_again() -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)
    first.hold()
    leases.before = once("PUT", lambda: relabel(leases))

    time.seconds = 2
    assert (first.hold(), first.held) == (True, True)
    assert leases.methods == ["GET", "POST", "GET", "PUT", "GET", "PUT"]


def test_a_lease_that_changes_at_every_write_is_not_held() -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)
    first.hold()
    leases.before = lambda method: relabel(leases) if method == "PUT" else None

    assert (first.hold(), first.held) == (False, False)


def relabel(leases: Leases) -> None:
    leases.version += 1
    lease = leases.objects[PATH]
    metadata = {"uid": "u-1", "resourceVersion": str(leases.version)}
    leases.objects[PATH] = {**lease, "metadata": metadata}


def test_a_holder_without_an_answer_gives_up_before_the_lease_expires() -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)
    first.hold()
    leases.before = failing(NO_ANSWER, "GET")

    time.seconds = 9.9
    assert (first.hold(), first.held) == (True, True)
    time.seconds = 10
    assert (first.held, first.hold()) == (False, False)


def test_an_answer_that_comes_too_late_does_not_count() -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)

    def slow(method: str) -> None:
        time.seconds += 11 if method == "PUT" else 0

    assert first.hold() is True
    leases.after = slow
    assert first.hold() is False
    leases.after = do_nothing
    assert first.hold() is True


@pytest.mark.parametrize(
    ("status", "reason", "remedy"),
    [
        (401, "Unauthorized", "the API server rejects the credentials: renew them"),
        (
            403,
            'leases "prod" is forbidden',
            "grant get, create and update on leases of coordination.k8s.io in namespace pic to"
            " the account that runs pic",
        ),
        (
            404,
            'namespaces "pic" not found',
            "create namespace pic, or name another one with --lease-namespace",
        ),
    ],
)
def test_a_permanent_error_says_what_to_do(status: int, reason: str, remedy: str) -> None:
    leases, time = Leases(), FakeTime()
    leases.before = failing(StatusError(status, reason), "POST")

    with pytest.raises(ClusterError) as caught:
        contender("a", leases, time).hold()

    assert str(caught.value) == f"cannot hold Lease pic/prod: {reason} (HTTP {status}); {remedy}"


def test_a_holder_survives_a_short_refusal() -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)
    first.hold()
    leases.before = failing(StatusError(403, "the rules are not loaded yet"), "GET")

    assert (first.hold(), first.problem) == (True, "the rules are not loaded yet")
    time.seconds = 10
    with pytest.raises(ClusterError):
        first.hold()


@pytest.mark.parametrize("error", [NO_ANSWER, StatusError(500, "etcd is away")])
def test_a_contender_without_an_answer_does_not_hold_the_lease_and_knows_why(
    error: Exception,
) -> None:
    leases, time = Leases(), FakeTime()
    first = contender("a", leases, time)
    leases.before = failing(error, "GET")

    assert (first.hold(), first.problem) == (False, str(error))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ([], "it is a list, not a map"),
        ({}, "it has no kind"),
        ({"kind": "Status"}, "its kind is Status"),
        ({"kind": "Lease", "spec": 3}, "spec is a number, not a map"),
    ],
)
def test_a_malformed_lease_is_not_held(answer: object, problem: str) -> None:
    leases, time = Leases(), FakeTime()
    leases.objects[PATH] = answer  # type: ignore[assignment]
    first = contender("a", leases, time)

    assert (first.hold(), first.problem) == (
        False,
        f"Lease pic/prod is malformed: {problem}",
    )


def test_the_default_clock_counts_the_time_of_a_suspended_machine() -> None:
    first = Leader(Leases(), "pic", "prod", "a")

    assert first.hold() is True
    assert first.clock is boot_clock
    assert first.wall().tzinfo is UTC
    assert datetime.now(UTC) - first.wall() < timedelta(hours=1)
