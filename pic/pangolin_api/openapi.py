"""Reads from openapi.json which routes and fields this Pangolin has.

The document names no version. Since 1.16, lists have `page` and `pageSize`; an older Pangolin would
take each list for one page. Newer versions have every path a second time as `public-resource`, and
tag the old ones as legacy. pic sends only fields that the document lists, because a Pangolin
refuses a whole body for one field that it does not know.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pic.core.errors import FailureClass, PangolinError
from pic.core.json_values import Raw

OLDEST = "1.16"
WORDS = ("public-resource", "resource")  # the newest first


@dataclass(frozen=True, slots=True)
class Dialect:
    """What this Pangolin can do. A caller may keep it, because only an update changes it.

    Attributes:
        word: What a resource is called in paths: `resource` or `public-resource`.
        create: The fields of a create.
        update: The fields of an update.
        target: The fields of a target.
    """

    word: str
    create: frozenset[str]
    update: frozenset[str]
    target: frozenset[str]


def read(document: object, url: str) -> Dialect:
    """Return the dialect of a server.

    Args:
        document: Its openapi.json.
        url: Its URL, for messages.

    Raises:
        PangolinError: It is no Pangolin, or too old.
    """
    paths = _map(_map(document).get("paths"))
    for word in WORDS:
        listing = _map(_map(paths.get(f"/org/{{orgId}}/{word}s")).get("get"))
        if listing:
            if "pageSize" not in _query(listing):
                break
            one = f"/{word}/{{resourceId}}"
            return Dialect(
                word,
                _body(paths, f"/org/{{orgId}}/{word}", "put"),
                _body(paths, one, "post"),
                _body(paths, f"{one}/target", "put"),
            )
    else:
        raise PangolinError(
            f"{url} is not the Integration API of Pangolin: its openapi.json has no resources."
            " Check pic:pangolinUrl",
            kind=FailureClass.INVALID,
        )
    raise PangolinError(
        f"the Pangolin at {url} is older than {OLDEST}, which pic needs: update Pangolin, or list"
        " pangolin instead of pangolin-api in pic:targets",
        kind=FailureClass.INVALID,
    )


def _map(value: object) -> Raw:
    return value if isinstance(value, dict) else {}


def _query(operation: Raw) -> set[object]:
    parameters = operation.get("parameters")
    rows = parameters if isinstance(parameters, list) else []
    return {_map(row).get("name") for row in rows}


def _body(paths: Raw, path: str, method: str) -> frozenset[str]:
    operation = _map(_map(paths.get(path)).get(method))
    content = _map(_map(operation.get("requestBody")).get("content"))
    return frozenset(_properties(_map(_map(content.get("application/json")).get("schema"))))


def _properties(schema: Raw) -> Iterator[str]:
    yield from _map(schema.get("properties"))
    # A resource is one of several kinds, so its schema has alternatives.
    for word in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(word)
        for part in parts if isinstance(parts, list) else ():
            yield from _properties(_map(part))
