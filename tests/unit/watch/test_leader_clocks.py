"""Tests that no clock and no network fault makes two leaders."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.leases import (
    NO_ANSWER,
    FakeTime,
    Leases,
    contender,
    do_nothing,
    failing,
    two_contenders,
)


@pytest.mark.parametrize("hours", [-30_000, -1, 1, 30_000])
def test_a_jump_of_the_wall_clock_does_not_move_the_lease(hours: int) -> None:
    leases = Leases()
    time, other = FakeTime(), FakeTime()
    first, second = contender("a", leases, time), contender("b", leases, other)
    assert (first.hold(), second.hold()) == (True, False)

    time.jump = timedelta(hours=hours)
    other.jump = timedelta(hours=-hours)
    for _ in range(20):
        time.seconds += 5
        other.seconds += 5
        assert (first.hold(), second.hold()) == (True, False)


def test_a_stopped_wall_clock_does_not_move_the_lease() -> None:
    leases, time = Leases(), FakeTime(stopped=True)
    first, second = two_contenders(leases, time)

    for _ in range(20):
        assert (first.hold(), second.hold()) == (True, False)
        time.seconds += 5
    assert leases.version == 20


def test_a_suspended_holder_knows_that_it_lost_the_lease() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    assert (first.hold(), second.hold()) == (True, False)

    time.seconds = 3600

    assert (first.held, second.hold(), first.hold()) == (False, True, False)


def test_a_suspended_contender_does_not_take_a_renewed_lease() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    assert (first.hold(), second.hold()) == (True, False)

    for time.seconds in range(0, 3600, 5):
        first.hold()

    assert (second.hold(), first.hold()) == (False, True)


MOVES = st.tuples(
    st.integers(0, 2),  # the contender
    st.sampled_from(["hold", "hold", "hold", "release", "jump", "stop", "replace"]),
    st.floats(0, 20),  # seconds before
    st.sampled_from(["", "", "", "no request", "no answer", "slow"]),
)


@given(st.lists(MOVES, max_size=60))
def test_two_contenders_never_hold_the_lease_at_once(
    moves: list[tuple[int, str, float, str]],
) -> None:
    leases, times = Leases(), [FakeTime(), FakeTime(), FakeTime()]
    leaders = [contender(f"p{number}", leases, time) for number, time in enumerate(times)]

    def advance(seconds: float) -> None:
        for time in times:
            time.seconds += seconds
        assert sum(leader.held for leader in leaders) <= 1

    def slow(seconds: float, _: str) -> None:
        advance(seconds)

    for number, (index, action, seconds, fault) in enumerate(moves):
        advance(seconds)
        leases.before = failing(NO_ANSWER, "PUT") if fault == "no request" else do_nothing
        faults: dict[str, Callable[[str], None]] = {
            "no answer": failing(NO_ANSWER, "PUT", "POST"),
            "slow": partial(slow, seconds),
        }
        leases.after = faults.get(fault, do_nothing)
        if action == "jump":
            times[index].jump = timedelta(hours=seconds - 10)
        elif action == "stop":
            times[index].stopped = not times[index].stopped
        elif action == "replace":
            leaders[index] = contender(f"p{index}-{number}", leases, times[index])
        else:
            getattr(leaders[index], action)()
        advance(0)
