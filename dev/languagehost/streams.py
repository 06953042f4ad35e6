"""Merges the two output streams of a child, in the order in which the data arrives."""

import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from typing import IO

_CHUNK = 1 << 16
_Chunk = tuple[str, bytes]


def chunks(child: subprocess.Popen[bytes]) -> Iterator[_Chunk]:
    """Yield ("stdout" or "stderr", bytes) until both streams have ended."""
    received: queue.SimpleQueue[_Chunk] = queue.SimpleQueue()
    streams = {"stdout": child.stdout, "stderr": child.stderr}
    open_ = {name for name, stream in streams.items() if stream}
    for name, stream in streams.items():
        if stream:
            threading.Thread(target=_read, args=(name, stream, received), daemon=True).start()
    while open_:
        name, chunk = received.get()
        if chunk:
            yield name, chunk
        else:
            open_.discard(name)


def _read(name: str, stream: IO[bytes], received: "queue.SimpleQueue[_Chunk]") -> None:
    with stream:
        while chunk := os.read(stream.fileno(), _CHUNK):
            received.put((name, chunk))
    received.put((name, b""))
