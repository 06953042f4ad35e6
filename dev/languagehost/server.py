"""Serves one language host until the engine ends or a signal arrives."""

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

_CALLS_AT_ONCE = 64  # a provider in Python occupies one call for as long as it runs
_POLL_SECONDS = 1.0  # detects the end of the engine where the kernel sends no signal
_MESSAGE_BYTES = 400 << 20  # the limit of the engine and the SDK
_OPTIONS = (
    ("grpc.max_receive_message_length", _MESSAGE_BYTES),
    ("grpc.max_send_message_length", _MESSAGE_BYTES),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until SIGINT, SIGTERM or the end of the engine; print the port first."""
    parser = argparse.ArgumentParser(prog="pulumi-language-python", description=__doc__)
    parser.add_argument("engine", nargs="?", default="", help="address of the engine, HOST:PORT")
    parser.add_argument("--parent", type=int, default=os.getppid(), help="process id of the engine")
    # The engine may pass flags that only its own language hosts know.
    options, _ = parser.parse_known_args(arguments)
    _serve(options.engine, EndOfHost(options.parent))


class EndOfHost:
    """Waits for what ends a host: a signal, or the end of the engine.

    Create it before the host serves, so that no early signal is lost.
    """

    def __init__(self, parent: int) -> None:
        self._parent = parent
        # Signals arrive through a pipe: one that comes just before a wait for a lock would not end
        # that wait. The end of an engine with many threads sends many signals, so do not block.
        self._signals, write_end = os.pipe()
        os.set_blocking(write_end, False)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        die_with_parent(parent, signal.SIGHUP)

    def wait(self) -> None:
        """Return when SIGINT or SIGTERM arrives, or when the engine has ended."""
        while os.getppid() == self._parent:
            ready, _, _ = select.select([self._signals], [], [], _POLL_SECONDS)
            # The kernel sends SIGHUP when the *thread* that started this process ends, even if the
            # engine still runs.
            if ready and set(os.read(self._signals, 64)) - {signal.SIGHUP}:
                return


def _serve(engine: str, end: EndOfHost) -> None:
    children = Children()
    server = grpc.server(ThreadPoolExecutor(_CALLS_AT_ONCE), options=_OPTIONS)
    add_LanguageRuntimeServicer_to_server(LanguageHost(engine, children), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    end.wait()
    children.close()
    server.stop(grace=None).wait()
