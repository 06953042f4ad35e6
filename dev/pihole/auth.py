"""`/api/auth`: logins, and which session a request shows."""

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
    """What a client must know; empty is not set.

    Attributes:
        password: The password of the web interface.
        app_password: The one for programs.
        cli_password: The one of the command line.
        totp: The token of the second factor.
    """

    password: str = ""
    app_password: str = ""
    cli_password: str = ""
    totp: str = ""


class Auth:
    """Logs in and out, and knows who asks.

    Attributes:
        logins: "accepted", or how every login is refused.
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

    def who(self, request: Request) -> Session | None:
        """The session of a request; None where no password is set.

        Raises:
            Refusal: It shows none, or none that is known.
        """
        if not self.secrets.password:
            return None
        session = self._shown(request)
        if isinstance(session, str):
            raise Refusal(UNAUTHORIZED)
        return session

    def answer_sessions(self, request: Request) -> Answer:
        """Answer `/api/auth/sessions` and `/api/auth/session/ID`."""
        asking = self.who(request)
        if request.method == "GET":
            listed = self.sessions.current()
            return Answer(200, {"sessions": [_row(*each, asking) for each in listed]})
        number = request.segments[-1]
        ended = number.isdigit() and self.sessions.end(int(number))
        return Answer(204) if ended else Answer(404, {})

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
        """Which password it is. The one for programs is a second check, and so is limited twice."""
        if _equal(password, self.secrets.cli_password):
            return "cli"
        first = self._check(password, self.secrets.password, request)
        if first is None:
            raise Refusal(RATE_LIMITED)
        if first:
            return "admin"
        if self.secrets.app_password and self._check(password, self.secrets.app_password, request):
            return "app"
        raise Refusal(self._unknown("password incorrect"))

    def _check(self, password: str, wanted: str, request: Request) -> bool | None:
        """Whether a password is right; None where the limiter does not let it be looked at."""
        if not password:
            return False
        if not self._limiter.admits():
            request.pause(self._pace.refusal)
            return None
        request.pause(self._pace.password)
        right = _equal(password, wanted)
        if right:
            self._limiter.refund()
        return right

    def _check_totp(self, payload: object) -> None:
        if not self.secrets.totp:
            return
        shown = payload.get("totp") if isinstance(payload, dict) else None
        if shown is None:
            raise Refusal(error(400, "bad_request", "No 2FA token found in JSON payload"))
        if str(shown) != self.secrets.totp:
            raise Refusal(error(401, "unauthorized", "Invalid 2FA token"))

    def _state(self, request: Request) -> Answer:
        if not self.secrets.password:
            return _open("no password set")
        shown = self._shown(request)
        return self._unknown(shown) if isinstance(shown, str) else self._welcome(shown, None)

    def _logout(self, request: Request) -> Answer:
        shown = self._shown(request)
        if isinstance(shown, str):
            return self._unknown(shown)
        self.sessions.end(self.sessions.seat_of(shown))
        return Answer(204)

    def _shown(self, request: Request) -> Session | str:
        """The session that a request shows, or what is wrong with it."""
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
        shown = {
            "valid": True,
            "totp": bool(self.secrets.totp),
            "sid": session.sid,
            "csrf": session.csrf,
            "validity": VALIDITY,
            "message": message,
        }
        cookie = f"sid={session.sid}; SameSite=Lax; Path=/; Max-Age={VALIDITY}; HttpOnly"
        return Answer(200, {"session": shown}, {"Set-Cookie": cookie})


def _sid(request: Request) -> tuple[str | None, str | None]:
    """The id that a request shows, and the token it must have beside it: None where it needs none.

    The first place that has one counts: the body, a header, the cookie, the query.
    """
    for shown in (_body_sid(request), request.headers.get("X-FTL-SID"), request.headers.get("sid")):
        if shown:
            return shown, None
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
    shown = {"valid": valid, "totp": totp, "sid": None, "validity": -1, "message": message}
    return {"session": shown}


def _open(message: str) -> Answer:
    return Answer(200, _session(valid=True, totp=False, message=message))


def _equal(shown: str, wanted: str) -> bool:
    return bool(wanted) and hmac.compare_digest(shown.encode(), wanted.encode())


def _row(seat: int, session: Session, asking: Session | None) -> dict[str, Any]:
    return {
        "id": seat,
        "current_session": session is asking,
        "valid": True,
        "login_at": int(session.login_at),
        "last_active": int(session.last_active),
        "valid_until": int(session.valid_until),
        "remote_addr": "127.0.0.1",
        "user_agent": session.user_agent,
        "app": session.kind == "app",
        "cli": session.kind == "cli",
    }
