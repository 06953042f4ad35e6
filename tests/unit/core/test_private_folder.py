"""Tests the folder in which the runs of one user keep their locks and records."""

import os
import tempfile
from pathlib import Path

import pytest

from pic.core import private_folder
from pic.core.errors import SettingsError


def refusal(folder: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        private_folder.prepare(folder)
    return str(caught.value)


def test_the_folder_is_the_same_whatever_session_starts_a_run() -> None:
    uid, temporary = os.getuid(), Path(tempfile.gettempdir())

    assert private_folder.path({"XDG_RUNTIME_DIR": "/run/user/0"}) == temporary / f"pic-{uid}"
    assert private_folder.path({"PIC_RUNTIME_DIR": "/elsewhere"}) == Path(f"/elsewhere/pic-{uid}")


def test_a_new_folder_is_open_to_its_user_only(tmp_path: Path) -> None:
    tmp_path.chmod(0o2777)  # as Kubernetes makes a volume with an fsGroup
    folder = tmp_path / "deep" / "pic-0"
    assert not private_folder.is_private(folder)

    before = os.umask(0)
    try:
        assert private_folder.prepare(private_folder.prepare(folder)) == folder
    finally:
        os.umask(before)

    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_to_which_others_have_access_is_refused(tmp_path: Path) -> None:
    wide, link, file = tmp_path / "wide", tmp_path / "link", tmp_path / "file"
    wide.mkdir()
    wide.chmod(0o750)
    link.symlink_to(private_folder.prepare(tmp_path / "elsewhere"))
    file.touch()
    message = (
        "pic cannot keep its locks in {}: {}. Remove it, or set PIC_RUNTIME_DIR to another folder"
    )
    access = "other users have access to it, or it is no folder"

    assert refusal(wide) == message.format(wide, access)
    assert refusal(link) == message.format(link, access)
    assert refusal(file) == message.format(file, "File exists")
    assert refusal(file / "below") == message.format(file / "below", "Not a directory")


def test_the_folder_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = private_folder.prepare(tmp_path / "pic-0")

    monkeypatch.setattr(os, "getuid", lambda: 4711)

    assert not private_folder.is_private(folder)
