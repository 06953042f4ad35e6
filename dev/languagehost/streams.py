"""Merge what a child prints on its two streams, in the order in which it arrives."""

import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from typing import IO

_CHUNK = 1 << 16
_Chunk = tuple[str, bytes]


def chunks(child: subprocess.Popen[bytes]) -> Iterator[_Chunk]:
    """Give ("stdout" or "stderr", bytes) until both streams have ended."""
    arrived: queue.SimpleQueue[_Chunk] = queue.SimpleQueue()
    streams = {"stdout": child.stdout, "stderr": child.stderr}
    open_ = {name for name, stream in streams.items() if stream}
    for name, stream in streams.items():
        if stream:
            threading.Thread(target=_read, args=(name, stream, arrived), daemon=True).start()
    while open_:
        name, chunk = arrived.get()
        if chunk:
            yield name, chunk
        else:
            open_.discard(name)


def _read(name: str, stream: IO[bytes], arrived: "queue.SimpleQueue[_Chunk]") -> None:
    with stream:
        while chunk := os.read(stream.fileno(), _CHUNK):
            arrived.put((name, chunk))
    arrived.put((name, b""))
