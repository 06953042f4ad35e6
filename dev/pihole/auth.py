"""Answers `/api/auth`: logins, logouts, and the session that a request belongs to."""

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any, Literal

from dev.pihole.messages import Answer, Refusal, Request, error
from dev.pihole.pace import Pace
from dev.pihole.sessions import VALIDITY, Limiter, Session, Sessions

Logins = Literal["accepted", "wrong-password", "rate-limited", "no-seats"]

UNAUTHORIZED = error(401, "unauthorized", "Unauthorized")
RATE_LIMITED = error(429, "rate_limiting", "Rate-limiting login attempts")
NO_SEATS = error(
    429, "api_seats_exceeded", "API seats exceeded", "increase webserver.api.max_sessions"
)


@dataclass
class Secrets:
    """The secrets of Pi-hole; an empty one is not set.

    Attributes:
        password: The password of the web interface.
        app_password: The password for programs.
        cli_password: The password of the command line.
        totp: The token of the second factor.
    """

    password: str = ""
    app_password: str = ""
    cli_password: str = ""
    totp: str = ""


class Auth:
    """Logs in and out, and finds the session of a request.

    Attributes:
        logins: "accepted", or the way in which every login fails.
    """

    def __init__(
        self, secrets: Secrets, sessions: Sessions, pace: Pace, time: Callable[[], float]
    ) -> None:
        self.secrets = secrets
        self.sessions = sessions
        self.logins: Logins = "accepted"
        self._pace = pace
        self._time = time
        self._limiter = Limiter(time)

    def answer(self, request: Request) -> Answer:
        """Answer `/api/auth`."""
        match request.method:
            case "POST":
                return self._login(request)
            case "GET":
                return self._state(request)
            case _:
                return self._logout(request)

    def session_of(self, request: Request) -> Session | None:
        """Return the session of a request; None if Pi-hole has no password.

        Raises:
            Refusal: The request has no session id, or an unknown one.
        """
        if not self.secrets.password:
            return None
        session = self._find(request)
        if isinstance(session, str):
            raise Refusal(UNAUTHORIZED)
        return session

    def answer_sessions(self, request: Request) -> Answer:
        """Answer `/api/auth/sessions` and `/api/auth/session/ID`."""
        current = self.session_of(request)
        if request.method == "GET":
            seats = self.sessions.current()
            return Answer(200, {"sessions": [_row(*seat, current) for seat in seats]})
        number = request.segments[-1]
        ended = number.isdigit() and self.sessions.end(int(number))
        return Answer(204) if ended else error(400, "bad_request", "Session ID not in use")

    def _login(self, request: Request) -> Answer:
        if not self.secrets.password:
            return _open("password incorrect" if request.body else "no password set")
        payload = request.json
        password = payload.get("password") if isinstance(payload, dict) else None
        if password is None:
            return error(400, "bad_request", "No password found in JSON payload")
        if not isinstance(password, str):
            return error(400, "bad_request", "Field password has to be of type 'string'")
        if self.logins != "accepted":
            return self._refused()
        kind = self._kind(password, request)
        if kind == "admin":
            self._check_totp(payload)
        session = self.sessions.begin(kind, request.headers.get("User-Agent", ""))
        if session is None:
            return NO_SEATS
        prefix = "app-" if kind == "app" else ""
        return self._welcome(session, f"{prefix}password correct")

    def _refused(self) -> Answer:
        refusals = {"rate-limited": RATE_LIMITED, "no-seats": NO_SEATS}
        return refusals.get(self.logins, self._unknown("password incorrect"))

    def _kind(self, password: str, request: Request) -> str:
        """Return the kind of the password.

        The check of an app password is a second one, so it counts twice for the rate limit.
        """
        if _equal(password, self.secrets.cli_password):
            return "cli"
        is_admin = self._check(password, self.secrets.password, request)
        if is_admin is None:
            raise Refusal(RATE_LIMITED)
        if is_admin:
            return "admin"
        if self.secrets.app_password and self._check(password, self.secrets.app_password, request):
            return "app"
        raise Refusal(self._unknown("password incorrect"))

    def _check(self, password: str, wanted: str, request: Request) -> bool | None:
        """Return whether a password is correct; None if the rate limit prevents the check."""
        if not password:
            return False
        if not self._limiter.admits():
            request.pause(self._pace.refusal)
            return None
        request.pause(self._pace.password)
        correct = _equal(password, wanted)
        if correct:
            self._limiter.refund()
        return correct

    def _check_totp(self, payload: object) -> None:
        if not self.secrets.totp:
            return
        token = payload.get("totp") if isinstance(payload, dict) else None
        if token is None:
            raise Refusal(error(400, "bad_request", "No 2FA token found in JSON payload"))
        if str(token) != self.secrets.totp:
            raise Refusal(error(401, "unauthorized", "Invalid 2FA token"))

    def _state(self, request: Request) -> Answer:
        if not self.secrets.password:
            return _open("no password set")
        session = self._find(request)
        if isinstance(session, str):
            return self._unknown(session)
        return self._welcome(session, "correct password")

    def cookie_of(self, request: Request) -> dict[str, str]:
        """Return the header that an answer to an authenticated request has."""
        session = self._find(request) if self.secrets.password else ""
        return {} if isinstance(session, str) else _cookie(session)

    def _logout(self, request: Request) -> Answer:
        if not self.secrets.password:
            open_session = _session(valid=True, totp=False, message="no password set")
            return Answer(401, open_session)
        session = self._find(request)
        if isinstance(session, str):
            return self._unknown(session)
        self.sessions.end(self.sessions.seat_of(session))
        return Answer(204)

    def _find(self, request: Request) -> Session | str:
        """Return the session of a request, or the problem with its session id."""
        sid, csrf = _sid(request)
        if sid is None:
            return "no SID provided"
        session = self.sessions.find(sid)
        if session is None or csrf not in {None, session.csrf}:
            return "session unknown"
        return session

    def _unknown(self, message: str) -> Answer:
        return Answer(401, _session(valid=False, totp=bool(self.secrets.totp), message=message))

    def _welcome(self, session: Session, message: str | None) -> Answer:
        fields = {
            "valid": True,
            "totp": bool(self.secrets.totp),
            "sid": session.sid,
            "csrf": session.csrf,
            "validity": VALIDITY,
            "message": message,
        }
        return Answer(200, {"session": fields}, _cookie(session))


