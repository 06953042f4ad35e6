"""The whole demo of the Pi-hole target, as `make demo-pihole` runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dev.pihole import dnsmasq
from dev.workspace import ROOT


@pytest.mark.skipif(dnsmasq() is None, reason="no dnsmasq: `make servers` gets it")
def test_the_demo_shows_what_it_says_and_leaves_nothing(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    done = subprocess.run(
        [sys.executable, "-m", "dev.demo_pihole"],
        cwd=ROOT,
        env={**environment, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    checks = [line for line in done.stdout.splitlines() if line.startswith("✓")]
    assert [re.sub(r"[0-9,]{2,} questions", "… questions", check) for check in checks] == [
        "✓ nothing is registered yet",
        "✓ every host resolves",
        "✓ an Ingress may name its own address",
        "✓ one of them is exposed through Pangolin too",
        "✓ its Ingress is told",
        "✓ nas.lan has another address by hand: that stays, and the Ingress is told",
        "✓ printer.lan is as it is asked for, by hand: it is left alone, and never deleted",
        "✓ both lines are as they were, byte for byte",
        "✓ every host has moved",
        "✓ of … questions none went without an answer",
        "✓ refused: every record is still there",
        "✓ records are known by their marker: all are found again, and nothing is written",
        "✓ Pangolin goes on, and the exit code tells",
        "✓ once Pi-hole is back, all is well",
        "✓ what was made by hand is what is left",
        "✓ never two requests at once, no session left",
    ]
    left = [path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")]
    assert left == []
