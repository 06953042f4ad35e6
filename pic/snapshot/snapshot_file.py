"""Writes what a run read from the cluster to a file, and reads such a file.

With a snapshot file, a run can plan without access to the cluster: for example on a pull request
from a fork. Everyone who sees the pull request may see the file. So it contains only what planning
reads (`pic.snapshot.projection`), our records in Pi-hole, and the records of others for hosts that
an Ingress requests.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NoReturn

from pic.core.errors import ManifestError, PiholeError, SettingsError
from pic.core.json_values import MalformedError, Raw, text
from pic.core.model import LiveRecord, Maker
from pic.core.operator_objects import Schema
from pic.core.published import Published
from pic.core.unread import Silent, Unanswered
from pic.planning import dns_requests
from pic.settings import permissions
from pic.settings.parse import Settings, TargetName
from pic.snapshot import assemble, pangolin, projection, published_file
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.bounded_reading import MIB, read_file, read_stream

VERSION = 1
KIND = "pic snapshot"
STDIN = "-"
# The file of a cluster with 100,000 hosts has a quarter of it.
LARGEST = 256 * MIB
NEXT_STEP = "run pic snapshot --out FILE to write a new one"

_SCHEMA = {
    "singleTarget": "single_target",
    "subdomainOptional": "subdomain_optional",
    "tunnelNamespace": "tunnel_namespace",
    "protection": "protection",
}
# Absent in files of earlier versions.
_LATER_SCHEMA = {"domainId": "domain_id"}
_RECORD = {"host": str, "ip": str, "ours": bool, "alone": bool}
# Present only if true, so files of earlier versions can be read.
_OPTIONAL = {"legacy": bool, "maker": str}
_MAKERS = frozenset(map(str, Maker))


def render(raw: RawSnapshot, settings: Settings) -> str:
    """Return the text of a snapshot file: ASCII, one object per line, sorted.

    Args:
        raw: What the run read.
        settings: The settings of that run. The file records what they list, because a run with
            other settings may need more.
    """
    head = {
        "kind": KIND,
        "version": VERSION,
        "clusterId": raw.cluster_id,
        **({"now": raw.now} if raw.now else {}),
        "schema": {
            key: getattr(raw.schema, name) for key, name in {**_SCHEMA, **_LATER_SCHEMA}.items()
        },
        "listings": listing_names(settings),
    }
    kinds = ",\n".join(_section(kind, raw.objects[kind]) for kind in sorted(raw.objects))
    pihole = _pihole(raw, settings) if TargetName.PIHOLE in settings.targets else ""
    pangolin_api = _pangolin_api(raw) if settings.publishes else ""
    return f'{json.dumps(head)[:-1]}, {pangolin_api}{pihole}"objects": {{\n{kinds}\n}}}}\n'


def _pangolin_api(raw: RawSnapshot) -> str:
    """Return what Pangolin has, or why it did not answer."""
    hosts = {rule.host.lower() for it in assemble.snapshot(raw).ingresses for rule in it.rules}
    return f'"pangolin": {json.dumps(published_file.content(raw, frozenset(hosts)))}, '


def _pihole(raw: RawSnapshot, settings: Settings) -> str:
    """Return the records in Pi-hole, one per line, or why Pi-hole did not answer."""
    why = raw.unanswered and {"url": raw.unanswered.url, "problem": str(raw.unanswered.error)}
    head = f'"unanswered": {json.dumps(why)}, "records": '
    if raw.records is None:
        return f"{head}null, "
    snapshot = assemble.snapshot(raw)
    needed = dns_requests.requested_hosts(snapshot.ingresses, settings)
    # Where Pi-hole's interface has no markers, the register says which records are ours.
    for register in (snapshot.registers or {}).values():
        needed |= {entry.host for entry in register.records.values()}
    records = (
        json.dumps({key: getattr(record, key) for key in _keys(record)})
        for record in raw.records
        # Other records are private to the network of the Pi-hole, and planning does not need them.
        if record.ours or record.host in needed
    )
    lines = ",\n".join(sorted(records))
    answers = {host: raw.shadows[host] for host in sorted(raw.shadows) if host in needed}
    shadows = f'"shadows": {json.dumps(answers)}, ' if answers else ""
    return f"{head}[\n{lines}\n], {shadows}"


def _keys(record: LiveRecord) -> Iterable[str]:
    return (*_RECORD, *(key for key in _OPTIONAL if getattr(record, key)))


def _section(kind: str, bodies: Iterable[Raw]) -> str:
    project = projection.PROJECTIONS[kind]
    # Each line starts with namespace and name, so sorting the text sorts the objects.
    lines = ",\n".join(sorted(json.dumps(project(body)) for body in bodies))
    return f"{json.dumps(kind)}: [\n{lines}\n]"


def write(text: str, path: Path) -> None:
    """Write the text to a snapshot file.

    A full disk can cut the file off. The rest is not valid JSON, so `read` refuses it.

    Raises:
        SettingsError: The file cannot be written.
    """
    try:
        path.write_text(text, encoding="ascii")
    except OSError as error:
        raise SettingsError([f"{path} cannot be written: {error.strerror}"]) from error


def listing_names(settings: Settings) -> list[str]:
    """Return what a run with these settings lists, such as `services in prod`."""
    return sorted(
        str(permission).removeprefix("list ")
        for permission in permissions.read_permissions(settings)
        if permission.verb == "list" and not permission.optional
    )


def read(path: str, settings: Settings, stdin: BinaryIO) -> RawSnapshot:
    """Read a snapshot file, or standard input for `-`.

    Raises:
        ManifestError: The file is not a snapshot, has another version, or was written for settings
            that list something else.
    """
    where = "stdin" if path == STDIN else path
    content = _decoded(where, _bytes(path, stdin))
    _check_settings(where, content, settings)
    cluster_id = content.get("clusterId")
    if not isinstance(cluster_id, str):
        _refuse(where, "clusterId is not text")
    # As in a run on the cluster, pic:resourceSchema wins over the CRD.
    fixed = pangolin.fixed_schema(settings.resource_schema)
    fixed = pangolin.SCHEMA_API if settings.publishes else fixed
    published, silent = _published(where, content)
    return RawSnapshot(
        _objects(where, content.get("objects")),
        cluster_id,
        fixed or _schema(where, content.get("schema")),
        _records(where, content.get("records")),
        _unanswered(where, content.get("unanswered")),
        text(content.get("now")),
        shadows=_shadows(where, content.get("shadows")),
        published=published,
        silent=silent,
    )


def _published(where: str, content: Raw) -> tuple[Published | None, Silent | None]:
    if "pangolin" not in content:
        return None, None
    try:
        return published_file.read(content["pangolin"])
    except MalformedError as error:
        _refuse(where, f"pangolin cannot be read: {error}")


def _bytes(path: str, stdin: BinaryIO) -> str | bytes:
    try:
        return read_stream(stdin, LARGEST) if path == STDIN else read_file(path, LARGEST)
    except OSError as error:
        raise ManifestError(path, f"cannot be read: {error.strerror}; {NEXT_STEP}") from error


def _decoded(where: str, data: str | bytes) -> Raw:
    try:
        content = json.loads(data)
    except json.JSONDecodeError as error:
        problem = f"the file is not JSON, or it was cut off; {NEXT_STEP}"
        raise ManifestError(f"{where}:{error.lineno}", problem) from error
    except (ValueError, RecursionError) as error:
        raise ManifestError(where, f"the file is not JSON; {NEXT_STEP}") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        _refuse(where, "the file is not a snapshot of pic")
    version = content.get("version")
    if version != VERSION:
        _refuse(where, f"the file has version {json.dumps(version)}, but pic reads {VERSION}")
    return content


def _check_settings(where: str, content: Raw, settings: Settings) -> None:
    listings = content.get("listings")
    if not isinstance(listings, list) or not all(isinstance(name, str) for name in listings):
        _refuse(where, "listings is not a list of texts")
    # A snapshot with more than a run reads is refused too: objects of other namespaces could claim
    # hosts.
    written, needed = set(listings), set(listing_names(settings))
    differences = [
        *(f"lacks {name}" for name in sorted(needed - written)),
        *(f"also has {name}" for name in sorted(written - needed)),
        *_target_differences(content, settings),
    ]
    if differences:
        _refuse(where, f"the file was written for other settings: it {', '.join(differences)}")


def _target_differences(content: Raw, settings: Settings) -> Iterator[str]:
    written, needed = "records" in content, TargetName.PIHOLE in settings.targets
    if written != needed:
        yield f"{'also has' if written else 'lacks'} the records of Pi-hole"
    if ("pangolin" in content) != settings.publishes:
        yield f"{'lacks' if settings.publishes else 'also has'} the contents of Pangolin"


def _records(where: str, value: object) -> tuple[LiveRecord, ...] | None:
    if value is None:
        return None
    items = value if isinstance(value, list) else [None]
    records = [item if isinstance(item, dict) else {} for item in items]
    if not all(record.keys() - _OPTIONAL.keys() == _RECORD.keys() for record in records):
        _refuse(where, f"records is not a list of maps with {', '.join(_RECORD)}")
    kinds = {**_RECORD, **_OPTIONAL}
    values = (item for record in records for item in record.items())
    if not all(isinstance(value, kinds[key]) for key, value in values):
        _refuse(where, "records contains a value of the wrong type")
    if any(record.get("maker", "") not in _MAKERS for record in records):
        _refuse(where, "records contains an unknown maker")
    return tuple(
        LiveRecord(**{**record, "maker": Maker(record.get("maker", ""))}) for record in records
    )


def _shadows(where: str, value: object) -> Mapping[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        _refuse(where, "shadows is not a map of texts")
    return value


def _unanswered(where: str, value: object) -> Unanswered | None:
    if value is None:
        return None
    why = value if isinstance(value, dict) else {}
    url, problem = why.get("url"), why.get("problem")
    if not isinstance(url, str) or not isinstance(problem, str):
        _refuse(where, "unanswered is not a map with url, problem")
    return Unanswered(url, PiholeError(problem))


def _schema(where: str, value: object) -> Schema:
    flags = value if isinstance(value, dict) else {}
    present = {**_SCHEMA, **{key: name for key, name in _LATER_SCHEMA.items() if key in flags}}
    if not all(isinstance(flags.get(key), bool) for key in present):
        _refuse(where, f"schema is not a map with {', '.join(present)}")
    return Schema(**{name: flags[key] for key, name in present.items()})


def _objects(where: str, value: object) -> Mapping[str, Sequence[Raw]]:
    kinds: dict[str, Sequence[Raw]] = value if isinstance(value, dict) else {"": ()}
    for kind, bodies in kinds.items():
        is_list = isinstance(bodies, list) and all(isinstance(body, dict) for body in bodies)
        if kind not in projection.PROJECTIONS or not is_list:
            _refuse(where, f"objects is not a map of lists of {', '.join(projection.PROJECTIONS)}")
    return kinds


def _refuse(where: str, problem: str) -> NoReturn:
    raise ManifestError(where, f"{problem}; {NEXT_STEP}")
