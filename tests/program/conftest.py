"""One API server for each test."""

from collections.abc import Iterator

import pytest

from tests.program.api import Api, serving


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as made:
        yield made
