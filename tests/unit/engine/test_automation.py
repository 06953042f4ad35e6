"""Tests which failures of the program's server are logged after the engine has ended."""

import logging
import sys

import grpc
import pytest

from dev.controlplane.ports import ReservedPort
from pic.engine.automation import _is_real_failure


def log_record() -> logging.LogRecord:
    """Return the record that gRPC logs, with the exception that is being handled, if any."""
    return logging.LogRecord("grpc._server", logging.ERROR, "", 0, "no", (), sys.exc_info())


def call_closed_port(port: int) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        channel.unary_unary("/pulumirpc.Engine/Log")(b"", timeout=10)


def test_the_end_of_the_engine_is_not_logged() -> None:
    port = ReservedPort()
    try:
        call_closed_port(port.number)
    except grpc.RpcError:
        assert not _is_real_failure(log_record())
    else:
        pytest.fail("a server answers")
    finally:
        port.release()


@pytest.mark.parametrize("error", [ValueError("a bug"), grpc.RpcError("not a call")])
def test_every_other_failure_is_logged(error: Exception) -> None:
    try:
        raise error
    except type(error):
        assert _is_real_failure(log_record())


def test_a_record_without_an_exception_is_logged() -> None:
    assert _is_real_failure(log_record())
