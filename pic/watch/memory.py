"""Returns memory to the system after planning, so that an idle watcher stays small.

docs/performance.md has the figures.
"""

import contextlib
import ctypes
import gc


def trim() -> None:
    """Collect garbage, and make the allocator return its free pages."""
    gc.collect()
    # glibc keeps freed memory for later allocations. malloc_trim returns it to the system. Other C
    # libraries, such as musl, do not have the function.
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def freeze() -> None:
    """Exclude all current objects, such as the loaded modules, from every later collection."""
    # They live as long as the process, and a collection would look at all of them each time.
    gc.collect()
    gc.freeze()
