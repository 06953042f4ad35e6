"""Opens and closes one session of Pi-hole's API, version 6.

Pi-hole allows 16 sessions at once. A session that does not log out stays in use for half an hour,
so pic logs out even after an error.
"""

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Self

from pic.core.errors import FailureClass, PiholeError
from pic.core.json_values import Raw, text
from pic.pihole import answers
from pic.pihole.http import Client, Response

ATTEMPTS = 3
# Seconds. Pi-hole counts the logins within each second of its clock, so a longer pause is enough.
PAUSE = 1.1

_NOT_V6 = (
    "{} answers, but not as a Pi-hole of version 6 does ({}). pic:piholeApi v6 needs Pi-hole v6.0.3"
    " or newer; version 5 and older have another interface"
)


class Session:
    """Sends requests with a session id, and logs in again if Pi-hole has forgotten the session."""

    def __init__(
        self, client: Client, password: str, sleep: Callable[[float], None], pause: float = PAUSE
    ) -> None:
        self._client = client
        self._password = password
        self._sleep = sleep
        self._pause = pause
        # None before the login. It stays None if Pi-hole has no password: then it has no sessions.
        self._sid: str | None = None

    def __enter__(self) -> Self:
        """Log in.

        Raises:
            PiholeError: Pi-hole does not answer, or refuses the login.
        """
        self._log_in()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Log out; ignore a failure, because the work is already done."""
        with contextlib.suppress(PiholeError):
            if self._sid is not None:
                self._send("DELETE", "/api/auth")
        self._sid = None

    def request(self, method: str, path: str, body: Raw | None = None) -> Response:
        """Send a request and return its answer, whatever its status.

        Raises:
            PiholeError: Pi-hole does not answer, or refuses a new login.
        """
        answer = self._send(method, path, body)
        if answer.status == 401:
            self._log_in()
            answer = self._send(method, path, body)
        return answer

    def get(self, path: str, action: str) -> Raw:
        """Return the JSON object at a path.

        Args:
            path: The path below the URL.
            action: What pic does, for the error message.

        Raises:
            PiholeError: Pi-hole did not return the object.
        """
        answer = self.request("GET", path)
        if answer.status != 200:
            raise answers.refusal(answer, action)
        return answer.data

    def _send(self, method: str, path: str, body: Raw | None = None) -> Response:
        if not self._client.settled:
            # Pi-hole may still work on a request that got no answer, and two at once can crash it.
            self._sleep(self._pause)
        headers = {} if self._sid is None else {"X-FTL-SID": self._sid}
        return self._client.send(method, path, body, headers)

    def _log_in(self) -> None:
        self._sid = None
        answer = self._try_login()
        session = answer.data.get("session")
        if answer.status != 200 or not isinstance(session, dict) or not session.get("valid"):
            raise self._refusal(answer)
        sid = session.get("sid")
        self._sid = None if sid is None else _header_value(text(sid))

    def _try_login(self) -> Response:
        """Send the password, and again after a pause if the rate limit may have refused it.

        Over the limit, Pi-hole answers a correct app password as if it were wrong. So this also
        tries once more after a 401.
        """
        answer = self._send("POST", "/api/auth", {"password": self._password})
        for attempt in range(1, ATTEMPTS):
            limited = answers.error_key(answer) == "rate_limiting"
            if not limited and not (answer.status == 401 and attempt == 1):
                break
            self._sleep(self._pause)
            answer = self._send("POST", "/api/auth", {"password": self._password})
        return answer

    def _refusal(self, answer: Response) -> PiholeError:
        if "2FA" in answers.error_message(answer):
            return PiholeError(answers.SECOND_FACTOR, kind=FailureClass.AUTH)
        if answer.status in (401, 403, 429) or answer.status >= 500:
            return answers.refusal(answer, "logging in")
        reason = answers.error_message(answer) or answer.text or "no message"
        message = _NOT_V6.format(self._client.url, f"{answer.status}: {reason}")
        return PiholeError(message, kind=FailureClass.INVALID)


def _header_value(sid: str) -> str:
    # A line break in a header would start another header.
    if not sid.isascii() or not sid.isprintable():
        raise PiholeError("Pi-hole returned a session id that an HTTP header cannot hold")
    return sid
