"""Answers the interface `/admin/api/dns/local` with a bearer token.

No released Pi-hole has this interface. It stores its records as lines of `dns.hosts` too.
"""

import hmac
import ipaddress
from collections.abc import Sequence
from typing import Literal

from dev.pihole import hosts
from dev.pihole.config import Config
from dev.pihole.messages import Answer, Json, Refusal, Request
from dev.pihole.pace import Pace

OnDuplicate = Literal["replace", "add", "refuse"]


class DnsLocal:
    """Answers GET, POST and DELETE of single records."""

    def __init__(self, config: Config, token: str, pace: Pace, on_duplicate: OnDuplicate) -> None:
        self._config = config
        self._token = token
        self._pace = pace
        self._on_duplicate = on_duplicate

    def writes(self, request: Request) -> bool:
        """Return whether a request may change records."""
        return request.method in {"POST", "DELETE"}

    def answer(self, request: Request) -> Answer:
        """Answer one request."""
        expected = f"Bearer {self._token}"
        header = request.headers.get("Authorization", "")
        if not hmac.compare_digest(header.encode(), expected.encode()):
            return _error(401, "unauthorized")
        match request.method, request.segments:
            case "GET", ["admin", "api", "dns", "local"]:
                return _plain(200, {"data": [_row(*record) for record in self._records()]})
            case "POST", ["admin", "api", "dns", "local"]:
                return self._post(request)
            case "DELETE", ["admin", "api", "dns", "local", domain]:
                return self._delete(request, domain)
            case _:
                return _error(404, "not found")

    def _records(self) -> list[tuple[str, str]]:
        lines = self._config.lines
        return [(name, line.split()[0]) for line in lines for name in hosts.names(line)]

    def _post(self, request: Request) -> Answer:
        record = _record(request)
        records = self._records()
        has_domain = any(domain == record[0] for domain, _ in records)
        if has_domain and self._on_duplicate == "refuse":
            return _error(400, "the domain exists already")
        if self._on_duplicate != "add":
            records = [(domain, ip) for domain, ip in records if domain != record[0]]
        if record not in records:
            records.append(record)
        self._store(request, records)
        return _plain(201, _row(*record))

    def _delete(self, request: Request, domain: str) -> Answer:
        records = self._records()
        others = [record for record in records if record[0] != domain]
        if others == records:
            return _error(404, "no such domain")
        self._store(request, others)
        return Answer(204)

    def _store(self, request: Request, records: Sequence[tuple[str, str]]) -> None:
        request.pause(self._pace.put + self._pace.put_line * len(records))
        self._config.replace([f"{ip} {domain}" for domain, ip in records])


def _record(request: Request) -> tuple[str, str]:
    try:
        payload = request.json
    except Refusal:
        payload = None
    fields = payload if isinstance(payload, dict) else {}
    domain, ip = fields.get("domain"), fields.get("ip")
    if not isinstance(domain, str) or not isinstance(ip, str) or not _is_address(ip):
        raise Refusal(_error(400, "a domain and an IP address are needed"))
    if hosts.complaint([f"{ip} {domain}"]) is not None or len(domain.split()) != 1:
        raise Refusal(_error(400, "a domain and an IP address are needed"))
    return domain, ip


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _row(domain: str, ip: str) -> dict[str, str]:
    return {"domain": domain, "ip": ip}


def _error(status: int, message: str) -> Answer:
    return _plain(status, {"error": message})


def _plain(status: int, body: Json) -> Answer:
    return Answer(status, body, timed=False)
