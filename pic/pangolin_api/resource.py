"""Defines the engine's resource of a public host: its id, its inputs and its differences. No I/O.

Two forms of the same targets are equal: in another order, or with the default priority named.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from pic.core.errors import FailureClass, PangolinError
from pic.core.json_values import MalformedError, Raw, integer, mapping, sequence, text
from pic.core.model import PUBLIC_TYPE
from pic.pangolin_api import inputs, steps
from pic.pangolin_api.model import Live
from pic.pangolin_api.targets import DEFAULT_PRIORITY
from pic.planning import hosts

HOST, TARGETS = "host", "targets"
# pic's own note of whose the host is. Pangolin never sees it.
OBJECT = "object"
_PLACE = ("domainId", "subdomain")
_FLAGS = ("sso", "blockAccess", "enabled")
_REQUIRED = (HOST, "niceId", "domainId", TARGETS)
_NICE_ID = re.compile(r"[A-Za-z0-9-]{1,255}")
_TEXT, _FLAG, _NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
_TARGET = {
    "siteId": _NUMBER,
    "ip": _TEXT,
    "port": _NUMBER,
    "method": _TEXT,
    "enabled": _FLAG,
    "path": _TEXT,
    "pathMatchType": _TEXT,
    "priority": _NUMBER,
}
# pic clears these, so a value that somebody else has set is a difference.
_CLEARED = ("rewritePath", "rewritePathType")
_TARGET_TYPE = "pangolin:index:Target"
_FIELDS: Mapping[str, Mapping[str, object]] = {
    HOST: {**_TEXT, "description": "The public host."},
    "niceId": {**_TEXT, "description": "The marker that makes the resource pic's own."},
    "domainId": {**_TEXT, "description": "The id of the base domain."},
    "subdomain": {**_TEXT, "description": "The rest of the host; absent for the base domain."},
    "sso": {**_FLAG, "description": "Whether Pangolin asks for a login; true if absent."},
    "blockAccess": {**_FLAG, "description": "Whether Pangolin refuses all visitors."},
    "enabled": {**_FLAG, "description": "Whether Pangolin serves the host; true if absent."},
    TARGETS: {
        "type": "array",
        "items": {"$ref": f"#/types/{_TARGET_TYPE}"},
        "description": "Where requests go.",
    },
    OBJECT: {**_TEXT, "description": "The object that declares the host; not sent."},
}
SCHEMA = {
    "name": "pangolin",
    "displayName": "Pangolin",
    "description": "Public hosts of a Pangolin.",
    "types": {
        _TARGET_TYPE: {
            "type": "object",
            "properties": _TARGET,
            "required": ["siteId", "ip", "port"],
        }
    },
    "resources": {
        PUBLIC_TYPE: {
            "description": "A public host. Its id is the resourceId of Pangolin.",
            "inputProperties": _FIELDS,
            "requiredInputs": [*_REQUIRED],
            "properties": _FIELDS,
            "required": [*_REQUIRED],
        }
    },
}


def parse_id(identifier: str) -> int:
    """Return the number of an id.

    Raises:
        PangolinError: The id is invalid.
    """
    if identifier.isascii() and identifier.isdecimal():
        return int(identifier)
    raise PangolinError(
        f"{identifier[:80]!r} is not the id of a resource: write the resourceId, such as 12",
        kind=FailureClass.INVALID,
    )


def problems(properties: Raw) -> Iterator[tuple[str, str]]:
    """Yield each input that must not be sent, with what is wrong."""
    for name in sorted(properties.keys() - _FIELDS.keys()):
        yield name, "is not a property of a public host"
    for name, schema in _FIELDS.items():
        value = properties.get(name)
        if value is None:
            if name in _REQUIRED:
                yield name, "is missing"
        elif schema is not _FIELDS[TARGETS] and not _has_type(value, schema):
            yield name, "must be text" if schema["type"] == "string" else "must be true or false"
        else:
            yield from ((name, problem) for problem in _value_problems(name, value, properties))


def _value_problems(name: str, value: object, properties: Raw) -> Iterable[str]:
    match name:
        case "host":
            return _host_problems(str(value))
        case "niceId" if not _NICE_ID.fullmatch(str(value)):
            return ["may have letters, digits and hyphens only"]
        case "domainId" if not value:
            return ["is empty"]
        case "targets":
            return _targets_problems(properties)
        case _:
            return ()


def _host_problems(host: str) -> Iterator[str]:
    try:
        normal = hosts.normalise(host)
    except hosts.UnusableHostError as error:
        yield f"{host[:80]!r} cannot be a host name: {error}"
        return
    if normal != host:
        yield f"{host[:80]!r} has another normal form: write {normal}"


def _targets_problems(properties: Raw) -> Iterator[str]:
    try:
        rows = [mapping(row, "a target") for row in sequence(properties[TARGETS], TARGETS)]
    except MalformedError as error:
        yield str(error)
        return
    for row in rows:
        yield from _fields_problems(row)
    # What Pangolin would accept and serve otherwise.
    yield from steps.problems(inputs.decode({TARGETS: rows}))


def _fields_problems(row: Raw) -> Iterator[str]:
    port = integer(row.get("port"))
    where = f"target {text(row.get('ip'))}:{'' if port is None else port}"
    for name in sorted(row.keys() - _TARGET.keys()):
        yield f"{where}: {name} is not a property of a target"
    for name in ("siteId", "port"):
        number = integer(row.get(name))
        if number is None or number < 1 or (name == "port" and number > 65535):
            yield f"{where}: {name} is missing or not a possible number"
    if not row.get("ip"):
        yield f"{where}: ip is missing"
    for name in sorted(row.keys() & _TARGET.keys() - {"siteId", "port"}):
        if row[name] is not None and not _has_type(row[name], _TARGET[name]):
            yield f"{where}: {name} is no {_TARGET[name]['type']}"


def _has_type(value: object, schema: Mapping[str, object]) -> bool:
    match schema.get("type"):
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case _:
            return integer(value) is not None


def differences(old: Raw, new: Raw) -> Iterator[tuple[str, bool]]:
    """Yield each property that differs, and whether it needs a new resource."""
    before, after = _normal(old), outputs(new)
    for name in _FIELDS:
        if before.get(name) != after.get(name):
            yield name, name == HOST


def outputs(properties: Raw) -> dict[str, object]:
    """Return what the engine stores of a resource that is as asked: each target once."""
    normal = _normal(properties)
    distinct = {repr(target): target for target in _targets(properties)}
    return {**normal, TARGETS: [*distinct.values()]}


def unfinished(properties: Raw) -> dict[str, object]:
    """Return what the engine stores of one that is not yet as asked, so that the next run updates.

    It has no targets in the state, so it differs from whatever the next run declares.
    """
    return {**_normal(properties), TARGETS: []}


def live_outputs(live: Live, state: Raw) -> dict[str, object]:
    """Return a live resource as the engine stores it.

    Args:
        live: The resource in Pangolin.
        state: What the engine knows of it; empty for an import.
    """
    host = text(state.get(HOST)) or live.host
    # The host says where the resource is; a base domain matters only if it results in another host.
    is_moved = live.host != host
    place = {} if is_moved else {name: state.get(name, live.fields.get(name)) for name in _PLACE}
    rows = [target.fields for target in live.targets]
    own = {HOST: host, TARGETS: rows, OBJECT: state.get(OBJECT)}
    return _normal({**live.fields, **place, **own})


def live_inputs(found: Raw, given: Raw) -> dict[str, object]:
    """Return the inputs that describe a live resource.

    Where nothing differs, they stay as the program wrote them.

    Args:
        found: What `live_outputs` returned.
        given: The inputs in the state; empty for an import.
    """
    if not given:
        return {**found}
    before = _normal(given)
    kept = {name: value for name, value in given.items() if before.get(name) == found.get(name)}
    return {**kept, **{name: it for name, it in found.items() if before.get(name) != it}}


def is_same(host: str, nice_id: str, state: Raw) -> bool:
    """Say whether a live resource is the one that the engine knows.

    An id alone does not say it: after a change of `pic:pangolinUrl`, another resource may have it.

    Args:
        host: The host of the live resource.
        nice_id: Its niceId.
        state: What the engine knows; empty for an import.
    """
    known = text(state.get(HOST)), text(state.get("niceId"))
    return not state or host == known[0] or nice_id == known[1]


def _normal(properties: Raw) -> dict[str, object]:
    texts = {name: text(properties.get(name)) for name in (HOST, "niceId", *_PLACE, OBJECT)}
    return {
        **{name: value for name, value in texts.items() if value},
        "sso": properties.get("sso") is not False,
        "blockAccess": properties.get("blockAccess") is True,
        "enabled": properties.get("enabled") is not False,
        TARGETS: _targets(properties),
    }


def _targets(properties: Raw) -> list[dict[str, object]]:
    rows = sequence(properties.get(TARGETS), TARGETS)
    return sorted((_target(mapping(row, "a target")) for row in rows), key=repr)


def _target(row: Raw) -> dict[str, object]:
    priority = integer(row.get("priority"))
    fields: Mapping[str, object] = {
        "siteId": integer(row.get("siteId")),
        "ip": text(row.get("ip")),
        "port": integer(row.get("port")),
        "method": text(row.get("method")) or "http",
        "enabled": row.get("enabled") is not False,
        **{name: text(row.get(name)) for name in ("path", "pathMatchType", *_CLEARED)},
        "priority": None if priority == DEFAULT_PRIORITY else priority,
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}
