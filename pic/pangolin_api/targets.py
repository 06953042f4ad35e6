"""Compares targets, and makes their bodies. No I/O.

Every update of a target restarts its connection, and a field that is not sent may be reset. So pic
sends a target only if something differs, and then the whole of it, with what others have set.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pic.core.json_values import Raw
from pic.pangolin_api.model import Health, LiveTarget, Target

DEFAULT_PRIORITY = 100  # with it, Pangolin decides by the kind of the path
_KEY = ("siteId", "ip", "port", "method", "path", "pathMatchType")


@dataclass(frozen=True, slots=True)
class TargetChanges:
    """What has to be done, in this order.

    Attributes:
        creates: The bodies of new targets.
        updates: The ids of targets, with their whole bodies.
        deletes: The ids of targets.
        wait_for_health: Whether a target that stays is in the pool only when it is healthy, and
            another one goes.
    """

    creates: tuple[Raw, ...] = ()
    updates: tuple[tuple[int, Raw], ...] = ()
    deletes: tuple[int, ...] = ()
    wait_for_health: bool = False


def compare(
    live: Sequence[LiveTarget], wanted: Sequence[Target], fields: frozenset[str]
) -> TargetChanges:
    """Return the changes from live targets to wanted ones.

    A target whose address or path differs is another target: the new one comes before the old one
    goes.

    Args:
        live: The targets of Pangolin.
        wanted: The targets as they should be.
        fields: The fields of a target that this Pangolin has.
    """
    rest = list(live)
    is_checked = False
    creates: list[Raw] = []
    updates: list[tuple[int, Raw]] = []
    for target in dict.fromkeys(wanted):
        body = _body(target)
        match = next((row for row in rest if _key(row.fields) == _key(body)), None)
        is_checked |= bool(body.get("hcEnabled", match and match.fields.get("hcEnabled")))
        if match is None:
            creates.append(body)
            continue
        rest.remove(match)
        if any(_value(match.fields, name) != (value or None) for name, value in body.items()):
            kept = {name: match.fields[name] for name in fields & match.fields.keys()}
            updates.append((match.id, {**kept, **body}))
    deletes = tuple(row.id for row in rest)
    return TargetChanges(tuple(creates), tuple(updates), deletes, is_checked and bool(deletes))


def _key(fields: Raw) -> tuple[object, ...]:
    return tuple(_value(fields, name) for name in _KEY)


def _value(fields: Raw, name: str) -> object:
    # For Pangolin, an empty text or false is the same as null.
    return fields.get(name) or None


def _body(target: Target) -> Raw:
    return {
        "siteId": target.site_id,
        "ip": target.ip,
        "port": target.port,
        "method": target.method,
        "enabled": target.enabled,
        "path": target.path,
        "pathMatchType": target.match,
        "rewritePath": target.rewrite,
        "rewritePathType": target.rewrite_type,
        "priority": DEFAULT_PRIORITY if target.priority is None else target.priority,
        **(_health(target, target.health) if target.health else {}),
    }


def _health(target: Target, health: Health) -> Raw:
    if not health.enabled:
        return {"hcEnabled": False}
    interval = {} if health.interval is None else {"hcInterval": health.interval}
    return {
        "hcEnabled": True,
        "hcPath": health.path,
        "hcPort": health.port or target.port,
        "hcHostname": target.ip,
        "hcScheme": "https" if target.method == "https" else "http",
        "hcMode": "http",
        "hcMethod": "GET",
        **interval,
    }
