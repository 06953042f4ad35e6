"""Gives memory back to the system that is only needed now and then."""

import contextlib
import ctypes
import gc


def trim() -> None:
    """Collect what is not used, and give back what the allocator holds for later."""
    gc.collect()
    # Not every C library has it.
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def freeze() -> None:
    """Take what is there for everlasting, so that no collection goes through it again."""
    gc.collect()
    gc.freeze()
