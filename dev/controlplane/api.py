"""Sends the few requests that the control plane itself makes to its API server."""

import json
import ssl
from typing import Any

from urllib3 import HTTPSConnectionPool
from urllib3.exceptions import HTTPError

from dev.controlplane.errors import ControlPlaneError

JSON, APPLY = "application/json", "application/apply-patch+yaml"
SECONDS, CONNECTIONS = 10, 4


class RefusedError(ControlPlaneError):
    """Says that the API server answered with an error status."""

    def __init__(self, status: int, answer: str) -> None:
        super().__init__(f"the API server answered {status}: {answer.strip()}")
        self.status = status


class Api:
    """Talks to one API server as its admin; ignores proxy settings, as the server is local.

    It keeps its connections: a TLS handshake costs both sides more than a small request, and tests
    ask often while they wait. The pool drops a connection that the server has closed.
    """

    def __init__(self, port: int, token: str, authority: str) -> None:
        self._headers = {"Authorization": f"Bearer {token}", "Accept": JSON}
        self._pool = HTTPSConnectionPool(
            *("127.0.0.1", port, SECONDS, CONNECTIONS),
            retries=False,
            ssl_context=ssl.create_default_context(cadata=authority),
        )

    def request(
        self, method: str, path: str, body: object = None, content: str = JSON
    ) -> dict[str, Any]:
        """Send an object or YAML text as the body, and return the object in the answer."""
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        status, received = self._send(method, path, text, content)
        if status >= 400:
            raise RefusedError(status, received)
        answer: dict[str, Any] = json.loads(received)
        return answer

    def is_ready(self) -> bool:
        """Say whether the server reports that it is ready."""
        try:
            return self._send("GET", "/readyz", None, JSON)[0] == 200
        except ControlPlaneError:
            return False

    def has(self, path: str) -> bool:
        """Say whether an object exists."""
        try:
            self.request("GET", path)
        except RefusedError as error:
            if error.status == 404:
                return False
            raise
        return True

    def _send(self, method: str, path: str, body: str | None, content: str) -> tuple[int, str]:
        headers = {**self._headers, "Content-Type": content}
        try:
            answer = self._pool.request(method, path, body, headers=headers)
        except HTTPError as error:
            raise ControlPlaneError(f"{method} {path}: {error!r}") from error
        return answer.status, answer.data.decode()
