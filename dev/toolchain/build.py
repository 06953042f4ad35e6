"""Builds a part from its Go module into the shared cache, once and atomically."""

from pathlib import Path

from dev.toolchain import commands, golang
from dev.toolchain.context import Context
from dev.toolchain.errors import ToolchainError
from dev.toolchain.lock import one_at_a_time
from dev.toolchain.parts import Part
from dev.toolchain.progress import Progress

_MEGA, _GIGA = 10**6, 10**9
NEEDED_BYTES = 6 * _GIGA  # with empty caches: up to 4.5 GB of build cache, plus the modules


def cached(context: Context, part: Part) -> Path | None:
    """Return the binary that an earlier build made from exactly these sources, if any.

    Raises:
        ToolchainError: Go is missing or too old; its version is part of the name of the build.
    """
    target = _target(context, part, golang.find(context, part))
    return target if target.exists() else None


def ensure(context: Context, part: Part) -> Path:
    """Return the binary of a part; build it if the cache does not have it.

    Raises:
        ToolchainError: Go is missing or too old, the disk is too full, or the build fails.
    """
    go = golang.find(context, part)
    target = _target(context, part, go)
    if target.exists():
        return target
    _check_disk(context, go)
    with one_at_a_time(target.parent, part.binary, context.echo):
        if not target.exists():
            _build(context, part, go, target)
    return target


def _target(context: Context, part: Part, go: golang.Go) -> Path:
    return context.cache / f"{part.module}-{go.key(part, context.modules)}" / part.binary


def _check_disk(context: Context, go: golang.Go) -> None:
    for directory in (context.cache, *go.caches):
        if (free := context.free(directory)) < NEEDED_BYTES:
            raise ToolchainError(
                f"only {free / _GIGA:.1f} GB are free at {directory}, "
                f"but a build needs {NEEDED_BYTES / _GIGA:.0f} GB: "
                "free some space, or point PIC_CACHE, GOCACHE and GOMODCACHE to a larger disk"
            )


def _build(context: Context, part: Part, go: golang.Go, target: Path) -> None:
    for stale in target.parent.glob(".half-*"):  # we hold the lock, so no process writes to it
        stale.unlink()
    half = target.with_name(f".half-{part.binary}")
    slow = "this takes minutes if the Go caches are empty"
    context.echo(f"{part.binary}: building with {go.version} ({slow})")
    progress = Progress(f"{part.binary}: building", context.echo, context.line_every)
    try:
        result = commands.run(
            [go.command, "build", *part.flags, "-o", half, part.package],
            env={**context.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
            cwd=part.directory(context.modules),
            progress=progress,
        )
        if result.code:
            raise ToolchainError(f"{part.binary}: go build failed\n{result.tail}")
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)
    size = target.stat().st_size / _MEGA
    context.echo(f"{part.binary}: built in {progress.seconds:.0f} s, {size:.0f} MB")
