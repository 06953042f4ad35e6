"""Keeps the seats of the sessions, and the rate limit of logins."""

import base64
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

VALIDITY = 1800  # seconds
ATTEMPTS = 3  # password checks in one second of the wall clock
SID_BYTES = 16

Time = Callable[[], float]


@dataclass
class Session:
    """One session.

    Attributes:
        sid: The id that a client sends.
        csrf: The token that a client sends in addition to a cookie.
        kind: "admin", "app" or "cli".
        user_agent: The user agent of the client.
        login_at: The time of the login, in seconds since 1970.
        last_active: The time of the last request.
    """

    sid: str
    csrf: str
    kind: str
    user_agent: str
    login_at: float
    last_active: float

    @property
    def valid_until(self) -> float:
        """The time at which the session ends without another request."""
        return self.last_active + VALIDITY


class Limiter:
    """Counts the password checks in each second of the wall clock."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._second: int | None = None
        self._count = 0
        self._lock = Lock()

    def admits(self) -> bool:
        """Count one check and return whether it is allowed."""
        with self._lock:
            now = int(self._time())
            if now != self._second:
                self._second, self._count = now, 0
            self._count += 1
            return self._count <= ATTEMPTS

    def refund(self) -> None:
        """Undo one count, because the password was correct."""
        with self._lock:
            self._count -= 1


class Sessions:
    """The seats. An expired session works until another login takes its seat."""

    def __init__(self, seats: int, time: Time) -> None:
        self._seats: list[Session | None] = [None] * seats
        self._time = time
        self._lock = Lock()

    def begin(self, kind: str, user_agent: str) -> Session | None:
        """Take the first free seat; return None if all are in use."""
        with self._lock:
            now = self._time()
            for seat, holder in enumerate(self._seats):
                if holder is None or holder.valid_until < now:
                    session = Session(_random(), _random(), kind, user_agent, now, now)
                    self._seats[seat] = session
                    return session
        return None

    def find(self, sid: str) -> Session | None:
        """Return the session with this id and restart its time; None if the id is unknown."""
        with self._lock:
            for session in self._seats:
                if session is not None and session.sid == sid:
                    session.last_active = self._time()
                    return session
        return None

    def end(self, seat: int) -> bool:
        """Free a seat by its number; return False if it is free already."""
        with self._lock:
            if not 0 <= seat < len(self._seats) or self._seats[seat] is None:
                return False
            self._seats[seat] = None
            return True

    def seat_of(self, session: Session) -> int:
        """Return the number of a session's seat."""
        with self._lock:
            return self._seats.index(session)

    def clear(self) -> None:
        """End all sessions."""
        with self._lock:
            self._seats = [None] * len(self._seats)

    def current(self) -> list[tuple[int, Session]]:
        """Return the sessions that have not expired, with the numbers of their seats."""
        with self._lock:
            now = self._time()
            return [
                (seat, session)
                for seat, session in enumerate(self._seats)
                if session is not None and session.valid_until >= now
            ]


def _random() -> str:
    return base64.b64encode(secrets.token_bytes(SID_BYTES)).decode()
