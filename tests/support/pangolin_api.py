"""Asks a simulated Pangolin as any client could, and collects what its proxy served."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from dev.pangolin_api import Moment, Pangolin

HOST = "app.example.com"


@dataclass(frozen=True)
class Caller:
    """Sends requests below `/v1`, each on its own connection.

    Attributes:
        key: The key to send; None sends the one of the server, and an empty one none.
    """

    server: Pangolin
    key: str | None = None

    def full(self, method: str, path: str, body: object = None) -> tuple[int, str, Any]:
        """Return the status, the media type and the body, decoded if it is JSON."""
        host = urlsplit(self.server.url).netloc
        key = self.server.key if self.key is None else self.key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with closing(HTTPConnection(host, timeout=20)) as connection:
            content = None if body is None else json.dumps(body)
            connection.request(method, f"/v1{path}", content, headers)
            response = connection.getresponse()
            kind = (response.getheader("Content-Type") or "").partition(";")[0]
            data = response.read()
        return response.status, kind, json.loads(data) if "json" in kind else data.decode()

    def __call__(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Return the status and the data, or the message of an error."""
        status, kind, answer = self.full(method, path, body)
        if "json" not in kind:
            return status, answer
        return status, answer["message"] if status >= 400 else answer["data"]

    def create(self, subdomain: str | None = "app", **fields: object) -> int:
        """Create a resource and return its id."""
        body = {"name": "app", "http": True, "protocol": "tcp", "subdomain": subdomain}
        body["domainId"] = self.server.domain_id
        status, data = self("PUT", "/org/home/resource", {**body, **fields})
        assert status == 201, data
        return int(data["resourceId"])

    def target(self, resource: int, **fields: object) -> int:
        """Create a target and return its id."""
        body = {"siteId": self.server.site_id, "ip": "10.0.0.1", "port": 80, "method": "http"}
        status, data = self("PUT", f"/resource/{resource}/target", {**body, **fields})
        assert status == 201, data
        return int(data["targetId"])


@dataclass
class Witness:
    """Watches the routes after every request, and notes each moment that breaks a rule.

    Attributes:
        closed: The hosts, with the path to ask for, that must never be open.
        reachable: Those that must never be without a route.
        history: How far a visitor got at each host, without repetitions.
    """

    closed: Mapping[str, str] = field(default_factory=dict)
    reachable: Mapping[str, str] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    history: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, moment: Moment) -> None:
        for host, path in self.closed.items():
            self._note(moment, host, path)
            if moment.reach(host, path) == "open":
                self.violations.append(f"{host}{path} is open after {moment.after}")
        for host, path in self.reachable.items():
            self._note(moment, host, path)
            if moment.reach(host, path) in {"nothing", "blocked", "denied"}:
                self.violations.append(f"{host}{path} is not reachable after {moment.after}")

    def _note(self, moment: Moment, host: str, path: str) -> None:
        entry = (f"{host}{path}", moment.reach(host, path))
        earlier = [note for note in self.history if note[0] == entry[0]]
        if not earlier or earlier[-1] != entry:
            self.history.append(entry)
