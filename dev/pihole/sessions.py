"""Who may do what: passwords, how often they may be tried, and the seats of the sessions."""

import base64
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

VALIDITY = 1800  # seconds
ATTEMPTS = 3  # checks of passwords in one second of the wall clock
SID_BYTES = 16

Time = Callable[[], float]


@dataclass
class Session:
    """One session.

    Attributes:
        sid: What a client shows.
        csrf: What it shows beside a cookie.
        kind: "admin", "app" or "cli".
        user_agent: The client's name for itself.
        login_at: When it began, in seconds since 1970.
        last_active: When it was used last.
    """

    sid: str
    csrf: str
    kind: str
    user_agent: str
    login_at: float
    last_active: float

    @property
    def valid_until(self) -> float:
        """When it ends if it is not used before."""
        return self.last_active + VALIDITY


class Limiter:
    """Counts the checks of passwords in a second of the wall clock."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._second: int | None = None
        self._count = 0
        self._lock = Lock()

    def admits(self) -> bool:
        """Count one check, and say whether it may go on."""
        with self._lock:
            now = int(self._time())
            if now != self._second:
                self._second, self._count = now, 0
            self._count += 1
            return self._count <= ATTEMPTS

    def refund(self) -> None:
        """Take one back: the password was right."""
        with self._lock:
            self._count -= 1


class Sessions:
    """The seats. A session that has run out works until somebody else takes its seat."""

    def __init__(self, seats: int, time: Time) -> None:
        self._seats: list[Session | None] = [None] * seats
        self._time = time
        self._lock = Lock()

    def begin(self, kind: str, user_agent: str) -> Session | None:
        """Take the first free seat; None if there is none."""
        with self._lock:
            now = self._time()
            for seat, taken in enumerate(self._seats):
                if taken is None or taken.valid_until < now:
                    made = Session(_random(), _random(), kind, user_agent, now, now)
                    self._seats[seat] = made
                    return made
        return None

    def find(self, sid: str) -> Session | None:
        """The session of this id, whose time begins anew."""
        with self._lock:
            for session in self._seats:
                if session is not None and session.sid == sid:
                    session.last_active = self._time()
                    return session
        return None

    def end(self, seat: int) -> bool:
        """Free a seat by its number; False if nobody sits there."""
        with self._lock:
            if not 0 <= seat < len(self._seats) or self._seats[seat] is None:
                return False
            self._seats[seat] = None
            return True

    def seat_of(self, session: Session) -> int:
        """The number of a session's seat."""
        with self._lock:
            return self._seats.index(session)

    def clear(self) -> None:
        """End them all."""
        with self._lock:
            self._seats = [None] * len(self._seats)

    def current(self) -> list[tuple[int, Session]]:
        """Those whose time has not run out, with the numbers of their seats."""
        with self._lock:
            now = self._time()
            return [
                (seat, session)
                for seat, session in enumerate(self._seats)
                if session is not None and session.valid_until >= now
            ]


def _random() -> str:
    return base64.b64encode(secrets.token_bytes(SID_BYTES)).decode()
