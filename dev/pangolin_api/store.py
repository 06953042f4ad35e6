"""Holds the rows of Pangolin's database. A failing call keeps what it has written, as on SQLite."""

import random
from dataclasses import dataclass, field
from uuid import UUID

from dev.pangolin_api.messages import Row

ACTIONS = (
    "listOrgDomains",
    "listSites",
    "listResources",
    "getResource",
    "createResource",
    "updateResource",
    "deleteResource",
    "listTargets",
    "createTarget",
    "updateTarget",
    "deleteTarget",
    "listResourceRules",
    "createResourceRule",
    "updateResourceRule",
    "deleteResourceRule",
    "listRoles",
    "listUsers",
    "listResourceRoles",
    "setResourceRoles",
    "listResourceUsers",
    "setResourceUsers",
    "getResourceWhitelist",
    "setResourceWhitelist",
)


@dataclass
class Key:
    """An API key.

    Attributes:
        org: The organisation; None for a root key.
        actions: What is ticked; root keys need it, too.
    """

    secret: str = field(repr=False)
    org: str | None = None
    actions: set[str] = field(default_factory=lambda: set(ACTIONS))


class Store:
    """The tables, each by the id of its rows."""

    def __init__(self) -> None:
        self.keys: dict[str, Key] = {}
        self.orgs: set[str] = set()
        self.domains: dict[str, Row] = {}
        self.sites: dict[int, Row] = {}
        self.roles: dict[int, Row] = {}
        self.users: dict[str, Row] = {}
        self.resources: dict[int, Row] = {}
        self.targets: dict[int, Row] = {}
        self.rules: dict[int, Row] = {}
        self.role_resources: list[tuple[int, int]] = []
        self.user_resources: list[tuple[str, int]] = []
        self.whitelist: list[tuple[str, int]] = []
        self._last: dict[str, int] = {}
        self._random = random.Random(7)  # noqa: S311 - names and ports, no secrets

    def next_id(self, table: str) -> int:
        """Return the next id of a table, which is never used again."""
        self._last[table] = self._last.get(table, 0) + 1
        return self._last[table]

    def org(self, org: str) -> None:
        """Add an organisation with the roles that each one has."""
        self.orgs.add(org)
        for name in ("Admin", "Member"):
            self.role(org, name, is_admin=name == "Admin")

    def role(self, org: str, name: str, *, is_admin: bool = False) -> int:
        """Add a role and return its id."""
        role = self.next_id("role")
        self.roles[role] = {
            "roleId": role,
            "orgId": org,
            "isAdmin": is_admin,
            "name": name,
            "description": f"The role {name}",
        }
        return role

    def user(self, org: str, email: str) -> str:
        """Add a user and return the id."""
        user = f"user-{self.next_id('user')}"
        row = {"orgId": org, "email": email, "username": email, "name": None, "type": "internal"}
        self.users[user] = {"id": user, **row}
        return user

    def domain(self, org: str, base: str, kind: str = "wildcard", *, verified: bool = True) -> str:
        """Add a base domain and return its id."""
        domain = f"domain{self.next_id('domain')}"
        self.domains[domain] = {
            "domainId": domain,
            "orgId": org,
            "baseDomain": base,
            "verified": verified,
            "type": kind,
            "failed": False,
            "tries": 0,
            "configManaged": kind == "wildcard",
            "certResolver": None,
            "preferWildcardCert": None,
            "errorMessage": None,
        }
        return domain

    def site(self, org: str, name: str, kind: str = "newt", *, online: bool = True) -> int:
        """Add a site, whose niceId is its name in small letters, and return its id."""
        site = self.next_id("site")
        self.sites[site] = {
            "siteId": site,
            "orgId": org,
            "niceId": name.lower().replace(" ", "-"),
            "name": name,
            "type": kind,
            "online": online,
            "subnet": "100.89.128.4/30",
        }
        return site

    def resource(self, org: str, **columns: object) -> Row:
        """Insert a resource with the defaults of its columns."""
        number = self.next_id("resource")
        row: Row = {
            "resourceId": number,
            "resourceGuid": str(UUID(int=number)),
            "orgId": org,
            "niceId": self._nice_id(number),
            "name": "",
            "domainId": None,
            "subdomain": None,
            "fullDomain": None,
            "http": True,
            "protocol": "tcp",
            "proxyPort": None,
            "ssl": True,
            "sso": True,
            "blockAccess": False,
            "enabled": True,
            "emailWhitelistEnabled": False,
            "applyRules": False,
            "stickySession": False,
            "tlsServerName": None,
            "setHostHeader": None,
            "headers": None,
            "skipToIdpId": None,
            "postAuthPath": None,
            "wildcard": False,
            "passwordId": None,
            "pincodeId": None,
            "headerAuthId": None,
            **columns,
        }
        self.resources[number] = row
        return row

    def delete_resource(self, resource: int) -> None:
        """Delete a resource with all that belongs to it."""
        del self.resources[resource]
        self.targets = {k: row for k, row in self.targets.items() if row["resourceId"] != resource}
        self.rules = {k: row for k, row in self.rules.items() if row["resourceId"] != resource}
        self.role_resources = [pair for pair in self.role_resources if pair[1] != resource]
        self.user_resources = [pair for pair in self.user_resources if pair[1] != resource]
        self.whitelist = [pair for pair in self.whitelist if pair[1] != resource]

    def targets_of(self, resource: int) -> list[Row]:
        """Return the targets of a resource, oldest first."""
        return [row for row in self.targets.values() if row["resourceId"] == resource]

    def port(self) -> int:
        """Pick the port at which newt listens."""
        return self._random.randint(40_000, 65_534)

    def _nice_id(self, number: int) -> str:
        words = ("amber", "brisk", "calm", "dusty", "eager", "frosty", "gentle", "hollow")
        return f"{'-'.join(self._random.choices(words, k=2))}-{number}"
