"""Serve one language host until the engine, or a signal, ends it."""

import argparse
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime.proto.language_pb2_grpc import add_LanguageRuntimeServicer_to_server

from dev.toolchain.languagehost.child import die_with_parent
from dev.toolchain.languagehost.children import Children
from dev.toolchain.languagehost.servicer import LanguageHost

_CALLS_AT_ONCE = 64  # each provider in Python holds one for as long as it runs
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
    _serve(known.engine, _stopped_by_signals(known.parent))


def _stopped_by_signals(parent: int) -> threading.Event:
    stop = threading.Event()

    def stop_when_orphaned(*_: object) -> None:
        # The kernel tells of the end of the *thread* that started this process, which need not
        # be the end of the engine.
        if os.getppid() != parent:
            stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    signal.signal(signal.SIGHUP, stop_when_orphaned)
    die_with_parent(parent, signal.SIGHUP)
    return stop


def _serve(engine: str, stop: threading.Event) -> None:
    children = Children()
    server = grpc.server(ThreadPoolExecutor(_CALLS_AT_ONCE), options=_OPTIONS)
    add_LanguageRuntimeServicer_to_server(LanguageHost(engine, children), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    stop.wait()
    children.close()
    server.stop(grace=None).wait()
