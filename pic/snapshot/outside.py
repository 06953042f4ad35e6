"""Lists the PangolinResources that the files of a branch add, change or remove.

pic plans PangolinResources from Ingresses. One in a file exposes its host as soon as kubectl
applies it, without a plan and without the guard, whatever labels it has.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pic.core.json_values import MalformedError, Raw, text
from pic.core.model import LiveResource, Target
from pic.core.outside import OutsideChange, OutsideExposure
from pic.settings.kinds import RESOURCE
from pic.snapshot import overlay, pangolin
from pic.snapshot.assemble import RawSnapshot, has_stack_label

OVERWRITES = "pic or another stack created the live object"
PRETENDS = "it has the labels of pic"

# The CRD sets them in the live object where a file leaves them out.
DEFAULT_METHOD, DEFAULT_PRIORITY = "http", 100

_Bodies = Mapping[tuple[str, str], Raw]


def exposures(
    live: RawSnapshot, *, new: RawSnapshot, old: RawSnapshot, removed: RawSnapshot
) -> tuple[OutsideExposure, ...]:
    """Return what a branch does to PangolinResources, sorted by host.

    Args:
        live: The cluster.
        new: The files of the branch.
        old: The same files on the target branch.
        removed: Files whose objects the branch deletes.
    """
    groups = _by_identity(live), _by_identity(new), _by_identity(old), _by_identity(removed)
    current, added, base, deleted = groups
    rows = [*_written(current, added, base), *_removed(current, added, {**deleted, **base})]
    return tuple(sorted(rows, key=lambda row: row.order))


def _by_identity(raw: RawSnapshot) -> _Bodies:
    resources = raw.objects.get(RESOURCE, ())
    return {overlay.key_of(RESOURCE, body): body for body in resources}


def _written(live: _Bodies, new: _Bodies, base: _Bodies) -> Iterator[OutsideExposure]:
    for key, body in new.items():
        before = live.get(key, base.get(key))
        # What the target branch already has is not a change of this branch.
        same = body == base[key] if key in base else before is not None and _equal(body, before)
        if not same:
            change = OutsideChange.ADDED if before is None else OutsideChange.CHANGED
            yield _exposure(change, body, before, live.get(key))


def _removed(live: _Bodies, new: _Bodies, old: _Bodies) -> Iterator[OutsideExposure]:
    for key in old.keys() - new.keys():
        body = live.get(key, old[key])
        yield _exposure(OutsideChange.REMOVED, body, body, live.get(key))


def _exposure(
    change: OutsideChange, body: Raw, before: Raw | None, live: Raw | None
) -> OutsideExposure:
    metadata = body.get("metadata")
    fields: Raw = metadata if isinstance(metadata, Mapping) else {}
    resource, problem = _parsed(body)
    return OutsideExposure(
        change,
        text(fields.get("namespace")),
        text(fields.get("name")),
        resource,
        _parsed(before)[0] if before else None,
        "; ".join(filter(None, (problem, _remark(body, live)))),
    )


def _parsed(body: Raw) -> tuple[LiveResource | None, str]:
    """Return a PangolinResource, or None and the reason why it cannot be read."""
    try:
        return pangolin.live_resource(body), ""
    except MalformedError as error:
        return None, str(error)


def _remark(body: Raw, live: Raw | None) -> str:
    if live and has_stack_label(live):
        return OVERWRITES
    return PRETENDS if has_stack_label(body) else ""


def _equal(body: Raw, live: Raw) -> bool:
    """Return whether a file says the same as the live object, in which fields have defaults."""
    new, _ = _parsed(body)
    old, _ = _parsed(live)
    return new is not None and old is not None and _shown(new) == _shown(old)


def _shown(resource: LiveResource) -> tuple[object, ...]:
    """Return what a reviewer cares about, with the defaults that the CRD sets."""
    spec = resource.spec
    flags = spec.enabled is not False, bool(spec.http.sso), bool(spec.http.block_access)
    return resource.host, flags, spec.tunnel, tuple(map(_defaulted, spec.targets))


def _defaulted(target: Target) -> Target:
    priority = DEFAULT_PRIORITY if target.priority is None else target.priority
    return replace(target, method=target.method or DEFAULT_METHOD, priority=priority)
