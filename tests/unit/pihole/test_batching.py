"""Batches of requests at the same time, and the one session that they share."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest

from pic.core.errors import FailureClass, PicError, PiholeError
from pic.core.model import Family, LiveRecord
from pic.pihole.batching import WIDE, Batcher, Window, window_for
from pic.pihole.protocol import RecordEdit
from tests.support.pihole import MemoryPihole

T = TypeVar("T")
LONG_IDLE = Window(idle=60)
INTERRUPTED = "the run ended before this was done: run pic again to finish"


def put(host: str, ip: str = "10.0.0.1") -> RecordEdit:
    return RecordEdit(host, Family.A, ip)


def with_batcher(
    pihole: MemoryPihole, act: Callable[[Batcher], Awaitable[T]], window: Window | None = LONG_IDLE
) -> T:
    async def run() -> T:
        batcher = Batcher(pihole.open, window)
        try:
            return await act(batcher)
        finally:
            await batcher.close()
            await batcher.close()

    return asyncio.run(run())


async def together(*calls: Coroutine[Any, Any, T]) -> list[T | BaseException]:
    return await asyncio.gather(*calls, return_exceptions=True)


def outcomes(results: list[Any]) -> list[str]:
    return [str(result) if isinstance(result, PicError) else "done" for result in results]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 - the fake has no event to wait for
            await asyncio.sleep(0.001)


def test_requests_at_the_same_time_are_one_batch() -> None:
    pihole = MemoryPihole([LiveRecord("old.lan", "10.0.0.9", ours=True)])

    answers = with_batcher(
        pihole,
        lambda batcher: together(
            batcher.apply(put("a.lan")),
            batcher.apply(put("b.lan")),
            batcher.read(),
            batcher.read(),
        ),
    )

    records = tuple(pihole.records)
    assert answers == [None, None, records, records]
    assert [record.host for record in records] == ["old.lan", "a.lan", "b.lan"]
    assert pihole.log == [
        *(("open",), ("apply", ("a.lan", "10.0.0.1"), ("b.lan", "10.0.0.1")), "read", "close")
    ]


@pytest.mark.parametrize(
    ("parallel", "window"),
    [("", Window()), ("32", Window()), ("64", WIDE), ("512", WIDE), ("-1", Window())],
)
def test_an_engine_with_many_steps_gets_a_wide_window(parallel: str, window: Window) -> None:
    assert window_for(parallel) == window


def test_two_edits_of_one_record_run_one_after_the_other() -> None:
    pihole = MemoryPihole()

    with_batcher(
        pihole,
        lambda batcher: together(
            *(batcher.apply(put("a.lan", ip)) for ip in ("10.0.0.1", "10.0.0.2"))
        ),
    )

    assert pihole.log == [
        *(("open",), ("apply", ("a.lan", "10.0.0.1")), ("apply", ("a.lan", "10.0.0.2")), "close")
    ]


def test_a_failed_edit_does_not_stop_the_others() -> None:
    pihole = MemoryPihole(refuses=frozenset({"b.lan"}))

    answers = with_batcher(
        pihole, lambda batcher: together(*(batcher.apply(put(f"{name}.lan")) for name in "abc"))
    )

    assert outcomes(answers) == ["done", "no b.lan", "done"]


@pytest.mark.parametrize(
    "kind", [FailureClass.TEMPORARY, FailureClass.AUTH, FailureClass.RATE_LIMITED]
)
def test_an_error_that_would_repeat_fails_all_later_batches(kind: FailureClass) -> None:
    pihole = MemoryPihole(fails=[PiholeError("no answer", kind=kind)])

    async def act(batcher: Batcher) -> list[object]:
        first = await together(batcher.apply(put("a.lan")), batcher.read())
        return [*first, *await together(batcher.apply(put("b.lan")))]

    assert outcomes(with_batcher(pihole, act)) == ["no answer"] * 3
    assert pihole.log == [("open",)]


def test_an_invalid_batch_does_not_fail_the_next_one() -> None:
    pihole = MemoryPihole()

    async def act(batcher: Batcher) -> list[object]:
        await batcher.read()
        pihole.fails.append(PiholeError("a foreign line", kind=FailureClass.INVALID))
        first = await together(batcher.apply(put("a.lan")))
        return [*first, *await together(batcher.apply(put("b.lan")))]

    assert outcomes(with_batcher(pihole, act)) == ["a foreign line", "done"]
    assert pihole.log == [
        *(("open",), "read", ("apply", ("a.lan", "10.0.0.1")), "close"),
        *(("open",), ("apply", ("b.lan", "10.0.0.1")), "close"),
    ]


def test_an_idle_session_ends_and_a_later_request_opens_a_new_one() -> None:
    pihole = MemoryPihole(fails_to_close=True)

    async def act(batcher: Batcher) -> None:
        await batcher.read()
        await until(lambda: pihole.log[-1] == "close")
        await batcher.read()

    with_batcher(pihole, act, Window(idle=0.001))

    assert pihole.log == [("open",), "read", "close", ("open",), "read", "close"]


def test_a_batch_starts_even_if_requests_keep_coming() -> None:
    pihole = MemoryPihole()

    async def act(batcher: Batcher) -> None:
        jobs = []
        while not pihole.log:
            jobs.append(asyncio.ensure_future(batcher.read()))
            await asyncio.sleep(0)
        await asyncio.gather(*jobs)

    with_batcher(pihole, act, Window(quiet=0.001, limit=0.01, idle=60))

    assert pihole.log[:2] == [("open",), "read"]


def test_a_session_knows_every_owned_host_so_far() -> None:
    pihole = MemoryPihole()

    async def act(batcher: Batcher) -> None:
        batcher.own("a.lan")
        await batcher.read()
        batcher.own("b.lan")
        await batcher.read()
        await batcher.read()

    with_batcher(pihole, act)

    assert pihole.log == [
        *(("open", "a.lan"), "read", "close"),
        *(("open", "a.lan", "b.lan"), "read", "read", "close"),
    ]


def test_closing_finishes_the_current_batch_and_refuses_the_rest() -> None:
    pihole = MemoryPihole()
    pihole.gate.clear()

    async def act(batcher: Batcher) -> list[object]:
        first = asyncio.ensure_future(batcher.apply(put("a.lan")))
        await until(lambda: bool(pihole.log))
        second = asyncio.ensure_future(batcher.apply(put("b.lan")))
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(batcher.close())
        await asyncio.sleep(0)
        pihole.gate.set()
        await closing
        return await together(first, second, batcher.apply(put("c.lan")))  # type: ignore[arg-type]

    assert outcomes(with_batcher(pihole, act)) == ["done", INTERRUPTED, INTERRUPTED]
    assert pihole.log == [("open",), ("apply", ("a.lan", "10.0.0.1")), "close"]


def test_closing_before_a_batch_starts_sends_nothing() -> None:
    pihole = MemoryPihole()

    async def act(batcher: Batcher) -> list[object]:
        first = asyncio.ensure_future(batcher.apply(put("a.lan")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await batcher.close()
        return await together(first)  # type: ignore[arg-type]

    assert outcomes(with_batcher(pihole, act, Window(quiet=0.01, idle=60))) == [INTERRUPTED]
    assert pihole.log == []


def test_a_cancelled_request_gets_no_answer() -> None:
    pihole = MemoryPihole()

    async def act(batcher: Batcher) -> list[object]:
        first = asyncio.ensure_future(batcher.read())
        await asyncio.sleep(0)
        first.cancel()
        return await together(batcher.read())

    assert with_batcher(pihole, act) == [()]


def test_without_a_request_no_session_opens() -> None:
    pihole = MemoryPihole()

    async def act(_: Batcher) -> None:
        """Send no request."""

    with_batcher(pihole, act)

    assert pihole.log == []
