"""One session of Pi-hole's API, version 6: logged in at its start, logged out at its end.

A seat that is not given back is lost for half an hour, and there are 16 of them.
"""

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Self

from pic.core.errors import FailureClass, PiholeError
from pic.core.json_values import Raw, text
from pic.pihole import answers
from pic.pihole.http import Client, Response

TRIES = 3
PAUSE = 1.1  # seconds; the limit of logins is one of each second of the clock

_NONE_LIKE_IT = (
    "{} answers, but not as a Pi-hole of version 6 does ({}). pic:piholeApi v6 needs Pi-hole v6.0.3"
    " or newer; version 5 and older have another interface"
)


class Session:
    """Sends requests with the id of a session, which it renews once where Pi-hole forgot it."""

    def __init__(
        self, client: Client, password: str, sleep: Callable[[float], None], pause: float = PAUSE
    ) -> None:
        self._client = client
        self._password = password
        self._sleep = sleep
        self._pause = pause
        # None before a login, and where Pi-hole has no password and so no sessions.
        self._sid: str | None = None

    def __enter__(self) -> Self:
        """Log in.

        Raises:
            PiholeError: Pi-hole does not let us in.
        """
        self._log_in()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Log out; that it fails is of no use to anybody."""
        with contextlib.suppress(PiholeError):
            if self._sid is not None:
                self._send("DELETE", "/api/auth")
        self._sid = None

    def ask(self, method: str, path: str, body: Raw | None = None) -> Response:
        """Send a request and return its answer, whatever the status.

        Raises:
            PiholeError: There was no answer, or Pi-hole does not let us in any more.
        """
        answer = self._send(method, path, body)
        if answer.status == 401:
            self._log_in()
            answer = self._send(method, path, body)
        return answer

    def get(self, path: str, doing: str) -> Raw:
        """Return the JSON object at a path.

        Raises:
            PiholeError: It could not be read; `doing` says what for.
        """
        answer = self.ask("GET", path)
        if answer.status != 200:
            raise answers.refusal(answer, doing)
        return answer.data

    def _send(self, method: str, path: str, body: Raw | None = None) -> Response:
        if not self._client.settled:
            # A request that was cut short, as by a signal, must not meet the next one.
            self._sleep(self._pause)
        headers = {} if self._sid is None else {"X-FTL-SID": self._sid}
        return self._client.send(method, path, body, headers)

    def _log_in(self) -> None:
        self._sid = None
        answer = self._tried()
        session = answer.data.get("session")
        if answer.status != 200 or not isinstance(session, dict) or not session.get("valid"):
            raise self._refused(answer)
        sid = session.get("sid")
        self._sid = None if sid is None else _header(text(sid))

    def _tried(self) -> Response:
        """Try again, slowly, what is or may be the work of the limit of logins.

        It answers a right app password as if it was wrong, so even that is tried a second time.
        """
        answer = self._send("POST", "/api/auth", {"password": self._password})
        for again in range(1, TRIES):
            limited = answers.error_key(answer) == "rate_limiting"
            if not limited and not (answer.status == 401 and again == 1):
                break
            self._sleep(self._pause)
            answer = self._send("POST", "/api/auth", {"password": self._password})
        return answer

    def _refused(self, answer: Response) -> PiholeError:
        if "2FA" in answers.error_message(answer):
            return PiholeError(answers.SECOND_FACTOR, kind=FailureClass.AUTH)
        if answer.status in (401, 403, 429) or answer.status >= 500:
            return answers.refusal(answer, "logging in")
        said = answers.error_message(answer) or answer.text or "no word of it"
        told = _NONE_LIKE_IT.format(self._client.url, f"{answer.status}: {said}")
        return PiholeError(told, kind=FailureClass.INVALID)


def _header(sid: str) -> str:
    if not sid.isascii() or not sid.isprintable():
        raise PiholeError("Pi-hole gave a session id that no header can hold")
    return sid
