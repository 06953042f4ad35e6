"""Lists what an organisation has, page by page, with the silent defaults of Pangolin."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from dev.pangolin_api.messages import Answer, Refusal, Request, Row, success
from dev.pangolin_api.schema import PAGES, V1_22, Version
from dev.pangolin_api.store import Store

_ROW = ("resourceId", "niceId", "name", "fullDomain", "domainId", "ssl", "sso", "enabled", "http")
_LOCKS = ("protocol", "proxyPort", "wildcard", "passwordId", "pincodeId", "headerAuthId")
_QUERY = frozenset({"page", "pageSize", "query", "sort_by", "order", "enabled", "authState"})


class Listing:
    """The lists of an organisation; an unknown one is empty."""

    def __init__(self, store: Store, version: Version) -> None:
        self._store = store
        self._version = version

    def domains(self, org: str, request: Request) -> Answer:
        """List domains, with limit and offset."""
        return offset_page("domains", self._of(org, self._store.domains.values()), request.query)

    def roles(self, org: str, request: Request) -> Answer:
        """List roles, with limit and offset."""
        return offset_page("roles", self._of(org, self._store.roles.values()), request.query)

    def users(self, org: str, request: Request) -> Answer:
        """List users, with limit and offset."""
        return offset_page("users", self._of(org, self._store.users.values()), request.query)

    def sites(self, org: str, request: Request) -> Answer:
        """List sites, with pages."""
        return self._page("sites", self._of(org, self._store.sites.values()), request.query)

    def resources(self, org: str, request: Request) -> Answer:
        """List resources by name; the rows lack most of what a target has."""
        query = request.query
        if self._version >= V1_22 and not _QUERY.issuperset(query):
            raise Refusal(400, "Validation error: Unrecognized key in query")
        wanted = query.get("query", "").lower()
        rows = [
            row
            for row in self._of(org, self._store.resources.values())
            if any(wanted in str(row[name]).lower() for name in ("name", "niceId", "fullDomain"))
        ]
        rows.sort(key=lambda row: row["name"])
        targets: dict[int, list[Row]] = {}
        for target in self._store.targets.values():
            targets.setdefault(target["resourceId"], []).append(target)
        return self._page(
            "resources", rows, query, lambda row: self._row(row, targets.get(row["resourceId"], []))
        )

    def _row(self, row: Row, targets: Sequence[Row]) -> Row:
        states = {target["hcHealth"] for target in targets}
        sites = {target["siteId"] for target in targets}
        return {
            **{name: row[name] for name in (*_ROW, *_LOCKS)},
            "whitelist": row["emailWhitelistEnabled"],
            "health": states.pop() if len(states) == 1 else "unknown",
            "sites": [
                {name: self._store.sites[site][name] for name in ("siteId", "niceId", "online")}
                for site in sorted(sites & self._store.sites.keys())
            ],
            "targets": [
                {
                    **{name: target[name] for name in ("targetId", "siteId", "ip", "port")},
                    "enabled": target["enabled"],
                    "healthStatus": target["hcHealth"],
                }
                for target in targets
            ],
        }

    def _page(
        self,
        name: str,
        rows: Sequence[Row],
        query: Mapping[str, str],
        made: Callable[[Row], Row] = lambda row: row,
    ) -> Answer:
        if self._version < PAGES:
            return offset_page(name, [made(row) for row in rows], query)
        size = _positive(query.get("pageSize", ""), 20)
        page = _positive(query.get("page", ""), 1)
        chosen = rows[size * (page - 1) : size * page]
        pagination = {"total": len(rows), "pageSize": size, "page": page}
        data = {name: [made(row) for row in chosen], "pagination": pagination}
        return success(data, f"{name.capitalize()} retrieved successfully")

    def _of(self, org: str, rows: Iterable[Row]) -> list[Row]:
        return [row for row in rows if row["orgId"] == org]


def offset_page(name: str, rows: Sequence[Row], query: Mapping[str, str]) -> Answer:
    """Return a page of the lists that have a limit and an offset."""
    limit = _strict(query.get("limit", "1000"), 1)
    offset = _strict(query.get("offset", "0"), 0)
    pagination = {"total": len(rows), "limit": limit, "offset": offset}
    data = {name: rows[offset : offset + limit], "pagination": pagination}
    return success(data, f"{name.capitalize()} retrieved successfully")


def _positive(text: str, default: int) -> int:
    # Rubbish falls back to the default without an error.
    return int(text) if text.isdigit() and int(text) > 0 else default


def _strict(text: str, least: int) -> int:
    if not text.isdigit() or int(text) < least:
        raise Refusal(400, "Validation error: Invalid input: expected number")
    return int(text)
