"""Names what the tests of the verbs that deploy find in their project."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from pic.engine.engine import Engine
from pic.engine.outcome import Outcome
from tests.support.deployed import urn
from tests.support.fakes import HOST

OLD = "old.example.com"
NAME = "pic-prod-web-7144d925"
CREATED = f"+ {HOST} (prod/{NAME}) is created, access: public\n"
CREATING = Outcome({"create": [urn(HOST)]})

Capture: TypeAlias = pytest.CaptureFixture[str]
UseEngine: TypeAlias = Callable[[Engine], None]
