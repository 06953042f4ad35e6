"""Batches the requests that the engine makes at the same time.

The engine calls the provider once for each record, as many at the same time as it may take steps.
Pi-hole stores all records in one list, which two writers at once corrupt. So a batch collects calls
until no more come, and handles them with one read and one write, all in one session. Only one
request to Pi-hole is ever in flight (docs/adr/0014-pihole-by-a-provider-that-gathers.md).
"""

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
from pic.provider import INTERRUPTED

Owned = frozenset[str]
OpenHosts = Callable[[Owned], AbstractContextManager[Hosts]]
Records = tuple[LiveRecord, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """How long a batch and a session stay open, in seconds.

    Attributes:
        quiet: A batch starts when no request has come for this long.
        limit: A batch starts after this long, even if requests keep coming.
        idle: The session ends when no request has come for this long.
    """

    quiet: float = 0.005
    limit: float = 0.05
    # The engine does not say which call is the last one, so only time can end a session.
    idle: float = 0.3


# Where the engine takes hundreds of steps at once, as in `pic up`. It calls about 200 times in a
# second, and each write costs Pi-hole more than this pause costs the run.
WIDE = Window(quiet=0.1, limit=3.0, idle=0.5)
MANY_STEPS = 64


def window_for(parallel: str) -> Window:
    """Return the window that suits an engine.

    Args:
        parallel: How many steps the engine takes at once, as `PULUMI_PARALLEL` says; empty if it
            says nothing. An engine with few steps would wait for the end of each window.
    """
    return WIDE if parallel.isdecimal() and int(parallel) >= MANY_STEPS else Window()


@dataclass(eq=False, slots=True)
class _Request:
    """One request of the engine; an `edit` of None reads."""

    edit: RecordEdit | None
    answer: asyncio.Future[Records]

    def settle(self, result: Records | Exception) -> None:
        """Answer the request, unless its caller has given up."""
        if self.answer.done():
            return
        if isinstance(result, Exception):
            self.answer.set_exception(result)
        else:
            self.answer.set_result(result)


class Batcher:
    """Reads and edits records for many callers, all within one session.

    The first request opens the session. The session ends after a short idle time. It also ends when
    the engine names another host of ours, because a session gets these hosts at its start.
    """

    def __init__(self, open_hosts: OpenHosts, window: Window | None = None) -> None:
        self._window = window or Window()
        self._connection = _Connection(open_hosts)
        # All blocking calls share one thread, so requests to Pi-hole run one after the other.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pihole")
        self._requests: list[_Request] = []
        self._arrived = asyncio.Event()
        self._owned: set[str] = set()
        self._serving: asyncio.Task[None] | None = None
        self._ended = False

    async def read(self) -> Records:
        """Return every record.

        Raises:
            PicError: Pi-hole did not return all records.
        """
        return await self._submit(None)

    async def apply(self, edit: RecordEdit) -> None:
        """Apply an edit.

        Raises:
            PicError: The edit failed.
        """
        await self._submit(edit)

    def own(self, host: str) -> None:
        """Note that the records of a host are ours, for the interface that has no markers."""
        self._owned.add(host)

    async def close(self) -> None:
        """Finish the current batch, refuse the requests that wait, and end the session."""
        self._ended = True
        self._arrived.set()
        if self._serving:
            # A cancelled caller must not cut off the batch, which may be writing.
            await asyncio.shield(self._serving)

    async def _submit(self, edit: RecordEdit | None) -> Records:
        if self._ended:
            raise _interrupted()
        request = _Request(edit, asyncio.get_running_loop().create_future())
        self._requests.append(request)
        self._arrived.set()
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        return await request.answer

    async def _serve(self) -> None:
        while not self._ended:
            if not await self._await_request():
                await self._in_thread(self._connection.close)
                continue
            await self._await_quiet()
            await self._run(self._next_batch())
        for request in self._requests:
            request.settle(_interrupted())
        await self._in_thread(self._connection.close)
        self._thread.shutdown()

    async def _await_request(self) -> bool:
        """Wait for a request; return False if the open session was idle for too long."""
        arrival = asyncio.ensure_future(self._arrived.wait())
        timeout = self._window.idle if self._connection.is_open else None
        await asyncio.wait([arrival], timeout=timeout)
        arrival.cancel()
        return self._arrived.is_set()

    async def _await_quiet(self) -> None:
        """Wait until requests stop coming, or until the batch is old enough."""
        loop = asyncio.get_running_loop()
        end, count = loop.time() + self._window.limit, -1
        while count < len(self._requests) and loop.time() < end and not self._ended:
            count = len(self._requests)
            await asyncio.sleep(self._window.quiet)

    def _next_batch(self) -> Sequence[_Request]:
        """Take the requests of the next batch: at most one edit of each record."""
        if self._ended:
            return []
        # `Hosts.apply` drops the first of two edits of one record, so the second one has to wait.
        keys: set[object] = set()
        batch: list[_Request] = []
        rest: list[_Request] = []
        for request in self._requests:
            edit = request.edit
            key = (edit.host, edit.family) if edit else request
            (rest if key in keys else batch).append(request)
            keys.add(key)
        self._requests = rest
        if not rest:
            self._arrived.clear()
        return batch

    async def _run(self, batch: Sequence[_Request]) -> None:
        edits, owned = [request.edit for request in batch], frozenset(self._owned)
        results = await self._in_thread(lambda: list(self._connection.results(edits, owned)))
        for request, result in zip(batch, results, strict=True):
            request.settle(result)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


class _Connection:
    """The session, while one is open, and the error of a Pi-hole that does not answer."""

    def __init__(self, open_hosts: OpenHosts) -> None:
        self._open_hosts = open_hosts
        self._hosts: Hosts | None = None
        self._owned: Owned = frozenset()
        self._closing = contextlib.ExitStack()
        self._failure: Exception | None = None

    @property
    def is_open(self) -> bool:
        return self._hosts is not None

    def close(self) -> None:
        """End the session; a failed logout is ignored, since no request depends on it."""
        self._hosts = None
        with contextlib.suppress(PicError):
            self._closing.close()

    def results(
        self, edits: Sequence[RecordEdit | None], owned: Owned
    ) -> Iterator[Records | Exception]:
        """Yield the result of each edit, or all records where the edit is None."""
        # `close` has emptied this batch: a session would be opened for nothing.
        if not edits:
            return
        try:
            hosts = self._open(owned)
            failures = hosts.apply([edit for edit in edits if edit]) if any(edits) else {}
            records = hosts.read() if None in edits else ()
        except Exception as error:  # noqa: BLE001 - each caller waits for an answer
            self._fail(error)
            yield from (error for _ in edits)
        else:
            yield from (failures.get(edit, ()) if edit else records for edit in edits)

    def _fail(self, error: Exception) -> None:
        """End the session after the whole batch failed.

        Unless the batch itself was invalid, the next one would fail in the same way, perhaps after
        a long timeout. So all later batches fail at once with the same error.
        """
        self.close()
        if not isinstance(error, PiholeError) or error.kind is not FailureClass.INVALID:
            self._failure = error

    def _open(self, owned: Owned) -> Hosts:
        if self._failure:
            raise self._failure
        # Only dns-local uses the owned hosts. It gets them when the session opens.
        if owned - self._owned:
            self.close()
            self._owned = owned
        if self._hosts is None:
            self._hosts = self._closing.enter_context(self._open_hosts(owned))
        return self._hosts


def _interrupted() -> PiholeError:
    return PiholeError(INTERRUPTED)
