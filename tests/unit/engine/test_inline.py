"""Tests the program that runs inside this process."""

import subprocess
import sys
from pathlib import Path

import pytest

from pic.core.errors import EngineError, RefusedError
from pic.engine.hooks import Hooks
from pic.engine.inline import Program
from tests.support.fakes import FakeEngine


def test_the_error_of_the_program_replaces_the_error_of_the_engine(
    tmp_path: Path,
) -> None:
    def refuse(_: Hooks) -> None:
        raise RefusedError("no")

    engine = FakeEngine(tmp_path, {})

    with pytest.raises(RefusedError, match=r"^no$"):
        Program(refuse).run(engine.up)

    def broken(_: Hooks) -> None:
        raise KeyError

    with pytest.raises(EngineError, match=r"^the program failed$"):
        Program(broken).run(engine.up)


def test_only_a_pass_of_the_engine_imports_pulumi() -> None:
    code = (
        "import sys; from pic.cli import main; from pic.engine import driver, engine;"
        " print('pulumi' in sys.modules)"
    )

    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert process.stdout == "False\n"


def test_the_command_line_starts_without_any_client() -> None:
    code = (
        "import sys; from pic.cli import main;"
        " print({'pulumi', 'kubernetes', 'urllib3', 'pic.cluster.listing'} & set(sys.modules))"
    )

    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert process.stdout == "set()\n"
