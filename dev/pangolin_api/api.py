"""Answers the requests of the API: finds the route, checks the key, and calls the handler."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from dev.pangolin_api import schema
from dev.pangolin_api.access import Access
from dev.pangolin_api.listing import Listing
from dev.pangolin_api.messages import Answer, Refusal, Request, no_route, success
from dev.pangolin_api.resources import Resources
from dev.pangolin_api.schema import V1_22, Version
from dev.pangolin_api.store import Key, Store
from dev.pangolin_api.targets import Targets

# A handler gets the id in the path and the request; for rules, the path holds the second id.
Handler = Callable[[str, Request], Answer]


@dataclass(frozen=True)
class _Route:
    method: str
    path: re.Pattern[str]
    action: str
    handler: Handler


class Api:
    """The handlers, and the keys that may call them."""

    def __init__(self, store: Store, version: Version, dashboard: str) -> None:
        self._store = store
        self._version = version
        self._routes = [
            _Route(method, _pattern(path, version), action, handler)
            for method, path, action, handler in _table(store, version, dashboard)
        ]

    def is_public(self, request: Request) -> bool:
        """Say whether a request needs no key, and so costs no argon2."""
        return request.path in {"/v1", "/v1/", "/v1/openapi.json"}

    def answer(self, request: Request) -> Answer:
        """Answer a request.

        Raises:
            Refusal: It is refused.
        """
        if request.method == "GET" and self.is_public(request):
            document = schema.document(self._version)
            return Answer(200, document if "openapi" in request.path else {"message": "Healthy"})
        if not request.path.startswith("/v1/"):
            return no_route(request)
        key = self._key(request.authorization)
        for route in self._routes:
            match = route.path.fullmatch(request.path)
            if match and route.method == request.method:
                self._authorise(key, match[1], match[2])
                if route.action not in key.actions:
                    raise Refusal(403, "Key does not have permission perform this action")
                return route.handler(match[2], request)
        return no_route(request)

    def _key(self, authorization: str) -> Key:
        kind, _, token = authorization.partition(" ")
        if kind != "Bearer" or not token:
            raise Refusal(401, "API key required")
        if "." not in token:
            raise Refusal(500, "An error occurred checking API key")
        name, _, secret = token.partition(".")
        key = self._store.keys.get(name)
        if key is None or key.secret != secret:
            raise Refusal(401, "Invalid API key")
        return key

    def _authorise(self, key: Key, kind: str, name: str) -> None:
        """Check that what the path names exists, and that the key is of its organisation."""
        org = name
        if kind == "orgs":
            if key.org is not None:
                raise Refusal(403, "Key does not have root access")
            return
        if kind in {"resource", "public-resource"}:
            org = self._org_of_resource(name)
        if kind == "target":
            target = self._store.targets.get(_number(name))
            if target is None:
                raise Refusal(404, f"Target with ID {name} not found")
            org = self._org_of_resource(str(target["resourceId"]))
        if key.org not in {None, org}:
            raise Refusal(403, "Key does not have access to this organization")

    def _org_of_resource(self, name: str) -> str:
        row = self._store.resources.get(_number(name))
        if row is None:
            raise Refusal(404, f"Resource with ID {name} not found")
        return str(row["orgId"])


def _number(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise Refusal(400, "Validation error: Invalid input: expected number")
    return int(text)


def _pattern(path: str, version: Version) -> re.Pattern[str]:
    word = "(?:public-)?resource" if version >= V1_22 else "resource"
    kind, _, rest = path.partition("/")
    first = f"({word})" if kind == "resource" else f"({kind})"
    # `resourceX` in a path below an organisation is the word of the dialect, too.
    tail = rest.replace("{}", "([^/]+)", 1).replace("{}", "[^/]+").replace("resource", word)
    return re.compile(f"/v1/{first}/{tail}" if rest else f"/v1/{first}()")


def _table(store: Store, version: Version, dashboard: str) -> list[tuple[str, str, str, Handler]]:
    listing = Listing(store, version)
    resources = Resources(store, version, dashboard)
    targets = Targets(store, version)
    access = Access(store)
    return [
        ("GET", "orgs", "listOrgs", lambda _, __: success({"orgs": sorted(store.orgs)}, "Orgs")),
        ("GET", "org/{}/domains", "listOrgDomains", listing.domains),
        ("GET", "org/{}/sites", "listSites", listing.sites),
        ("GET", "org/{}/roles", "listRoles", listing.roles),
        ("GET", "org/{}/users", "listUsers", listing.users),
        ("GET", "org/{}/resources", "listResources", listing.resources),
        ("PUT", "org/{}/resource", "createResource", resources.create),
        ("GET", "resource/{}", "getResource", resources.get),
        ("POST", "resource/{}", "updateResource", resources.update),
        ("DELETE", "resource/{}", "deleteResource", resources.delete),
        ("GET", "resource/{}/targets", "listTargets", targets.list),
        ("PUT", "resource/{}/target", "createTarget", targets.create),
        ("POST", "target/{}", "updateTarget", targets.update),
        ("DELETE", "target/{}", "deleteTarget", targets.delete),
        ("GET", "resource/{}/rules", "listResourceRules", access.rules),
        ("PUT", "resource/{}/rule", "createResourceRule", access.create_rule),
        ("POST", "resource/{}/rule/{}", "updateResourceRule", access.update_rule),
        ("DELETE", "resource/{}/rule/{}", "deleteResourceRule", access.delete_rule),
        ("GET", "resource/{}/roles", "listResourceRoles", access.roles),
        ("POST", "resource/{}/roles", "setResourceRoles", access.set_roles),
        ("GET", "resource/{}/users", "listResourceUsers", access.users),
        ("POST", "resource/{}/users", "setResourceUsers", access.set_users),
        ("GET", "resource/{}/whitelist", "getResourceWhitelist", access.whitelist),
        ("POST", "resource/{}/whitelist", "setResourceWhitelist", access.set_whitelist),
    ]
