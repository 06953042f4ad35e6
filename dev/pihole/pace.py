"""Defines how long Pi-hole takes for requests, and a clock for tests."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """The durations of Pi-hole, in seconds.

    Attributes:
        put: For a PUT or DELETE.
        put_line: In addition, for each line of the list.
        patch: For a PATCH that changes something.
        patch_line: In addition, for each line of the list.
        reused: In addition, for a write on a connection that carried an earlier request.
        password: For one check of a password.
        refusal: Before the rate limit refuses a login.
    """

    put: float = 0.002  # long enough for parallel requests to overlap
    put_line: float = 0.0
    patch: float = 0.002
    patch_line: float = 0.0
    reused: float = 0.0
    password: float = 0.0
    refusal: float = 0.0


QUICK = Pace()
MEASURED = Pace(
    put=0.010,
    put_line=0.000_022,
    patch=0.004,
    patch_line=0.000_025,
    reused=0.040,
    password=0.050,
    refusal=0.250,
)


class Clock:
    """A replacement for `time.time` that only `advance` moves."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now

    def __call__(self) -> float:
        """Return the seconds since 1970."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the time forward."""
        self._now += seconds
