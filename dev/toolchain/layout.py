"""Lays out built parts as the engine expects them: a directory for PATH, and PULUMI_HOME."""

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from dev.toolchain.context import Context
from dev.toolchain.model import Engine, plugin_binary

_HOST = Path("dev", "languagehost", "__main__.py")


def lay_out(context: Context, cli: Path, plugin: Path) -> Engine:
    """Return an engine made of a built CLI, a built plugin and the language host of this checkout.

    All checkouts share one PULUMI_HOME. Each has its own directory for PATH, because its language
    host runs the code and the interpreter of one checkout.
    """
    home = context.cache / f"home-{plugin.parent.name.rpartition('-')[2]}"
    bin_ = context.checkout / ".toolchain" / "bin"
    link_or_copy(plugin, plugin_binary(home))
    without_logs(home)
    # Not a symlink: the engine looks for language hosts in the directory that its own path
    # resolves to, and warns in every run about a host that is only on PATH.
    link_or_copy(cli, bin_ / "pulumi")
    write_host(context, bin_ / "pulumi-language-python")
    return Engine(bin_, home)


def without_logs(home: Path) -> None:
    """Keep the CLI from writing a debug log of each run, which costs a tenth of its time."""
    logs = home / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    # The CLI has no setting for this. If it cannot create the folder, it runs without a log.
    logs.touch()


def write_host(context: Context, script: Path) -> None:
    """Write the executable that starts the language host with this checkout's interpreter."""
    python = shlex.quote(context.python)
    program = shlex.quote(str(context.checkout / _HOST))
    choice = f": ${{PIC_LANGUAGE_HOST_PYTHON:={python}}}"
    start = f'exec "$PIC_LANGUAGE_HOST_PYTHON" -P {program} --parent "$PPID" "$@"'
    text = f"#!/bin/sh\n{choice}\n{start}\n"
    if script.exists() and script.read_text() == text:
        return
    with _half(script) as half:
        half.write_text(text)
        half.chmod(0o755)


def link_or_copy(source: Path, target: Path) -> None:
    """Put a file at a second path atomically: as a hard link, or as a copy on another disk."""
    if _is_same(source, target):
        return
    with _half(target) as half:
        try:
            half.hardlink_to(source)
        except OSError:  # another disk, or one without hard links
            shutil.copy2(source, half)


@contextlib.contextmanager
def _half(target: Path) -> Iterator[Path]:
    """Yield a path to write to; it replaces the target if the block succeeds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f".half-{target.name}-{os.getpid()}")
    try:
        yield half
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)


def _is_same(source: Path, target: Path) -> bool:
    if not target.exists():
        return False
    one, other = source.stat(), target.stat()
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
