"""The kubeconfig of one run of the engine: private, and gone with the run."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pic.engine import private_kubeconfig

HOLDER = """
import sys, time
from pathlib import Path
from pic.engine import private_kubeconfig
with private_kubeconfig.written("text", Path(sys.argv[1])) as path:
    print(path, flush=True)
    time.sleep(60)
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    with private_kubeconfig.written("text", tmp_path) as path:
        assert (path.read_text(), mode(path), mode(path.parent)) == ("text", 0o600, 0o700)
        assert path.parent.parent == tmp_path

    assert list(tmp_path.iterdir()) == []


def test_it_goes_with_a_run_that_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), private_kubeconfig.written("text", tmp_path):
        raise KeyboardInterrupt

    assert list(tmp_path.iterdir()) == []


def test_the_next_run_removes_what_a_killed_run_left(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        left = Path(process.stdout.readline().strip())
        private_kubeconfig.remove_abandoned(tmp_path)
        assert left.read_text() == "text", "the run lives"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left.exists()

    private_kubeconfig.remove_abandoned(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_what_is_no_folder_of_a_run_stays(tmp_path: Path) -> None:
    name, elsewhere = f"pic-kubeconfig-{os.getuid()}-x", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / name).symlink_to(elsewhere)
    (tmp_path / f"{name}y").write_text("")
    (tmp_path / "pic-kubeconfig-another").mkdir()
    before = sorted(tmp_path.iterdir())

    private_kubeconfig.remove_abandoned(tmp_path)

    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_another_run_took_for_abandoned_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = private_kubeconfig._lock  # noqa: SLF001 - the moment before it
    folders: list[Path] = []

    def lock_late(number: int) -> bool:
        # The first folder goes before its run has locked it.
        if not folders:
            folders.extend(tmp_path.iterdir())
            folders[0].rmdir()
        return lock(number)

    monkeypatch.setattr(private_kubeconfig, "_lock", lock_late)

    with private_kubeconfig.written("text", tmp_path) as path:
        assert path.parent not in folders
