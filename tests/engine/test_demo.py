"""The whole demo, as `make demo` runs it, and what is left when it is stopped."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.waiting import until

ROOT = Path(__file__).parents[2]


@contextmanager
def demo(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    process = subprocess.Popen(
        [sys.executable, "-m", "dev.demo"],
        cwd=ROOT,
        env={**environment, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def processes(tmp_path: Path) -> list[str]:
    """The command lines of what works below a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text()
        except OSError:  # it has ended
            continue
        if str(tmp_path) in words:
            found.append(words)
    return found


def test_the_demo_shows_what_it_says_and_leaves_nothing(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        printed, errors = process.communicate(timeout=180)

    assert process.returncode == 0, printed + errors
    assert [line for line in printed.splitlines() if line.startswith("✓")] == [
        "✓ no host is exposed yet",
        "✓ every public host has one PangolinResource",
        "✓ a preview changes nothing",
        "✓ just these two hosts have changed",
        "✓ nothing has changed: every host is still there",
        "✓ these seven hosts are gone, and no other",
    ]
    assert (list(tmp_path.iterdir()), processes(tmp_path)) == ([], [])


def test_a_stopped_demo_leaves_nothing(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        assert process.stdout
        until_line = "$ pulumi up --yes --skip-preview\n"
        assert any(line == until_line for line in process.stdout), "it runs pulumi"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors.splitlines()[-1]) == (
        130,
        "demo: stopped; nothing is left behind",
    )
    until(lambda: not processes(tmp_path), "nothing runs any more")
    assert list(tmp_path.iterdir()) == []
