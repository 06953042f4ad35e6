"""The snapshot file: what one run read from the cluster, for a run that may not read it.

It holds what planning looks at (`kept`) and nothing else, since whoever sees a pull request may
see it. Of Pi-hole that is our records, and those of others for hosts that an Ingress asks for.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NoReturn

from pic.core.errors import ManifestError, PiholeError, SettingsError
from pic.core.json_values import Raw
from pic.core.model import LiveRecord, Schema, Unanswered
from pic.planning import dns_records
from pic.settings import permissions
from pic.settings.parse import Settings, TargetName
from pic.snapshot import assemble, pangolin, projection
from pic.snapshot.assemble import RawSnapshot

VERSION = 1
KIND = "pic snapshot"
STDIN = "-"
NEXT_STEP = "pic snapshot --out FILE writes a new one"

_SCHEMA = {
    "singleTarget": "single_target",
    "subdomainOptional": "subdomain_optional",
    "tunnelNamespace": "tunnel_namespace",
    "protection": "protection",
}
_RECORD = {"host": str, "ip": str, "ours": bool, "alone": bool}


def render(seen: RawSnapshot, settings: Settings) -> str:
    """Return the text of a file: ASCII, an object a line, whatever the order they were listed in.

    Args:
        seen: What was read.
        settings: What it was read for; other settings may need other listings.
    """
    head = {
        "kind": KIND,
        "version": VERSION,
        "clusterId": seen.cluster_id,
        "schema": {key: getattr(seen.schema, name) for key, name in _SCHEMA.items()},
        "listings": listing_names(settings),
    }
    kinds = ",\n".join(_section(kind, seen.objects[kind]) for kind in sorted(seen.objects))
    pihole = _pihole(seen, settings) if TargetName.PIHOLE in settings.targets else ""
    return f'{json.dumps(head)[:-1]}, {pihole}"objects": {{\n{kinds}\n}}}}\n'


def _pihole(seen: RawSnapshot, settings: Settings) -> str:
    """Return what Pi-hole has, a record a line, or why that is not known."""
    why = seen.unanswered and {"url": seen.unanswered.url, "problem": str(seen.unanswered.error)}
    head = f'"unanswered": {json.dumps(why)}, "records": '
    if seen.records is None:
        return f"{head}null, "
    asked = dns_records.requested_hosts(assemble.snapshot(seen).ingresses, settings)
    shown = (
        json.dumps({"host": each.host, "ip": each.ip, "ours": each.ours, "alone": each.alone})
        for each in seen.records
        # What people have in their Pi-hole besides is nobody's business.
        if each.ours or each.host in asked
    )
    lines = ",\n".join(sorted(shown))
    return f"{head}[\n{lines}\n], "


def _section(kind: str, found: Iterable[Raw]) -> str:
    # Namespace and name come first in a line.
    lines = ",\n".join(sorted(json.dumps(projection.PROJECTIONS[kind](each)) for each in found))
    return f"{json.dumps(kind)}: [\n{lines}\n]"


def write(text: str, path: Path) -> None:
    """Write a document; one that a full disk has cut off is no JSON, so nobody reads half of it.

    Raises:
        SettingsError: It cannot be written.
    """
    try:
        path.write_text(text, encoding="ascii")
    except OSError as error:
        raise SettingsError([f"{path} cannot be written: {error.strerror}"]) from error


def listing_names(settings: Settings) -> list[str]:
    """Return what these settings list, as RBAC names it; Events are no part of a snapshot."""
    needed = (each for each in permissions.reading(settings) if each.verb == "list")
    return sorted(str(each).removeprefix("list ") for each in needed if each.resource != "events")


def read(path: str, settings: Settings, stdin: BinaryIO) -> RawSnapshot:
    """Read a snapshot file, or standard input for `-`.

    Raises:
        ManifestError: It is none, is of another version, or was written for other settings.
    """
    where = "stdin" if path == STDIN else path
    found = _decoded(where, _bytes(path, stdin))
    _check_settings(where, found, settings)
    cluster_id = found.get("clusterId")
    if not isinstance(cluster_id, str):
        _refuse(where, "clusterId is no text")
    schema = pangolin.fixed_schema(settings.resource_schema) or _schema(where, found.get("schema"))
    return RawSnapshot(
        _objects(where, found.get("objects")),
        cluster_id,
        schema,
        _records(where, found.get("records")),
        _unanswered(where, found.get("unanswered")),
    )


def _bytes(path: str, stdin: BinaryIO) -> bytes:
    try:
        return stdin.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise ManifestError(path, f"cannot be read: {error.strerror}; {NEXT_STEP}") from error


def _decoded(where: str, data: bytes) -> Raw:
    try:
        found = json.loads(data)
    except json.JSONDecodeError as error:
        problem = f"it is not JSON, or was cut off; {NEXT_STEP}"
        raise ManifestError(f"{where}:{error.lineno}", problem) from error
    except (ValueError, RecursionError) as error:
        raise ManifestError(where, f"it is not JSON; {NEXT_STEP}") from error
    if not isinstance(found, dict) or found.get("kind") != KIND:
        _refuse(where, "it is no snapshot of pic")
    version = found.get("version")
    if version != VERSION:
        _refuse(where, f"it has version {json.dumps(version)}, and this pic reads {VERSION}")
    return found


def _check_settings(where: str, found: Raw, settings: Settings) -> None:
    written = found.get("listings")
    if not isinstance(written, list) or not all(isinstance(each, str) for each in written):
        _refuse(where, "listings is no list of texts")
    there, wanted = set(written), set(listing_names(settings))
    differences = [
        *(f"lacks {each}" for each in sorted(wanted - there)),
        *(f"also has {each}" for each in sorted(there - wanted)),
        *_other_targets(found, settings),
    ]
    if differences:
        _refuse(where, f"it was written for other settings: it {', '.join(differences)}")


def _other_targets(found: Raw, settings: Settings) -> Iterator[str]:
    there, wanted = "records" in found, TargetName.PIHOLE in settings.targets
    if there != wanted:
        yield f"{'also has' if there else 'lacks'} the records of Pi-hole"


def _records(where: str, found: object) -> tuple[LiveRecord, ...] | None:
    if found is None:
        return None
    listed = found if isinstance(found, list) else [None]
    raws = [each if isinstance(each, dict) else {} for each in listed]
    if not all(each.keys() == _RECORD.keys() for each in raws):
        _refuse(where, f"records is not a list of maps of {', '.join(_RECORD)}")
    if not all(isinstance(each[key], kind) for each in raws for key, kind in _RECORD.items()):
        _refuse(where, "records has a value of another kind")
    return tuple(LiveRecord(**each) for each in raws)


def _unanswered(where: str, found: object) -> Unanswered | None:
    if found is None:
        return None
    why = found if isinstance(found, dict) else {}
    url, problem = why.get("url"), why.get("problem")
    if not isinstance(url, str) or not isinstance(problem, str):
        _refuse(where, "unanswered is not a map of url, problem")
    return Unanswered(url, PiholeError(problem))


def _schema(where: str, found: object) -> Schema:
    flags = found if isinstance(found, dict) else {}
    if not all(isinstance(flags.get(key), bool) for key in _SCHEMA):
        _refuse(where, f"schema is not a map of {', '.join(_SCHEMA)}")
    return Schema(**{name: flags[key] for key, name in _SCHEMA.items()})


def _objects(where: str, found: object) -> Mapping[str, Sequence[Raw]]:
    kinds: dict[str, Sequence[Raw]] = found if isinstance(found, dict) else {"": ()}
    for kind, raws in kinds.items():
        whole = isinstance(raws, list) and all(isinstance(each, dict) for each in raws)
        if kind not in projection.PROJECTIONS or not whole:
            _refuse(where, f"objects is not a map of lists of {', '.join(projection.PROJECTIONS)}")
    return kinds


def _refuse(where: str, problem: str) -> NoReturn:
    raise ManifestError(where, f"{problem}; {NEXT_STEP}")
