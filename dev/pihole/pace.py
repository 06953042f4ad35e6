"""How long Pi-hole takes, and the time it goes by."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """Seconds that Pi-hole takes.

    Attributes:
        put: For a PUT or DELETE, whatever the number of lines.
        put_line: On top of it for each line there is.
        patch: For a PATCH that changes something.
        patch_line: On top of it for each line there is.
        reused: On top of a write on a connection that has carried a request before.
        password: For one check of a password.
        refusal: Before a login is refused for coming too fast.
    """

    put: float = 0.002  # long enough for requests in parallel to meet
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
    """A time that moves only when told, to call instead of `time.time`."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now

    def __call__(self) -> float:
        """Seconds since 1970."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds
