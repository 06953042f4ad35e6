"""Writes what should be in Pangolin as the properties of a resource of the engine, and reads them.

A property that is absent leaves a field of Pangolin as it is. No I/O.
"""

from collections.abc import Mapping

from pic.core.json_values import Raw, integer, mapping, sequence, text
from pic.pangolin_api.model import Target, Wanted


def encode(wanted: Wanted) -> dict[str, object]:
    """Return the properties of a resource.

    Raises:
        ValueError: The properties cannot say something that is asked for, such as a rule.
    """
    properties = _present(
        host=wanted.host,
        niceId=wanted.nice_id,
        domainId=wanted.domain_id,
        subdomain=wanted.subdomain,
        sso=wanted.sso,
        blockAccess=wanted.block,
        enabled=wanted.enabled,
        targets=[_target(target) for target in wanted.targets],
    )
    # What is lost on the way could be a restriction.
    if decode(properties) != wanted:
        raise ValueError(f"host {wanted.host}: the engine cannot carry all that is asked for")
    return properties


def decode(properties: Raw) -> Wanted:
    """Return what the properties of a resource ask for.

    A flag that is no boolean closes the host rather than opening it.

    Raises:
        MalformedError: A property has the wrong type.
    """
    rows = sequence(properties.get("targets"), "targets")
    return Wanted(
        host=text(properties.get("host")),
        nice_id=text(properties.get("niceId")),
        domain_id=text(properties.get("domainId")),
        subdomain=text(properties.get("subdomain")) or None,
        targets=tuple(_decoded(mapping(row, "targets[]")) for row in rows),
        sso=properties.get("sso") is not False,
        block=properties.get("blockAccess") not in (None, False),
        enabled=properties.get("enabled") in (None, True),
    )


def _target(target: Target) -> Mapping[str, object]:
    return _present(
        siteId=target.site_id,
        ip=target.ip,
        port=target.port,
        method=target.method,
        enabled=target.enabled,
        path=target.path,
        pathMatchType=target.match,
        priority=target.priority,
    )


def _decoded(row: Raw) -> Target:
    return Target(
        # The engine stores numbers as floats.
        integer(row.get("siteId")) or 0,
        text(row.get("ip")),
        integer(row.get("port")) or 0,
        text(row.get("method")) or "http",
        enabled=row.get("enabled") in (None, True),
        path=text(row.get("path")) or None,
        match=text(row.get("pathMatchType")) or None,
        priority=integer(row.get("priority")),
    )


def _present(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}
