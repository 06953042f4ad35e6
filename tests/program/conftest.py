"""One API server for each test, and the program run against it."""

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
    with serving() as made:
        yield made


class Memory:
    """What the engine knows of the stack."""

    def __init__(self) -> None:
        self.keys: list[tuple[str, str]] = []
        self.error = ""
        self.there = True

    def remembered(self) -> StackState | None:
        if self.error:
            raise EngineError(self.error)
        if not self.there:
            return None
        return StackState({name: Remembered("", (place, name), {}) for place, name in self.keys})


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Let nobody ask an engine."""
    made = Memory()
    monkeypatch.setattr(program, "Engine", lambda *_: made)
    return made


@pytest.fixture
def run(api: Api, tmp_path: Path) -> Callable[..., Seen]:
    """Run the program against the API server, with a stack that belongs to it."""
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}

    def run(
        config: Mapping[str, str] = {},
        *,
        preview: bool = False,
        **more: str,
    ) -> Seen:
        return engine.run(
            lambda: program.run({**environment, **more}),
            {"pic:clusterId": CLUSTER, **config},
            preview=preview,
        )

    return run
