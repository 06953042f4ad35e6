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
    assert [re.sub(r"[0-9,]{2,} queries", "… queries", check) for check in checks] == [
        "✓ no host is registered yet",
        "✓ every host resolves",
        "✓ an Ingress may set its own address",
        "✓ Pangolin exposes one of them too",
        "✓ an annotation of the Ingress names its host",
        "✓ a manual record of nas.lan has another address: it stays, and pic warns",
        "✓ a manual record of printer.lan has the wanted address: pic never deletes it",
        "✓ both lines are unchanged, byte for byte",
        "✓ every host has the new address",
        "✓ all of … queries got an answer",
        "✓ pic holds them: every record still exists",
        "✓ pic recognises its records by their marker: it imports all and writes nothing",
        "✓ Pangolin is up to date, and the exit code reports the failure",
        "✓ the next run creates the record",
        "✓ only the manual records are left",
        "✓ requests never overlapped, and no session is left",
    ]
    left = [path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")]
    assert left == []
