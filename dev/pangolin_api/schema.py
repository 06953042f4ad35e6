"""Describes the bodies and queries of each version, checks them, and writes openapi.json.

One table serves the check and the document, so that a client can rely on the document.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dev.pangolin_api.messages import Refusal, Row

Version = tuple[int, int]
V1_15: Version = (1, 15)  # the last one that pages with limit and offset
V1_18: Version = (1, 18)  # the one that was measured
V1_22: Version = (1, 22)  # the first one with public resources, modes and strict queries
PAGES: Version = (1, 16)

_NICE_ID = re.compile(r"[a-zA-Z0-9-]{1,255}")
_IPV4 = re.compile(r"\d{1,3}(\.\d{1,3}){3}")
_IPV6 = re.compile(r"[0-9a-fA-F:]*:[0-9a-fA-F:.]+")
_HOSTNAME = re.compile(r"(?=.{1,253}$)([a-zA-Z0-9_]([-a-zA-Z0-9_]*[a-zA-Z0-9_])?\.?)+")


@dataclass(frozen=True)
class Field:
    """One field of a body.

    Attributes:
        kind: The JSON type: "string", "integer", "boolean" or "array".
        required: Whether it must be sent.
        nullable: Whether it may be null.
        least: The smallest number, or the least length of a text; None if there is no limit.
        most: The largest number, or the greatest length.
        choices: The only values; empty allows any.
        accepts: A further check.
    """

    kind: str
    required: bool = False
    nullable: bool = False
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    accepts: Callable[[Any], bool] = lambda _: True

    @property
    def schema(self) -> Row:
        """The field in openapi.json."""
        schema: Row = {"type": self.kind}
        if self.kind == "array":
            schema["items"] = {}
        if self.choices:
            schema["enum"] = list(self.choices)
        return {**schema, **({"nullable": True} if self.nullable else {})}


Fields = Mapping[str, Field]


def is_target(value: str) -> bool:
    """Say whether Pangolin takes a text for the address of a target: IPv6, too."""
    return any(form.fullmatch(value) for form in (_IPV4, _IPV6, _HOSTNAME))


_TEXT, _OPTIONAL = Field("string"), Field("string", nullable=True)
_FLAG, _NUMBER = Field("boolean"), Field("integer", nullable=True, least=1)
_NAME = Field("string", least=1, most=255)
_NICE = Field("string", accepts=lambda value: _NICE_ID.fullmatch(value) is not None)
_LIST = Field("array", nullable=True)

_HEALTH: Fields = {
    "hcEnabled": Field("boolean", nullable=True),
    "hcPath": Field("string", nullable=True, least=1),
    "hcScheme": _OPTIONAL,
    "hcMode": _OPTIONAL,
    "hcHostname": _OPTIONAL,
    "hcPort": _NUMBER,
    "hcInterval": _NUMBER,
    "hcUnhealthyInterval": _NUMBER,
    "hcTimeout": _NUMBER,
    "hcHeaders": _LIST,
    "hcFollowRedirects": Field("boolean", nullable=True),
    "hcMethod": Field("string", nullable=True, least=1),
    "hcStatus": Field("integer", nullable=True),
    "hcTlsServerName": _OPTIONAL,
    "hcHealthyThreshold": _NUMBER,
    "hcUnhealthyThreshold": _NUMBER,
}
_PATH: Fields = {
    "path": _OPTIONAL,
    "pathMatchType": Field("string", nullable=True, choices=("exact", "prefix", "regex")),
    "rewritePath": _OPTIONAL,
    "rewritePathType": Field(
        "string", nullable=True, choices=("exact", "prefix", "regex", "stripPrefix")
    ),
}
_ADDRESS: Fields = {
    "siteId": Field("integer", required=True, least=1),
    "ip": Field("string", required=True, accepts=is_target),
}
_MODE: Fields = {"mode": Field("string", nullable=True)}
RULE: Fields = {
    "action": Field("string", required=True, choices=("ACCEPT", "DROP", "PASS")),
    "match": Field(
        "string", required=True, choices=("CIDR", "IP", "PATH", "COUNTRY", "ASN", "REGION")
    ),
    "value": Field("string", required=True, least=1),
    "priority": Field("integer", required=True),
    "enabled": _FLAG,
}


def create_fields(version: Version) -> Fields:
    """Return the body of a create."""
    is_new = version >= V1_22
    fields: Fields = {
        "name": Field("string", required=True, least=1, most=255),
        "subdomain": _OPTIONAL,
        "http": Field("boolean", required=not is_new),
        "protocol": Field("string", required=not is_new, choices=("tcp", "udp")),
        "domainId": Field("string", required=True),
        "stickySession": _FLAG,
        "postAuthPath": _OPTIONAL,
    }
    return {**fields, **({"mode": _TEXT} if is_new else {})}


UPDATE: Fields = {
    "name": _NAME,
    "niceId": _NICE,
    "subdomain": _OPTIONAL,
    "domainId": _TEXT,
    "ssl": _FLAG,
    "sso": _FLAG,
    "blockAccess": _FLAG,
    "enabled": _FLAG,
    "emailWhitelistEnabled": _FLAG,
    "applyRules": _FLAG,
    "stickySession": _FLAG,
    "tlsServerName": _OPTIONAL,
    "setHostHeader": _OPTIONAL,
    "headers": _LIST,
    "skipToIdpId": _NUMBER,
    "postAuthPath": _OPTIONAL,
    "maintenanceModeEnabled": _FLAG,
    "maintenanceModeType": Field("string", choices=("forced", "automatic")),
    "maintenanceTitle": _OPTIONAL,
    "maintenanceMessage": _OPTIONAL,
    "maintenanceEstimatedTime": _OPTIONAL,
}
# Of an update, only the priority is required.
RULE_UPDATE: Fields = {
    name: replace(field, required=name == "priority") for name, field in RULE.items()
}
ROLES: Fields = {"roleIds": Field("array", required=True)}
USERS: Fields = {"userIds": Field("array", required=True)}
WHITELIST: Fields = {"emails": Field("array", required=True, most=50)}


def target_fields(version: Version, *, update: bool) -> Fields:
    """Return the body of a target."""
    port = Field("integer", required=not update, least=1, most=65535)
    method = Field("string", nullable=True, least=1 if update else None, most=10 if update else 255)
    priority = Field("integer", nullable=not update, least=1, most=1000)
    own: Fields = {"port": port, "method": method, "priority": priority, "enabled": _FLAG}
    return {**_ADDRESS, **own, **_PATH, **_HEALTH, **(_MODE if version >= V1_22 else {})}


def check(body: object, fields: Fields) -> Row:
    """Return a body if it is valid.

    Raises:
        Refusal: A key is unknown, or a value is not valid.
    """
    if not isinstance(body, dict):
        raise Refusal(400, "Validation error: Invalid input: expected object")
    for name, field in fields.items():
        if name in body or field.required:
            _check_value(name, body.get(name), field, present=name in body)
    unknown = [f'"{name}"' for name in body if name not in fields]
    if unknown:
        keys = "key" if len(unknown) == 1 else "keys"
        raise Refusal(400, f"Validation error: Unrecognized {keys}: {', '.join(unknown)}")
    return body


_TYPES: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool, "array": list}


def _check_value(name: str, value: object, field: Field, *, present: bool) -> None:
    if present and value is None and field.nullable:
        return
    is_bool = isinstance(value, bool)
    if not isinstance(value, _TYPES[field.kind]) or is_bool != (field.kind == "boolean"):
        received = "null" if present and value is None else type(value).__name__
        message = f"Invalid input: expected {field.kind}, received {received}"
        raise Refusal(400, f'Validation error: {message} at "{name}"')
    size = value if isinstance(value, int) else len(value)  # type: ignore[arg-type]
    too_small = field.least is not None and size < field.least
    too_big = field.most is not None and size > field.most
    if too_small or too_big or (field.choices and value not in field.choices):
        raise Refusal(400, f'Validation error: Invalid input at "{name}"')
    if not field.accepts(value):
        raise Refusal(400, f'Validation error: Invalid input at "{name}"')


Operation = tuple[str, str, Fields | None, tuple[str, ...]]


def operations(version: Version) -> list[Operation]:
    """Return method, path, body and query of each documented route."""
    pages = ("page", "pageSize", "query") if version >= PAGES else ("limit", "offset")
    targets = [target_fields(version, update=update) for update in (False, True)]
    table: list[Operation] = [
        ("get", "/org/{orgId}/domains", None, ("limit", "offset")),
        ("get", "/org/{orgId}/sites", None, pages),
        ("get", "/org/{orgId}/roles", None, ("limit", "offset")),
        ("get", "/org/{orgId}/users", None, ("limit", "offset")),
        ("post", "/target/{targetId}", targets[1], ()),
        ("delete", "/target/{targetId}", None, ()),
    ]
    words = ("resource", "public-resource") if version >= V1_22 else ("resource",)
    for word in words:
        one = f"/{word}/{{resourceId}}"
        table += [
            ("get", f"/org/{{orgId}}/{word}s", None, pages),
            ("put", f"/org/{{orgId}}/{word}", create_fields(version), ()),
            # Documented, but not routed.
            ("get", f"/org/{{orgId}}/{word}/{{niceId}}", None, ()),
            ("get", one, None, ()),
            ("post", one, UPDATE, ()),
            ("delete", one, None, ()),
            ("get", f"{one}/targets", None, ("limit", "offset")),
            ("put", f"{one}/target", targets[0], ()),
            ("get", f"{one}/rules", None, ("limit", "offset")),
            ("put", f"{one}/rule", RULE, ()),
            ("post", f"{one}/rule/{{ruleId}}", RULE_UPDATE, ()),
            ("delete", f"{one}/rule/{{ruleId}}", None, ()),
            *(("get", f"{one}/{part}", None, ()) for part in ("roles", "users", "whitelist")),
            ("post", f"{one}/roles", ROLES, ()),
            ("post", f"{one}/users", USERS, ()),
            ("post", f"{one}/whitelist", WHITELIST, ()),
        ]
    return table


def document(version: Version) -> Row:
    """Return openapi.json, which names no version of Pangolin."""
    paths: Row = {}
    for method, path, body, query in operations(version):
        operation: Row = {"parameters": [{"in": "query", "name": name} for name in query]}
        if body is not None:
            operation["requestBody"] = {"content": {"application/json": {"schema": _schema(body)}}}
        paths.setdefault(path, {})[method] = operation
    return {
        "openapi": "3.0.0",
        "info": {"title": "Pangolin Integration API", "version": "v1"},
        "servers": [{"url": "/v1"}],
        "paths": paths,
    }


def _schema(fields: Fields) -> Row:
    schema: Row = {
        "type": "object",
        "properties": {name: field.schema for name, field in fields.items()},
        "additionalProperties": False,
    }
    # The update of a resource allows two kinds of resources, and so does the create.
    return {"allOf": [schema, {"type": "object", "properties": {}}]} if "sso" in fields else schema
