"""No clock and no network trouble makes two leaders."""

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
def test_a_wall_clock_that_jumps_moves_no_lease(hours: int) -> None:
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


def test_a_wall_clock_that_stands_still_moves_no_lease() -> None:
    leases, time = Leases(), FakeTime(stopped=True)
    first, second = two_contenders(leases, time)

    for _ in range(20):
        assert (first.hold(), second.hold()) == (True, False)
        time.seconds += 5
    assert leases.version == 20


def test_a_holder_that_slept_knows_it_when_it_wakes() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    assert (first.hold(), second.hold()) == (True, False)

    time.seconds = 3600

    assert (first.held, second.hold(), first.hold()) == (False, True, False)


def test_a_contender_that_slept_takes_nothing_from_who_has_renewed() -> None:
    leases, time = Leases(), FakeTime()
    first, second = two_contenders(leases, time)
    assert (first.hold(), second.hold()) == (True, False)

    for time.seconds in range(0, 3600, 5):
        first.hold()

    assert (second.hold(), first.hold()) == (False, True)


MOVES = st.tuples(
    st.integers(0, 2),  # who
    st.sampled_from(["hold", "hold", "hold", "release", "jump", "stop", "replace"]),
    st.floats(0, 20),  # seconds before
    st.sampled_from(["", "", "", "no request", "no answer", "slow"]),
)


@given(st.lists(MOVES, max_size=60))
def test_no_two_ever_hold_it(moves: list[tuple[int, str, float, str]]) -> None:
    leases, times = Leases(), [FakeTime(), FakeTime(), FakeTime()]
    leaders = [contender(f"p{at}", leases, time) for at, time in enumerate(times)]

    def pass_by(seconds: float) -> None:
        for time in times:
            time.seconds += seconds
        assert sum(each.held for each in leaders) <= 1

    def slow(seconds: float, _: str) -> None:
        pass_by(seconds)

    for number, (who, what, seconds, trouble) in enumerate(moves):
        pass_by(seconds)
        leases.before = failing(NO_ANSWER, "PUT") if trouble == "no request" else do_nothing
        troubles: dict[str, Callable[[str], None]] = {
            "no answer": failing(NO_ANSWER, "PUT", "POST"),
            "slow": partial(slow, seconds),
        }
        leases.after = troubles.get(trouble, do_nothing)
        if what == "jump":
            times[who].jump = timedelta(hours=seconds - 10)
        elif what == "stop":
            times[who].stopped = not times[who].stopped
        elif what == "replace":
            leaders[who] = contender(f"p{who}-{number}", leases, times[who])
        else:
            getattr(leaders[who], what)()
        pass_by(0)
