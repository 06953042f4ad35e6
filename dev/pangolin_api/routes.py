"""Computes what the proxy of Pangolin serves, and whom it lets in.

Traefik gets one router for each resource, path, match and rewrite. A text in a rule is not escaped,
so a backtick in a path can add another host. Badger then applies block, rules and login.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import ip_address, ip_network
from typing import Literal

from dev.pangolin_api.messages import Row

Access = Literal["open", "login", "blocked"]
Reach = Literal["open", "login", "denied", "blocked", "nothing"]
KEY_LENGTH = 50
_MATCHERS = {"exact": "Path", "prefix": "PathPrefix", "regex": "PathRegexp"}
_PRIORITIES = {"exact": 115, "prefix": 113, "regex": 112}
_TERM = re.compile(r"(Host|PathRegexp|PathPrefix|Path)\(`([^`]*)`\)|(\|\|)")


@dataclass(frozen=True)
class Visitor:
    """Who asks: an address, and what Pangolin knows of it."""

    ip: str = "203.0.113.7"
    country: str = "NL"
    asn: str = "AS64500"


@dataclass(frozen=True)
class Route:
    """A router of Traefik.

    Attributes:
        host: The host of its resource.
        rule: The rule of Traefik, such as ``Host(`a.example.com`) && PathPrefix(`/x`)``.
        backends: Method, address and port of each target in the pool, sorted.
        access: What Badger asks a visitor whom no rule concerns.
        rules: The rules that count, sorted by priority.
        resource_id: The resource.
    """

    host: str
    rule: str
    priority: int
    backends: tuple[str, ...]
    access: Access
    rules: tuple[tuple[str, str, str], ...] = ()
    resource_id: int = 0

    def serves(self, host: str, path: str) -> bool:
        """Say whether the rule matches a request."""
        return any(
            all(_matches(kind, value, host.lower(), path) for kind, value in terms)
            for terms in _alternatives(self.rule)
        )

    def reach(self, path: str, visitor: Visitor) -> Reach:
        """Say how far a visitor gets."""
        if self.access == "blocked":
            return "blocked"
        for action, match, value in self.rules:
            if _concerns(match, value, path, visitor):
                if action == "PASS":
                    break
                return "open" if action == "ACCEPT" else "denied"
        return self.access


def _alternatives(rule: str) -> Iterator[list[tuple[str, str]]]:
    terms: list[tuple[str, str]] = []
    for match in _TERM.finditer(rule):
        if match[3]:
            yield terms
            terms = []
        else:
            terms.append((match[1], match[2]))
    yield terms


def _matches(kind: str, value: str, host: str, path: str) -> bool:
    match kind:
        case "Host":
            return value.lower() == host
        case "Path":
            return value == path
        case "PathPrefix":
            return path.startswith(value)
        case _:
            return re.search(value, path) is not None


def _concerns(match: str, value: str, path: str, visitor: Visitor) -> bool:
    match match:
        case "CIDR":
            return ip_address(visitor.ip) in ip_network(value, strict=False)
        case "IP":
            return visitor.ip == value
        case "PATH":
            parts, wanted = path.strip("/").split("/"), value.strip("/").split("/")
            return _glob(parts, wanted)
        case "COUNTRY":
            return value in {visitor.country, "ALL"}
        case _:
            return value in {visitor.asn, "ALL"}


def _glob(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern or not parts:
        return not parts and all(segment == "*" for segment in pattern)
    if pattern[0] == "*":  # any number of segments
        return any(_glob(parts[at:], pattern[1:]) for at in range(len(parts) + 1))
    return fnmatchcase(parts[0], pattern[0]) and _glob(parts[1:], pattern[1:])


def routes_of(
    resources: Iterable[Row], targets: Iterable[Row], rules: Iterable[Row], sites: Mapping[int, Row]
) -> tuple[Route, ...]:
    """Return the routers of all resources, sorted by host, priority and rule."""
    pools: dict[int, list[Row]] = {}
    for target in targets:
        if target["enabled"] and target["hcHealth"] != "unhealthy" and target["siteId"] in sites:
            pools.setdefault(target["resourceId"], []).append(target)
    ruled: dict[int, list[Row]] = {}
    for rule in rules:
        ruled.setdefault(rule["resourceId"], []).append(rule)
    routers = [
        route
        for resource in resources
        if resource["enabled"] and resource["fullDomain"]
        for route in _routers(
            resource, pools.get(resource["resourceId"], ()), ruled.get(resource["resourceId"], ())
        )
    ]
    return tuple(sorted(routers, key=lambda route: (route.host, -route.priority, route.rule)))


def _routers(resource: Row, pool: Sequence[Row], rules: Sequence[Row]) -> Iterator[Route]:
    groups: dict[str, list[Row]] = {}
    # The target with the highest priority decides for all that share its path.
    for target in sorted(pool, key=lambda row: -(row["priority"] or 100)):
        groups.setdefault(_key(resource, target), []).append(target)
    for group in groups.values():
        yield Route(
            host=resource["fullDomain"],
            rule=_rule(resource, group[0]),
            priority=_priority(group[0]),
            backends=tuple(sorted(_backend(target) for target in group)),
            access=_access(resource),
            rules=_counting(rules) if resource["applyRules"] else (),
            resource_id=resource["resourceId"],
        )


def _key(resource: Row, target: Row) -> str:
    names = ("path", "pathMatchType", "rewritePath", "rewritePathType")
    parts = [str(resource["resourceId"]), *(target[name] for name in names if target[name])]
    return re.sub(r"-+", "-", re.sub(r"[^a-zA-Z0-9-]", "-", "-".join(parts)))[:KEY_LENGTH]


def _rule(resource: Row, target: Row) -> str:
    host = f"Host(`{resource['fullDomain']}`)"
    path, match = target["path"], target["pathMatchType"]
    return f"{host} && {_MATCHERS[match]}(`{path}`)" if path and match else host


def _priority(target: Row) -> int:
    sent, path, match = target["priority"] or 100, target["path"], target["pathMatchType"]
    if sent != 100 or not path or not match:
        return int(sent)
    return 1 if path == "/" else _PRIORITIES[match]


def _backend(target: Row) -> str:
    return f"{target['method']}://{target['ip']}:{target['port']}"


def _access(resource: Row) -> Access:
    if resource["blockAccess"]:
        return "blocked"
    names = ("sso", "emailWhitelistEnabled", "passwordId", "pincodeId", "headerAuthId")
    return "login" if any(resource[name] for name in names) else "open"


def _counting(rules: Iterable[Row]) -> tuple[tuple[str, str, str], ...]:
    enabled = (rule for rule in rules if rule["enabled"])
    ordered = sorted(enabled, key=lambda rule: (rule["priority"], rule["ruleId"]))
    return tuple((rule["action"], rule["match"], rule["value"]) for rule in ordered)
