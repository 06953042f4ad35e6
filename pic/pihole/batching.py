"""Gathers what is asked of a Pi-hole at the same time: one session, one request in flight, ever."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

from pic.core.errors import FailureClass, PicError, PiholeError
from pic.core.model import LiveRecord
from pic.pihole.protocol import Hosts, RecordEdit

Owned = frozenset[str]
Opens = Callable[[Owned], AbstractContextManager[Hosts]]
Records = tuple[LiveRecord, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """How long to wait, in seconds.

    Attributes:
        quiet: Nothing more has come for so long: what has come is done.
        most: It is done now, whatever else comes.
        idle: Nothing has come for so long: the session is given back.
    """

    quiet: float = 0.005
    most: float = 0.05
    idle: float = 0.3


@dataclass(eq=False, slots=True)
class _Wish:
    """Something asked for; an `edit` of None is to read."""

    edit: RecordEdit | None
    answer: asyncio.Future[Records]

    def settle(self, result: Records | Exception) -> None:
        """Answer, unless whoever asked is gone."""
        if self.answer.done():
            return
        if isinstance(result, Exception):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


class Gatherer:
    """Reads and edits for many at once, all within one session.

    The session is opened at first need. It is closed when nothing was asked for a while, and when
    another one must know of more hosts of ours.
    """

    def __init__(self, opens: Opens, pace: Window | None = None) -> None:
        self._pace = pace or Window()
        self._line = _Line(opens)
        # Everything that blocks happens here, one thing after the other.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pihole")
        self._wishes: list[_Wish] = []
        self._arrived = asyncio.Event()
        self._owned: set[str] = set()
        self._serving: asyncio.Task[None] | None = None
        self._ended = False

    async def read(self) -> Records:
        """Return every record.

        Raises:
            PicError: They could not be read whole.
        """
        return await self._ask(None)

    async def apply(self, edit: RecordEdit) -> None:
        """Bring an edit about.

        Raises:
            PicError: It could not be done.
        """
        await self._ask(edit)

    def own(self, host: str) -> None:
        """Take note that the records of a host are ours, where they cannot say so."""
        self._owned.add(host)

    async def close(self) -> None:
        """End what is being done, refuse what waits, and give the session back."""
        self._ended = True
        self._arrived.set()
        if self._serving:
            await asyncio.shield(self._serving)

    async def _ask(self, edit: RecordEdit | None) -> Records:
        if self._ended:
            raise _interrupted()
        wish = _Wish(edit, asyncio.get_running_loop().create_future())
        self._wishes.append(wish)
        self._arrived.set()
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        return await wish.answer

    async def _serve(self) -> None:
        while not self._ended:
            if not await self._something():
                await self._in_thread(self._line.close)
                continue
            await self._settle_down()
            await self._do(self._next())
        for wish in self._wishes:
            wish.settle(_interrupted())
        await self._in_thread(self._line.close)
        self._thread.shutdown()

    async def _something(self) -> bool:
        """Wait until something is asked for; False when nothing was, for a while."""
        arrival = asyncio.ensure_future(self._arrived.wait())
        await asyncio.wait([arrival], timeout=self._pace.idle if self._line.is_open else None)
        arrival.cancel()
        return self._arrived.is_set()

    async def _settle_down(self) -> None:
        """Wait until nothing more comes, or long enough."""
        loop = asyncio.get_running_loop()
        end, count = loop.time() + self._pace.most, -1
        while count < len(self._wishes) and loop.time() < end and not self._ended:
            count = len(self._wishes)
            await asyncio.sleep(self._pace.quiet)

    def _next(self) -> Sequence[_Wish]:
        """Take what can be done at once: not two edits of one record."""
        if self._ended:
            return []
        keys: set[object] = set()
        taken: list[_Wish] = []
        left: list[_Wish] = []
        for wish in self._wishes:
            key = (wish.edit.host, wish.edit.family) if wish.edit else wish
            (left if key in keys else taken).append(wish)
            keys.add(key)
        self._wishes = left
        if not left:
            self._arrived.clear()
        return taken

    async def _do(self, wishes: Sequence[_Wish]) -> None:
        edits, owned = [each.edit for each in wishes], frozenset(self._owned)
        results = await self._in_thread(lambda: list(self._line.answers(edits, owned)))
        for wish, result in zip(wishes, results, strict=True):
            wish.settle(result)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


class _Line:
    """The session, where there is one, and what is known of a Pi-hole that does not answer."""

    def __init__(self, opens: Opens) -> None:
        self._opens = opens
        self._hosts: Hosts | None = None
        self._owned: Owned = frozenset()
        self._closing = contextlib.ExitStack()
        self._broken: Exception | None = None

    @property
    def is_open(self) -> bool:
        return self._hosts is not None

    def close(self) -> None:
        """Give the session back; that it could not be is nobody's failure."""
        self._hosts = None
        with contextlib.suppress(PicError):
            self._closing.close()

    def answers(
        self, edits: Sequence[RecordEdit | None], owned: Owned
    ) -> Iterator[Records | Exception]:
        """Yield what became of each edit, or the records where it is None."""
        if not edits:
            return
        try:
            hosts = self._open(owned)
            failed = hosts.apply([each for each in edits if each]) if any(edits) else {}
            found = hosts.read() if None in edits else ()
        except Exception as error:  # noqa: BLE001 - whoever asked waits for an answer
            self._heed(error)
            yield from (error for _ in edits)
        else:
            yield from (failed.get(each, ()) if each else found for each in edits)

    def _heed(self, error: Exception) -> None:
        """Give the session back after a failure of everything.

        What would fail for the next ones too is not tried again within a run: each try may take
        as long as a Pi-hole may take to answer.
        """
        self.close()
        if not isinstance(error, PiholeError) or error.kind is not FailureClass.INVALID:
            self._broken = error

    def _open(self, owned: Owned) -> Hosts:
        if self._broken:
            raise self._broken
        if owned - self._owned:
            self.close()
            self._owned = owned
        if self._hosts is None:
            self._hosts = self._closing.enter_context(self._opens(owned))
        return self._hosts


def _interrupted() -> PiholeError:
    return PiholeError("the run was ended before this was done: run again to finish")
