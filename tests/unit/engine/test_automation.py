"""Tests which failures of the program's server are logged, and what the supervisor gets."""

import logging
import sys
from collections.abc import Mapping
from pathlib import Path

import grpc
import pytest

from dev.controlplane.ports import ReservedPort
from pic.engine.automation import Automation, _is_real_failure
from tests.support.fake_cli import CliAnswer, FakeCli


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


@pytest.mark.parametrize(
    ("record", "variables"),
    [(None, {}), (Path("/pic-0/runs/a.json"), {"PIC_RUN_RECORD": "/pic-0/runs/a.json"})],
)
def test_the_supervisor_gets_the_record_of_the_run(
    tmp_path: Path, record: Path | None, variables: Mapping[str, str]
) -> None:
    cli = FakeCli(CliAnswer(code=1))
    automation = Automation(tmp_path, "prod", {}, cli, record)

    with pytest.raises(RuntimeError):
        automation.run("preview", program=lambda: None)

    own = {key: value for key, value in cli.environment.items() if key == "PIC_RUN_RECORD"}
    assert own == variables
