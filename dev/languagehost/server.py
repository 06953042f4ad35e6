"""Serve one language host until the engine, or a signal, ends it."""

import argparse
import os
import select
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime.proto.language_pb2_grpc import add_LanguageRuntimeServicer_to_server

from dev.languagehost.child import die_with_parent
from dev.languagehost.children import Children
from dev.languagehost.servicer import LanguageHost

_CALLS_AT_ONCE = 64  # each provider in Python holds one for as long as it runs
_PARENT_EVERY = 1.0  # seconds; matters where the kernel does not tell of the engine's end
_MESSAGE_BYTES = 400 << 20  # as the engine and the SDK have it
_OPTIONS = (
    ("grpc.max_receive_message_length", _MESSAGE_BYTES),
    ("grpc.max_send_message_length", _MESSAGE_BYTES),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until SIGINT, SIGTERM or the end of the engine; print the port first."""
    parser = argparse.ArgumentParser(prog="pulumi-language-python", description=__doc__)
    parser.add_argument("engine", nargs="?", default="", help="address of the engine, HOST:PORT")
    parser.add_argument("--parent", type=int, default=os.getppid(), help="process id of the engine")
    known, _ = parser.parse_known_args(arguments)  # the engine may pass flags for its own hosts
    _serve(known.engine, Ending(known.parent))


class Ending:
    """The signals that end a host. Made before the host serves, waited for while it does."""

    def __init__(self, parent: int) -> None:
        self._parent = parent
        # Signals come through a pipe, since one that arrives just before a lock is waited for
        # does not end that wait; and the death of an engine of many threads is many signals.
        self._arrived, written = os.pipe()
        os.set_blocking(written, False)
        signal.set_wakeup_fd(written, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        die_with_parent(parent, signal.SIGHUP)

    def wait(self) -> None:
        """Return when a signal says so, or the engine is gone."""
        while os.getppid() == self._parent:
            ready, _, _ = select.select([self._arrived], [], [], _PARENT_EVERY)
            # The kernel sends SIGHUP at the end of the *thread* that started this process, which
            # need not be the end of the engine.
            if ready and set(os.read(self._arrived, 64)) - {signal.SIGHUP}:
                return


def _serve(engine: str, ending: Ending) -> None:
    children = Children()
    server = grpc.server(ThreadPoolExecutor(_CALLS_AT_ONCE), options=_OPTIONS)
    add_LanguageRuntimeServicer_to_server(LanguageHost(engine, children), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    ending.wait()
    children.close()
    server.stop(grace=None).wait()
