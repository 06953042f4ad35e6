"""Creates, reads, updates and deletes resources."""

import re

from dev.pangolin_api import schema
from dev.pangolin_api.domains import full_domain, refuse_taken
from dev.pangolin_api.messages import Answer, Refusal, Request, Row, success
from dev.pangolin_api.schema import Version
from dev.pangolin_api.store import Store

_TLS_NAME = re.compile(r"([a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+")
_HEADER = re.compile(r"[a-zA-Z0-9!#$%&'*+\-.^_`|~]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7E]*")


class Resources:
    """The handlers of resources."""

    def __init__(self, store: Store, version: Version, dashboard: str) -> None:
        self._store = store
        self._version = version
        self._dashboard = dashboard

    def create(self, org: str, request: Request) -> Answer:
        """Create a resource with login and without targets; it has no router yet."""
        body = schema.check(request.json, schema.create_fields(self._version))
        if body.get("http") is False:
            raise Refusal(400, "The simulator has no TCP and UDP resources")
        if org not in self._store.orgs:
            raise Refusal(404, f"Organization with ID {org} not found")
        host = full_domain(self._store, body["domainId"], body.get("subdomain"))
        refuse_taken(self._store, host, None, self._dashboard, self._version)
        row = self._store.resource(
            org,
            name=body["name"],
            domainId=body["domainId"],
            subdomain=body.get("subdomain"),
            fullDomain=host,
            stickySession=body.get("stickySession", False),
            postAuthPath=body.get("postAuthPath"),
        )
        self._attach_admin(org, row["resourceId"])
        return success(row, "Http resource created successfully", 201)

    def _attach_admin(self, org: str, resource: int) -> None:
        roles = self._store.roles.values()
        admins = [role["roleId"] for role in roles if role["orgId"] == org and role["isAdmin"]]
        if not admins:
            # The resource stays: the transaction is not atomic on SQLite.
            raise Refusal(404, "Admin role not found")
        self._store.role_resources.append((admins[0], resource))

    def get(self, name: str, _: Request) -> Answer:
        """Return all columns."""
        row = self._store.resources[int(name)]
        return success({**row, "headers": row["headers"] or []}, "Resource retrieved successfully")

    def update(self, name: str, request: Request) -> Answer:
        """Update the fields that are sent; a subdomain alone does not move the host."""
        row = self._store.resources[int(name)]
        body = schema.check(request.json, schema.UPDATE)
        self._check(row, body)
        if body.get("domainId"):
            host = full_domain(self._store, body["domainId"], body.get("subdomain"))
            refuse_taken(self._store, host, int(name), self._dashboard, self._version)
            row["fullDomain"] = host
        row.update({key: value for key, value in body.items() if not key.startswith("maint")})
        return success(row, "HTTP resource updated successfully")

    def _check(self, row: Row, body: Row) -> None:
        if not body:
            message = "At least one field must be provided for update"
            raise Refusal(400, f"Validation error: {message}")
        for field in ("tlsServerName", "setHostHeader"):
            if body.get(field) and not _TLS_NAME.fullmatch(body[field]):
                raise Refusal(400, f"Validation error: Invalid {field}. Use domain name format")
        for header in body.get("headers") or ():
            text = f"{header['name']}{header['value']}"
            is_legal = _HEADER.fullmatch(header["name"]) and _HEADER_VALUE.fullmatch(
                header["value"]
            )
            if not is_legal or re.search(r"\{\{[^}]+\}\}", text):
                raise Refusal(400, "Validation error: Header names and values must be plain")
        if any(
            other["niceId"] == body.get("niceId") and other["orgId"] == row["orgId"]
            for other in self._store.resources.values()
            if other is not row
        ):
            raise Refusal(409, f'A resource with niceId "{body["niceId"]}" already exists')

    def delete(self, name: str, _: Request) -> Answer:
        """Delete a resource; its routers are gone at once."""
        self._store.delete_resource(int(name))
        return success(None, "Resource deleted successfully")
