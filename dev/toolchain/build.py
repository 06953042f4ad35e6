"""Build a part from its Go module into the shared cache, once, whole or not at all."""

from pathlib import Path

from dev.toolchain import commands, golang
from dev.toolchain.errors import ToolchainError
from dev.toolchain.lock import one_at_a_time
from dev.toolchain.parts import Part
from dev.toolchain.progress import Progress
from dev.toolchain.surroundings import Surroundings

_MEGA, _GIGA = 10**6, 10**9
NEEDED_BYTES = 6 * _GIGA  # one part from empty caches: up to 4.5 of build cache, then its modules


def cached(around: Surroundings, part: Part) -> Path | None:
    """Find the binary of a part that an earlier build left, for exactly these sources.

    Raises:
        ToolchainError: when there is no Go to name the build by.
    """
    place = _place(around, part, golang.find(around, part))
    return place if place.exists() else None


def ensure(around: Surroundings, part: Part) -> Path:
    """Give the binary of a part; build it when the cache does not have it.

    Raises:
        ToolchainError: when Go is missing or too old, the disk too full, or the build fails.
    """
    go = golang.find(around, part)
    place = _place(around, part, go)
    if place.exists():
        return place
    _check_disk(around, go)
    with one_at_a_time(place.parent, part.binary, around.echo):
        if not place.exists():
            _build(around, part, go, place)
    return place


def _place(around: Surroundings, part: Part, go: golang.Go) -> Path:
    return around.cache / f"{part.module}-{go.key(part, around.modules)}" / part.binary


def _check_disk(around: Surroundings, go: golang.Go) -> None:
    for directory in (around.cache, *go.caches):
        if (free := around.free(directory)) < NEEDED_BYTES:
            raise ToolchainError(
                f"{free / _GIGA:.1f} GB free at {directory}, "
                f"a build needs {NEEDED_BYTES / _GIGA:.0f}: "
                "make room, or point PIC_CACHE, GOCACHE and GOMODCACHE to a larger disk"
            )


def _build(around: Surroundings, part: Part, go: golang.Go, place: Path) -> None:
    for stale in place.parent.glob(".half-*"):  # the lock is ours: nobody writes to it any more
        stale.unlink()
    half = place.with_name(f".half-{part.binary}")
    around.echo(f"{part.binary}: building with {go.version} (minutes when its caches are empty)")
    progress = Progress(f"{part.binary}: building", around.echo, around.line_every)
    try:
        ended = commands.run(
            [go.command, "build", *part.flags, "-o", half, part.package],
            env={**around.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
            cwd=part.directory(around.modules),
            progress=progress,
        )
        if ended.code:
            raise ToolchainError(f"{part.binary}: go build failed\n{ended.tail}")
        half.replace(place)
    finally:
        half.unlink(missing_ok=True)
    size = place.stat().st_size / _MEGA
    around.echo(f"{part.binary}: built in {progress.seconds:.0f} s, {size:.0f} MB")
