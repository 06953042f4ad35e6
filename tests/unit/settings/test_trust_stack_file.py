"""A stack file that does not parse is reported by problem, line and column, never by its text."""

from pathlib import Path

import pytest

from pic.core.errors import SettingsError
from pic.settings.stack_file import StackFile
from tests.support.planted import MISPLACED, leaks


def test_14_a_stack_file_that_does_not_parse_is_not_quoted(tmp_path: Path) -> None:
    file = StackFile(tmp_path, "prod")
    file.path.parent.mkdir()
    file.path.write_text(f"config:\n  other:password: {MISPLACED}: x\n")

    with pytest.raises(SettingsError) as raised:
        file.settings()

    assert str(raised.value) == (
        "stacks/Pulumi.prod.yaml cannot be read: line 2, column 26: mapping values are not allowed"
        " here"
    )
    assert leaks(repr(raised.value.__cause__)) == []
