"""Tests what a plain `pulumi up` records, so that a later run knows whether its lock is dead."""

import os
from pathlib import Path

from pic.core import private_folder
from pic.engine.backend import processes
from tests.support.api import Api, fill_cluster, ingress
from tests.support.programs import RunProgram


def test_a_program_without_a_cli_above_it_records_nothing(
    api: Api, run: RunProgram, tmp_path: Path
) -> None:
    fill_cluster(api, [ingress("web", "a.example.com")])
    assert processes.cli_above(os.getppid()) == 0

    assert run(PIC_RUNTIME_DIR=str(tmp_path)).error is None

    assert not private_folder.path({"PIC_RUNTIME_DIR": str(tmp_path)}).exists()


def test_a_backend_that_cannot_be_read_stops_no_program(api: Api, run: RunProgram) -> None:
    fill_cluster(api, [ingress("web", "a.example.com")])

    registered = run(PULUMI_BACKEND_URL="s3://[secret")

    assert (registered.error, registered.log) == (
        None,
        [
            (
                "INFO",
                "if this run is killed, its lock stays: the URL of the backend cannot be read",
            )
        ],
    )
