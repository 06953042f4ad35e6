"""Reads what the organisation has, and one resource with all that belongs to it.

A list has two forms of paging. Both fall back to defaults without an error, so a list counts only
when it is as long as its own total, with each id once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import quote

from pic.core.errors import PangolinError
from pic.core.json_values import MalformedError, Raw, integer, mapping, sequence
from pic.pangolin_api import answers, openapi, parse
from pic.pangolin_api.connection import Connection
from pic.pangolin_api.errors import GoneError
from pic.pangolin_api.model import (
    Domain,
    ListedResource,
    Live,
    Role,
    Site,
    User,
    Wanted,
)
from pic.pangolin_api.openapi import Dialect

PAGE = 1000
_ATTEMPTS = 3  # a list whose rows move between pages is read again
Row = TypeVar("Row")


def dialect(connection: Connection) -> Dialect:
    """Ask the server what it can do; it costs no check of the key.

    Raises:
        PangolinError: It is no Pangolin, or too old.
    """
    answer = connection.send("GET", "/openapi.json")
    if answer.status >= 400 or answer.body is None:
        answers.data(answer, "GET /openapi.json", "")
    return openapi.read(answer.body, connection.url)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads one organisation.

    Every method raises `PangolinError` if it cannot return everything.
    """

    connection: Connection
    dialect: Dialect
    org: str

    def request(self, method: str, path: str, action: str, body: Raw | None = None) -> Raw:
        """Send a request and return its data.

        Args:
            method: The HTTP method.
            path: The path below `/v1`.
            action: The action of the key that it wants.
            body: Sent as JSON.
        """
        answer = self.connection.send(method, path, body)
        return answers.data(answer, f"{method} {path}", action)

    def sites(self) -> tuple[Site, ...]:
        """Return every site."""
        return self._pages(f"{self.org_path}/sites", "sites", "listSites", parse.site)

    def domains(self) -> tuple[Domain, ...]:
        """Return every base domain, verified or not."""
        path = f"{self.org_path}/domains"
        return self._offsets(path, "domains", "listOrgDomains", parse.domain)

    def roles(self) -> tuple[Role, ...]:
        """Return every role."""
        return self._offsets(f"{self.org_path}/roles", "roles", "listRoles", parse.role)

    def users(self) -> tuple[User, ...]:
        """Return every user."""
        return self._offsets(f"{self.org_path}/users", "users", "listUsers", parse.user)

    def resources(self, search: str = "") -> tuple[ListedResource, ...]:
        """Return every resource, ours or not, by a request for each 1,000.

        Args:
            search: A part of name, niceId or host that they must have; empty returns all.
        """
        path = f"{self.org_path}/{self.dialect.word}s"
        query = {"query": search} if search else {}
        return self._pages(path, "resources", "listResources", parse.listed, query)

    def at(self, host: str) -> tuple[ListedResource, ...]:
        """Return the resources of the organisation that have a host."""
        return tuple(row for row in self.resources(host) if row.host == host)

    def live(self, resource: int, wanted: Wanted | None = None) -> Live | None:
        """Read a resource with its targets, and with what `wanted` says of rules and access.

        Returns:
            None if Pangolin does not have it.
        """
        path = self.path(resource)
        try:
            live = self._made(self.request("GET", path, "getResource"), parse.live, f"GET {path}")
            targets = self._offsets(f"{path}/targets", "targets", "listTargets", parse.target)
            live = replace(live, targets=targets)
            return live if wanted is None else self._with_access(live, wanted)
        except GoneError:
            return None

    def exists(self, resource: int) -> bool:
        """Say whether Pangolin has a resource, by one request."""
        try:
            self.request("GET", self.path(resource), "getResource")
        except GoneError:
            return False
        return True

    @property
    def org_path(self) -> str:
        """The path of the organisation."""
        return f"/org/{quote(self.org, safe='')}"

    def path(self, resource: int) -> str:
        """Return the path of a resource."""
        return f"/{self.dialect.word}/{resource}"

    def _with_access(self, live: Live, wanted: Wanted) -> Live:
        path = self.path(live.id)
        if wanted.rules is not None:
            rows = self._offsets(f"{path}/rules", "rules", "listResourceRules", parse.rule)
            live = replace(live, rules=rows)
        if wanted.roles is not None:
            roles = self._all(f"{path}/roles", "roles", "listResourceRoles", parse.role)
            ids = frozenset(role.id for role in roles if not role.is_admin)
            live = replace(live, roles=ids)
        if wanted.users is not None:
            users = self._all(f"{path}/users", "users", "listResourceUsers", parse.user)
            live = replace(live, users=frozenset(user.id for user in users))
        if wanted.emails is not None:
            emails = self._all(
                f"{path}/whitelist", "whitelist", "getResourceWhitelist", parse.email
            )
            live = replace(live, emails=frozenset(emails))
        return live

    def _pages(
        self,
        path: str,
        name: str,
        action: str,
        make: Callable[[Raw], Row],
        query: Mapping[str, str] | None = None,
    ) -> tuple[Row, ...]:
        def numbered(page: int, _: int) -> dict[str, str]:
            return {"page": str(page + 1), "pageSize": str(PAGE), **(query or {})}

        return self._whole(path, name, action, make, numbered)

    def _offsets(
        self, path: str, name: str, action: str, make: Callable[[Raw], Row]
    ) -> tuple[Row, ...]:
        def offset(_: int, have: int) -> dict[str, str]:
            return {"limit": str(PAGE), "offset": str(have)}

        return self._whole(path, name, action, make, offset)

    def _whole(
        self,
        path: str,
        name: str,
        action: str,
        make: Callable[[Raw], Row],
        query: Callable[[int, int], dict[str, str]],
    ) -> tuple[Row, ...]:
        for _ in range(_ATTEMPTS):
            rows, total = self._listing(path, name, action, make, query)
            # Rows are sorted by a name that need not be unique, so a row can be on two pages.
            distinct = tuple(dict.fromkeys(map(repr, rows)))
            if len(rows) == len(distinct) == total:
                return rows
        raise PangolinError(
            f"GET {path} returned {len(distinct)} of {total} rows: the list changes while pic reads"
            " it. Run pic again"
        )

    def _listing(
        self,
        path: str,
        name: str,
        action: str,
        make: Callable[[Raw], Row],
        query: Callable[[int, int], dict[str, str]],
    ) -> tuple[tuple[Row, ...], int]:
        rows: list[Row] = []
        page, total = 0, 1
        while len(rows) < total:
            answer = self.connection.send("GET", path, query=query(page, len(rows)))
            data = answers.data(answer, f"GET {path}", action)
            more, total = self._rows(data, name, path, make)
            if not more:
                break
            rows += more
            page += 1
        return tuple(rows), total

    def _rows(
        self, data: Raw, name: str, path: str, make: Callable[[Raw], Row]
    ) -> tuple[list[Row], int]:
        try:
            rows = [make(mapping(row, name)) for row in sequence(data.get(name), name)]
            total = integer(mapping(data.get("pagination"), "pagination").get("total"))
        except (MalformedError, ValueError) as error:
            raise answers.broken(f"GET {path}", str(error)) from error
        return rows, len(rows) if total is None else total

    def _all(self, path: str, name: str, action: str, make: Callable[[Raw], Row]) -> list[Row]:
        return self._rows(self.request("GET", path, action), name, path, make)[0]

    def _made(self, row: Raw, make: Callable[[Raw], Row], request: str) -> Row:
        try:
            return make(row)
        except MalformedError as error:
            raise answers.broken(request, str(error)) from error
