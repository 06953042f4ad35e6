"""What the tests of the verbs that deploy have in common: a project, a cluster and an engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api import Api
from tests.support.deploying import Use
from tests.support.fakes import project, use_engine


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def api(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """The cluster of a project that the test is in."""
    with project(root, monkeypatch) as made:
        yield made


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Let the verbs work with an engine that is a fake."""
    return lambda engine: use_engine(monkeypatch, engine)
