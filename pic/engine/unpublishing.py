"""Blocks a host in Pangolin before its object is deleted, for `pic:unpublish: block`.

The known operators leave the resource in Pangolin when its object goes, so the host would stay
public. `blockAccess` is the only field of the object with which they close a host. So pic sets it,
and deletes the object only after the operator has processed that.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from pic.cluster.listing import StatusError, Transport
from pic.core.json_values import Raw, integer, mapping, text
from pic.core.model import FIELD_MANAGER

# An operator takes less than a second for each object, one after the other.
LONGEST_SECONDS = 60.0
PAUSE_SECONDS = 0.5
_BLOCK = {"spec": {"httpConfig": {"blockAccess": True}}}
_WAY_OUT = "pic:unpublish off deletes it without"

RunInThread = Callable[[Callable[[], Raw | None]], Awaitable[Raw | None]]


@dataclass(frozen=True, slots=True)
class Unpublisher:
    """Blocks one host.

    Attributes:
        path: The path of its object on the API server.
        name: Namespace and name of the object, for messages.
        run_in_thread: Runs a request without blocking the event loop.
        seconds: How long to wait for the operator.
    """

    transport: Transport
    path: str
    name: str
    run_in_thread: RunInThread
    seconds: float = LONGEST_SECONDS

    async def block(self, live: Raw) -> None:
        """Block the host of an object, and wait until the operator has processed that.

        Raises:
            RuntimeError: The CRD cannot express it, or the operator does not do it in time.
        """
        # Nothing can be changed any more about an object that is going.
        if mapping(live.get("metadata"), "metadata").get("deletionTimestamp"):
            return
        current: Raw | None = live
        if not _asks_for_block(live):
            current = await self.run_in_thread(partial(self._request, "PATCH"))
            if current and not _asks_for_block(current):
                raise RuntimeError(
                    f"PangolinResource {self.name} is not deleted: the installed CRD has no"
                    f" blockAccess, so its host cannot be blocked first; {_WAY_OUT}"
                )
        await self._wait(current)

    async def _wait(self, current: Raw | None) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + self.seconds
        # Not `asyncio.wait_for`: each request has a time limit of its own, and an inner limit of
        # Python 3.11 that ends in the same moment swallows the outer one. Then this never ended.
        while current and not _is_blocked(current):
            if loop.time() >= end:
                raise RuntimeError(
                    f"PangolinResource {self.name} is not deleted: blockAccess is set, but the"
                    f" operator has not confirmed it within {self.seconds:g} s, so the host may"
                    " still be public: check that the operator runs, then run pic again;"
                    f" {_WAY_OUT}"
                )
            await asyncio.sleep(PAUSE_SECONDS)
            current = await self.run_in_thread(partial(self._request, "GET"))

    def _request(self, method: str) -> Raw | None:
        """Return the object after a request; None if it does not exist any more."""
        try:
            if method == "GET":
                return mapping(self.transport.get(self.path), "PangolinResource")
            path = f"{self.path}?fieldManager={FIELD_MANAGER}"
            return mapping(self.transport.request(method, path, _BLOCK), "PangolinResource")
        except StatusError as error:
            if error.status == 404:
                return None
            raise


def _asks_for_block(live: Raw) -> bool:
    http = mapping(mapping(live.get("spec"), "spec").get("httpConfig"), "httpConfig")
    return http.get("blockAccess") is True


def _is_blocked(live: Raw) -> bool:
    """Say whether the operator has processed the spec that asks for the block."""
    status = mapping(live.get("status"), "status")
    generation = integer(mapping(live.get("metadata"), "metadata").get("generation")) or 0
    observed = integer(status.get("observedGeneration"))
    processed = text(status.get("status")) == "Ready" and (observed or 0) >= generation
    # The operator may lose this field again, so that its absence says nothing.
    return processed and status.get("blockAccessEnabled") is not False
