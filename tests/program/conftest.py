"""Provides an API server for each test, and runs the program against it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from pic.engine import program
from tests.support import engine
from tests.support.api import Api, serving
from tests.support.engine import ProgramRun
from tests.support.programs import BOUND, RunProgram, StateEngine


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as api:
        yield api


@pytest.fixture
def state_engine() -> StateEngine:
    """Provide the engine that the program asks for the state of its stack."""
    return StateEngine()


@pytest.fixture
def run(api: Api, state_engine: StateEngine, tmp_path: Path) -> RunProgram:
    """Run the program against the API server, with a stack that belongs to it."""
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    def run(
        config: Mapping[str, str] = {},
        *,
        preview: bool = False,
        **variables: str,
    ) -> ProgramRun:
        return engine.run(
            lambda: program.run({**environment, **variables}, lambda *_: state_engine),
            {**BOUND, **config},
            preview=preview,
        )

    return run
