"""Registers many resources at the pace the engine takes them."""

import asyncio
from collections.abc import Callable, Iterable

import pulumi

# More than this at once does not make the engine any faster, and every one takes memory.
OUTSTANDING = 64


async def register(declarations: Iterable[Callable[[], pulumi.Resource]]) -> None:
    """Declare resources, a bounded number at once, and wait until the engine has all of them.

    The SDK sends its debug messages to the engine one blocking call each, four for every resource;
    here they are dropped, unless the engine's debug log is asked for.
    """
    spoken, pulumi.log.debug = pulumi.log.debug, _silent
    room = asyncio.Semaphore(OUTSTANDING)
    try:
        async with asyncio.TaskGroup() as tasks:
            for declare in declarations:
                await room.acquire()
                tasks.create_task(_registered(declare(), room))
    finally:
        pulumi.log.debug = spoken


async def _registered(resource: pulumi.Resource, room: asyncio.Semaphore) -> None:
    try:
        await resource.urn.future()
    finally:
        room.release()


def _silent(*_: object, **__: object) -> None:
    """Say nothing."""
