"""`make pihole`, and the download of its dnsmasq."""

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from dev.pihole.fetch import libraries
from dev.workspace import ROOT
from tests.support.waiting import is_gone

LISTING = """dnsmasq-base
  Depends: passwd
  Depends: <libvirtual>
passwd
libgmp10
  Depends: libc6
libc6
<libvirtual>
    libreal
libnettle8:amd64
"""


def test_all_libraries_except_the_c_library_are_needed() -> None:
    assert libraries(LISTING) == ["libgmp10", "libnettle8:amd64"]


@pytest.mark.usefixtures("needs_dnsmasq")
def test_the_program_prints_its_url_and_ends_at_a_signal() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "dev.pihole", "1.2.3.4 a.lan"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PIHOLE_PASSWORD": "given"},
    ) as program:
        assert program.stdout
        assert program.stderr
        printed = _variables([program.stdout.readline() for _ in range(2)])
        message = program.stderr.readline()
        program.terminate()
        rest = program.communicate()

    url = printed["PIHOLE_URL"]
    assert (printed, program.returncode, rest) == (
        {"PIHOLE_URL": url, "PIHOLE_PASSWORD": "given"},
        0,
        ("", ""),
    )
    assert message.startswith(f"{url} serves until Ctrl-C; DNS on port ")
    assert is_gone(program.pid)


def _variables(lines: list[str]) -> Mapping[str, str]:
    pairs = (line.removeprefix("export ").strip().partition("=") for line in lines)
    return {name: value for name, _, value in pairs}