def _cookie(session: Session) -> dict[str, str]:
    cookie = f"sid={session.sid}; SameSite=Lax; Path=/; Max-Age={VALIDITY}; HttpOnly"
    return {"Set-Cookie": cookie}


def _sid(request: Request) -> tuple[str | None, str | None]:
    """Return the session id of a request and its CSRF token; a token of None is not needed.

    The first id counts, in the order body, headers, cookie, query.
    """
    for sid in (_body_sid(request), request.headers.get("X-FTL-SID"), request.headers.get("sid")):
        # An empty header is a session id too, which Pi-hole does not know.
        if sid is not None:
            return sid, None
    cookie = SimpleCookie(request.headers.get("Cookie", "")).get("sid")
    if cookie is not None:
        return cookie.value, request.headers.get("X-CSRF-TOKEN", "")
    return request.query("sid"), None


def _body_sid(request: Request) -> str | None:
    try:
        payload = request.json
    except Refusal:
        return None
    sid = payload.get("sid") if isinstance(payload, dict) else None
    return sid if isinstance(sid, str) else None


def _session(*, valid: bool, totp: bool, message: str) -> dict[str, Any]:
    fields = {"valid": valid, "totp": totp, "sid": None, "validity": -1, "message": message}
    return {"session": fields}


def _open(message: str) -> Answer:
    return Answer(200, _session(valid=True, totp=False, message=message))


def _equal(password: str, wanted: str) -> bool:
    return bool(wanted) and hmac.compare_digest(password.encode(), wanted.encode())


def _row(seat: int, session: Session, current: Session | None) -> dict[str, Any]:
    return {
        "id": seat,
        "current_session": session is current,
        "valid": True,
        "login_at": int(session.login_at),
        "last_active": int(session.last_active),
        "valid_until": int(session.valid_until),
        "remote_addr": "127.0.0.1",
        "user_agent": session.user_agent,
        "app": session.kind == "app",
        "cli": session.kind == "cli",
    }
