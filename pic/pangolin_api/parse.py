"""Parses the rows of Pangolin's answers into values. No I/O.

Raises `MalformedError` for a row without its id, because everything else has a default.
"""

import json

from pic.core.json_values import MalformedError, Raw, integer, mapping, sequence, text
from pic.pangolin_api.model import (
    Domain,
    ListedResource,
    ListedTarget,
    Live,
    LiveTarget,
    Role,
    Rule,
    Site,
    User,
)


def number(row: Raw, name: str) -> int:
    """Return a field that must be a whole number."""
    value = integer(row.get(name))
    if value is None:
        raise MalformedError(f"{name} is not a number")
    return value


def identifier(row: Raw, name: str) -> str:
    """Return a field that must be a text."""
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise MalformedError(f"{name} is not a text")
    return value


def site(row: Raw) -> Site:
    """Parse a row of the list of sites."""
    return Site(
        number(row, "siteId"),
        text(row.get("niceId")),
        text(row.get("name")),
        text(row.get("type")),
        row.get("online") is True,
    )


def domain(row: Raw) -> Domain:
    """Parse a row of the list of domains."""
    return Domain(
        identifier(row, "domainId"),
        text(row.get("baseDomain")).lower(),
        text(row.get("type")),
        row.get("verified") is True,
    )


def role(row: Raw) -> Role:
    """Parse a row of the list of roles, of the organisation or of a resource."""
    return Role(number(row, "roleId"), text(row.get("name")), row.get("isAdmin") is True)


def user(row: Raw) -> User:
    """Parse a row of the list of users; the organisation and a resource name the id differently."""
    name = "userId" if "userId" in row else "id"
    return User(identifier(row, name), text(row.get("email")), text(row.get("username")))


def listed(row: Raw) -> ListedResource:
    """Parse a row of the list of resources."""
    locks = ("passwordId", "pincodeId", "headerAuthId")
    return ListedResource(
        id=number(row, "resourceId"),
        nice_id=text(row.get("niceId")),
        name=text(row.get("name")),
        host=text(row.get("fullDomain")).lower(),
        enabled=row.get("enabled") is True,
        sso=row.get("sso") is True,
        whitelist=row.get("whitelist") is True,
        locks=any(row.get(name) is not None for name in locks),
        targets=tuple(
            _listed_target(mapping(target, "targets[]"))
            for target in sequence(row.get("targets"), "targets")
        ),
    )


def _listed_target(row: Raw) -> ListedTarget:
    return ListedTarget(
        number(row, "targetId"),
        integer(row.get("siteId")) or 0,
        text(row.get("ip")),
        integer(row.get("port")) or 0,
        row.get("enabled") is True,
        text(row.get("healthStatus")) or "unknown",
    )


def live(row: Raw) -> Live:
    """Parse a resource, without its targets and rules."""
    return Live(number(row, "resourceId"), text(row.get("fullDomain")).lower(), row)


def target(row: Raw) -> LiveTarget:
    """Parse a target; some versions send its headers as a text of JSON."""
    headers = row.get("hcHeaders")
    decoded = json.loads(headers) if isinstance(headers, str) and headers else headers
    return LiveTarget(number(row, "targetId"), {**row, "hcHeaders": decoded or None})


def rule(row: Raw) -> tuple[int, Rule]:
    """Parse a rule and its id."""
    return number(row, "ruleId"), Rule(
        number(row, "priority"),
        text(row.get("action")),
        text(row.get("match")),
        text(row.get("value")),
        row.get("enabled") is not False,
    )


def email(row: Raw) -> str:
    """Parse a row of the whitelist."""
    return identifier(row, "email").lower()
