"""Runs the whole demo as `make demo` does, and interrupts it."""

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
    """Return the command lines that name a folder."""
    command_lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command_line = path.read_text()
        except OSError:  # it has ended
            continue
        if str(tmp_path) in command_line:
            command_lines.append(command_line)
    return command_lines


def test_the_demo_proves_its_claims_and_leaves_nothing(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        printed, errors = process.communicate(timeout=180)

    assert process.returncode == 0, printed + errors
    assert [line for line in printed.splitlines() if line.startswith("✓")] == [
        "✓ no host is exposed yet",
        "✓ every public host has exactly one PangolinResource",
        "✓ a preview changes nothing",
        "✓ only these two hosts have changed",
        "✓ nothing has changed: every host is still exposed",
        "✓ these seven hosts are removed, and no others",
    ]
    assert (list(tmp_path.iterdir()), processes(tmp_path)) == ([], [])


def test_an_interrupted_demo_leaves_nothing(tmp_path: Path) -> None:
    with demo(tmp_path) as process:
        assert process.stdout
        command = "$ pulumi up --yes --skip-preview\n"
        assert any(line == command for line in process.stdout), "it prints the pulumi command"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors.splitlines()[-1]) == (
        130,
        "demo: interrupted; everything that it started is removed",
    )
    until(lambda: not processes(tmp_path), "every process of the demo has ended")
    assert list(tmp_path.iterdir()) == []
