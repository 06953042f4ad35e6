"""What is asked at the same time is done at once, in one session that is given back."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest

from pic.core.errors import FailureClass, PicError, PiholeError
from pic.core.model import Family, LiveRecord
from pic.pihole.batching import Gatherer, Window
from pic.pihole.protocol import RecordEdit
from tests.support.pihole import Memory

T = TypeVar("T")
PATIENT = Window(idle=60)
INTERRUPTED = "the run was ended before this was done: run again to finish"


def put(host: str, ip: str = "10.0.0.1") -> RecordEdit:
    return RecordEdit(host, Family.A, ip)


def gathered(
    pihole: Memory, act: Callable[[Gatherer], Awaitable[T]], pace: Window | None = PATIENT
) -> T:
    async def run() -> T:
        gatherer = Gatherer(pihole.open, pace)
        try:
            return await act(gatherer)
        finally:
            await gatherer.close()
            await gatherer.close()

    return asyncio.run(run())


async def together(*asked: Coroutine[Any, Any, T]) -> list[T | BaseException]:
    return await asyncio.gather(*asked, return_exceptions=True)


def told(answers: list[Any]) -> list[str]:
    return [str(each) if isinstance(each, PicError) else "done" for each in answers]


async def condition(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - what is waited for knows of no event
            await asyncio.sleep(0.001)


def test_what_comes_together_is_done_at_once() -> None:
    pihole = Memory([LiveRecord("old.lan", "10.0.0.9", ours=True)])

    answers = gathered(
        pihole,
        lambda it: together(it.apply(put("a.lan")), it.apply(put("b.lan")), it.read(), it.read()),
    )

    everything = tuple(pihole.records)
    assert answers == [None, None, everything, everything]
    assert [each.host for each in everything] == ["old.lan", "a.lan", "b.lan"]
    assert pihole.log == [
        *(("open",), ("apply", ("a.lan", "10.0.0.1"), ("b.lan", "10.0.0.1")), "read", "close")
    ]


def test_two_edits_of_one_record_come_one_after_the_other() -> None:
    pihole = Memory()

    gathered(
        pihole,
        lambda it: together(*(it.apply(put("a.lan", ip)) for ip in ("10.0.0.1", "10.0.0.2"))),
    )

    assert pihole.log == [
        *(("open",), ("apply", ("a.lan", "10.0.0.1")), ("apply", ("a.lan", "10.0.0.2")), "close")
    ]


def test_one_that_fails_keeps_the_others() -> None:
    pihole = Memory(refuses=frozenset({"b.lan"}))

    answers = gathered(
        pihole, lambda it: together(*(it.apply(put(f"{each}.lan")) for each in "abc"))
    )

    assert told(answers) == ["done", "no b.lan", "done"]


@pytest.mark.parametrize(
    "kind", [FailureClass.TEMPORARY, FailureClass.AUTH, FailureClass.RATE_LIMITED]
)
def test_what_fails_for_all_is_not_tried_again_within_a_run(kind: FailureClass) -> None:
    pihole = Memory(fails=[PiholeError("it is away", kind=kind)])

    async def twice(it: Gatherer) -> list[object]:
        first = await together(it.apply(put("a.lan")), it.read())
        return [*first, *await together(it.apply(put("b.lan")))]

    assert told(gathered(pihole, twice)) == ["it is away"] * 3
    assert pihole.log == [("open",)]


def test_what_is_wrong_with_some_edits_does_not_concern_the_next() -> None:
    pihole = Memory()

    async def twice(it: Gatherer) -> list[object]:
        await it.read()
        pihole.fails.append(PiholeError("a line of others", kind=FailureClass.INVALID))
        first = await together(it.apply(put("a.lan")))
        return [*first, *await together(it.apply(put("b.lan")))]

    assert told(gathered(pihole, twice)) == ["a line of others", "done"]
    assert pihole.log == [
        *(("open",), "read", ("apply", ("a.lan", "10.0.0.1")), "close"),
        *(("open",), ("apply", ("b.lan", "10.0.0.1")), "close"),
    ]


def test_the_session_is_given_back_when_nothing_is_asked_and_taken_again() -> None:
    pihole = Memory(closes_badly=True)

    async def twice(it: Gatherer) -> None:
        await it.read()
        await condition(lambda: pihole.log[-1] == "close")
        await it.read()

    gathered(pihole, twice, Window(idle=0.001))

    assert pihole.log == [("open",), "read", "close", ("open",), "read", "close"]


def test_what_keeps_coming_is_done_after_a_while() -> None:
    pihole = Memory()

    async def keep_coming(it: Gatherer) -> None:
        jobs = []
        while not pihole.log:
            jobs.append(asyncio.ensure_future(it.read()))
            await asyncio.sleep(0)
        await asyncio.gather(*jobs)

    gathered(pihole, keep_coming, Window(quiet=0.001, most=0.01, idle=60))

    assert pihole.log[:2] == [("open",), "read"]


def test_a_session_knows_every_host_of_ours_that_was_told_before() -> None:
    pihole = Memory()

    async def more(it: Gatherer) -> None:
        it.own("a.lan")
        await it.read()
        it.own("b.lan")
        await it.read()
        await it.read()

    gathered(pihole, more)

    assert pihole.log == [
        *(("open", "a.lan"), "read", "close"),
        *(("open", "a.lan", "b.lan"), "read", "read", "close"),
    ]


def test_an_end_lets_finish_what_is_being_done_and_refuses_the_rest() -> None:
    pihole = Memory()
    pihole.gate.clear()

    async def ended(it: Gatherer) -> list[object]:
        first = asyncio.ensure_future(it.apply(put("a.lan")))
        await condition(lambda: bool(pihole.log))
        second = asyncio.ensure_future(it.apply(put("b.lan")))
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(it.close())
        await asyncio.sleep(0)
        pihole.gate.set()
        await closing
        return await together(first, second, it.apply(put("c.lan")))  # type: ignore[arg-type]

    assert told(gathered(pihole, ended)) == ["done", INTERRUPTED, INTERRUPTED]
    assert pihole.log == [("open",), ("apply", ("a.lan", "10.0.0.1")), "close"]


def test_an_end_while_waiting_for_more_begins_nothing() -> None:
    pihole = Memory()

    async def ended(it: Gatherer) -> list[object]:
        first = asyncio.ensure_future(it.apply(put("a.lan")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await it.close()
        return await together(first)  # type: ignore[arg-type]

    assert told(gathered(pihole, ended, Window(quiet=0.01, idle=60))) == [INTERRUPTED]
    assert pihole.log == []


def test_who_has_stopped_waiting_is_not_answered() -> None:
    pihole = Memory()

    async def gone(it: Gatherer) -> list[object]:
        first = asyncio.ensure_future(it.read())
        await asyncio.sleep(0)
        first.cancel()
        return await together(it.read())

    assert gathered(pihole, gone) == [()]


def test_where_nothing_was_asked_nothing_is_opened() -> None:
    pihole = Memory()

    async def nothing(_: Gatherer) -> None:
        """Ask for nothing."""

    gathered(pihole, nothing)

    assert pihole.log == []
