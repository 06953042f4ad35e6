"""What is printed of a program whose engine goes away, and what is not."""

import logging
import sys

import grpc
import pytest

from dev.controlplane.ports import ReservedPort
from pic.engine.automation import _is_news


def record() -> logging.LogRecord:
    """What gRPC logs where the handler of a call raises, or another time."""
    return logging.LogRecord("grpc._server", logging.ERROR, "", 0, "no", (), sys.exc_info())


def called(port: int) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        channel.unary_unary("/pulumirpc.Engine/Log")(b"", timeout=10)


def test_that_the_engine_is_gone_is_no_news() -> None:
    port = ReservedPort()
    try:
        called(port.number)
    except grpc.RpcError:
        assert not _is_news(record())
    else:
        pytest.fail("somebody answers")
    finally:
        port.release()


@pytest.mark.parametrize("error", [ValueError("a bug"), grpc.RpcError("not a call")])
def test_every_other_failure_is_printed(error: Exception) -> None:
    try:
        raise error
    except type(error):
        assert _is_news(record())


def test_so_is_what_is_no_failure() -> None:
    assert _is_news(record())
