"""Returns memory to the system that planning needs only now and then."""

import contextlib
import ctypes
import gc


def trim() -> None:
    """Collect garbage, and make the allocator return its free pages."""
    gc.collect()
    # Only glibc has malloc_trim: musl does not.
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def freeze() -> None:
    """Exclude all current objects, such as the loaded modules, from every later collection."""
    gc.collect()
    gc.freeze()
