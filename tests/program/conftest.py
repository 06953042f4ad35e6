"""One API server for each test, and the program run against it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from pic import program
from tests.program import engine
from tests.program.api import CLUSTER, Api, serving
from tests.program.engine import Seen


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as made:
        yield made


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
