"""Provides an API server for each test, and runs the program against it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from pic.core.errors import EngineError
from pic.engine import program
from pic.engine.backend.state import Remembered, StackState
from tests.support import engine
from tests.support.api import CLUSTER, Api, serving
from tests.support.engine import Seen


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as api:
        yield api


class Memory:
    """Stands in for the engine, which reports the state of the stack."""

    def __init__(self) -> None:
        self.keys: list[tuple[str, str]] = []
        self.error = ""
        self.exists = True

    def existing_state(self) -> StackState | None:
        if self.error:
            raise EngineError(self.error)
        if not self.exists:
            return None
        return StackState(
            {name: Remembered("", (namespace, name), {}) for namespace, name in self.keys}
        )


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Keep the program from starting a real engine."""
    memory = Memory()
    monkeypatch.setattr(program, "Engine", lambda *_: memory)
    return memory


@pytest.fixture
def run(api: Api, tmp_path: Path) -> Callable[..., Seen]:
    """Run the program against the API server, with a stack that belongs to it."""
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    def run(
        config: Mapping[str, str] = {},
        *,
        preview: bool = False,
        **variables: str,
    ) -> Seen:
        return engine.run(
            lambda: program.run({**environment, **variables}),
            {"pic:clusterId": CLUSTER, **config},
            preview=preview,
        )

    return run
