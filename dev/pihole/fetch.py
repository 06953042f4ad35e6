"""Unpacks Debian's dnsmasq with its libraries, without an installation."""

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dev.controlplane.echo import echo
from dev.pihole.dns import UNPACKED, dnsmasq

PACKAGE = "dnsmasq-base"
SECONDS = 120.0
_ONLY_NEEDED = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")


def fetch() -> None:
    """Fetch dnsmasq if it is missing, or print why that failed."""
    if dnsmasq() is None:
        try:
            _fetch()
        except (OSError, subprocess.SubprocessError) as error:
            echo(f"servers: no dnsmasq, so tests that ask DNS are skipped: {_reason(error)}")


def libraries(listing: str) -> list[str]:
    """Return the libraries in the output of `apt-cache depends --recurse`, without the C library.

    An unindented line is a package; a virtual package is in angle brackets.
    """
    names = {line for line in listing.splitlines() if line.startswith("lib")}
    return sorted(name for name in names if name != "libc6")


def _fetch() -> None:
    echo(f"servers: unpacking {PACKAGE} into {UNPACKED.parent}")
    with tempfile.TemporaryDirectory(prefix="pic-dnsmasq-") as folder:
        work = Path(folder)
        packages = libraries(_run(_depends(PACKAGE), work))
        _run(["apt-get", "download", "-qq", PACKAGE, *packages], work)
        for archive in sorted(work.glob("*.deb")):
            _run(["dpkg", "-x", str(archive), str(work / "root")], work)
        _write_program(work / "root")
        _run([str(work / "root" / UNPACKED.name), "--version"], work)
        UNPACKED.parent.parent.mkdir(exist_ok=True)
        shutil.rmtree(UNPACKED.parent, ignore_errors=True)
        shutil.move(work / "root", UNPACKED.parent)


def _depends(package: str) -> list[str]:
    return [
        "apt-cache",
        "depends",
        "--recurse",
        *(f"--no-{kind}" for kind in _ONLY_NEEDED),
        package,
    ]


def _write_program(root: Path) -> None:
    """Write a script that starts dnsmasq with its unpacked libraries, wherever the folder is."""
    folders = sorted({path.parent.relative_to(root) for path in root.rglob("lib*.so*")})
    search_path = ":".join(f'"$here"/{shlex.quote(str(folder))}' for folder in folders)
    script = root / UNPACKED.name
    script.write_text(
        "#!/bin/sh\n"
        'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)\n'
        f"export LD_LIBRARY_PATH={search_path}\n"
        'exec "$here"/usr/sbin/dnsmasq "$@"\n'
    )
    script.chmod(0o755)


def _run(command: Sequence[str], folder: Path) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=folder, timeout=SECONDS
    ).stdout


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = str(error.stderr).strip().splitlines()
        return f"{error.cmd[0]}: {lines[-1] if lines else f'exit code {error.returncode}'}"
    return str(error)
