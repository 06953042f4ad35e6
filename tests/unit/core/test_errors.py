"""Each expected error has an exit code and a text."""

import pytest

from pic.core.errors import (
    ClusterError,
    EngineError,
    FailedError,
    InterruptedRunError,
    LockedError,
    ManifestError,
    PicError,
    RefusedError,
    SettingsError,
)


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (PicError("odd"), 1, "odd"),
        (SettingsError(["one", "two"]), 2, "one\ntwo"),
        (ManifestError("web.yaml:3", "it is broken"), 2, "web.yaml:3: it is broken"),
        (RefusedError("no", digest="abc"), 3, "no"),
        (LockedError("held"), 4, "held"),
        (ClusterError("away"), 5, "away"),
        (EngineError("away"), 5, "away"),
        (FailedError("wrong"), 6, "wrong"),
        (InterruptedRunError("stopped"), 1, "stopped"),
    ],
)
def test_an_error_has_its_exit_code_and_text(error: PicError, code: int, text: str) -> None:
    assert (error.exit_code, str(error)) == (code, text)


def test_a_settings_error_lists_its_problems() -> None:
    assert SettingsError(["one", "two"]).problems == ("one", "two")


def test_a_refusal_has_no_digest_by_default() -> None:
    assert RefusedError("no").digest == ""
