"""Provides what the tests of the verbs that deploy share: a project, a cluster and an engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api import Api
from tests.support.deploying import UseEngine
from tests.support.fakes import project, use_engine


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def api(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """Work in a project, with this cluster."""
    with project(root, monkeypatch) as server:
        yield server


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> UseEngine:
    """Return a function that gives the verbs an engine."""
    return lambda engine: use_engine(monkeypatch, engine)
