"""Lay built parts out the way the engine expects them: the directory for PATH, and PULUMI_HOME."""

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from dev.toolchain.model import Engine, plugin_binary
from dev.toolchain.surroundings import Surroundings

_HOST = Path("dev", "languagehost", "__main__.py")


def lay_out(around: Surroundings, cli: Path, plugin: Path) -> Engine:
    """Give an engine made of a built CLI, a built plugin and the language host of this checkout.

    The home is shared, since it says nothing about a checkout; the directory for PATH is not,
    since its language host runs the code and the interpreter of one checkout.
    """
    home = around.cache / f"home-{plugin.parent.name.rpartition('-')[2]}"
    bin_ = around.checkout / ".toolchain" / "bin"
    link_or_copy(plugin, plugin_binary(home))
    without_logs(home)
    # A real file and no symlink: the engine looks for language hosts beside what its own path
    # resolves to, and warns in every run about one that is only on PATH.
    link_or_copy(cli, bin_ / "pulumi")
    write_host(around, bin_ / "pulumi-language-python")
    return Engine(bin_, home)


def without_logs(home: Path) -> None:
    """Keep the CLI from writing a debug log of each run, a tenth of its work, into a cache."""
    logs = home / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    # There is no setting for it; where it cannot make the folder it goes on without.
    logs.touch()


def write_host(around: Surroundings, script: Path) -> None:
    """Write the executable that starts the language host with this checkout's interpreter."""
    python = shlex.quote(around.python)
    program = shlex.quote(str(around.checkout / _HOST))
    choice = f": ${{PIC_LANGUAGE_HOST_PYTHON:={python}}}"
    start = f'exec "$PIC_LANGUAGE_HOST_PYTHON" -P {program} --parent "$PPID" "$@"'
    text = f"#!/bin/sh\n{choice}\n{start}\n"
    if script.exists() and script.read_text() == text:
        return
    with _half(script) as half:
        half.write_text(text)
        half.chmod(0o755)


def link_or_copy(source: Path, target: Path) -> None:
    """Make a file appear, whole, at a second path: a hard link, or a copy on another disk."""
    if _same(source, target):
        return
    with _half(target) as half:
        try:
            half.hardlink_to(source)
        except OSError:  # another disk, or one without hard links
            shutil.copy2(source, half)


@contextlib.contextmanager
def _half(target: Path) -> Iterator[Path]:
    """Give a path to write to, that takes the target's place when the block ends well."""
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f".half-{target.name}-{os.getpid()}")
    try:
        yield half
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)


def _same(source: Path, target: Path) -> bool:
    if not target.exists():
        return False
    one, other = source.stat(), target.stat()
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
