"""Reads from the history of a stack what each deployment did.

A backend of files keeps for each run its entry and the state after it. Two states that follow each
other say what changed. At any time only two of them are in memory.
"""

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pic.core.errors import EngineError
from pic.core.json_values import Raw, mapping, text
from pic.core.model import HttpConfig, Spec, Target
from pic.engine.backend import state, stores
from pic.engine.backend.state import StackState, StateResource
from pic.engine.backend.stores import Store
from pic.pangolin_api import inputs as public
from pic.planning import changes
from pic.planning.past import Deployment, Happening, What
from pic.report.review import access
from pic.run import provenance
from pic.snapshot import pangolin

# Names as in `pic.engine.backend.history`.
_NAME = r"{}-(\d+)\.(history|checkpoint)\.json(\.gz)?"
# A state of 10,000 hosts has 60 MB. A file that expands to more is no state of pic.
LARGEST = 512 * 2**20
_GZIP = 16 + zlib.MAX_WBITS


@dataclass
class Reading:
    """What the history says, as far as it was read.

    Attributes:
        remarks: What could not be read.
    """

    deployments: list[Deployment] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read(backend_url: str, project: str, stack: str, most: int) -> Reading:
    """Read the newest deployments of a stack.

    Args:
        backend_url: As the CLI knows it.
        project: The project of the stack.
        stack: The name of the stack, without its project.
        most: How many deployments to read.
    """
    reading, folder = Reading(), f"history/{project}/{stack}"
    try:
        with stores.open_store(backend_url) as store:
            if isinstance(store, stores.NoStore):
                reading.remarks.append(
                    "the backend is a service that keeps the deployments itself: only the register"
                    f" is shown; pulumi stack history --stack {stack} lists them"
                )
                return reading
            _read(store, folder, _entries(store.names(folder), stack, most), reading)
    except EngineError as error:
        reading.remarks.append(f"the history of the stack cannot be read: {error}")
    return reading


def _entries(names: list[str], stack: str, most: int) -> dict[int, dict[str, str]]:
    """Return the names of the newest entries by their number and their kind, in their order."""
    pattern, entries = re.compile(_NAME.format(re.escape(stack))), dict[int, dict[str, str]]()
    for name in sorted(names):
        if match := pattern.fullmatch(name):
            entries.setdefault(int(match[1]), {})[match[2]] = name
    return {number: entries[number] for number in sorted(entries)[-most:]}


def _read(
    store: Store, folder: str, entries: Mapping[int, Mapping[str, str]], reading: Reading
) -> None:
    before: StackState | None = None
    unreadable = 0
    for number, names in entries.items():
        try:
            info = _document(store, folder, names.get("history", ""))
            after = _state(_document(store, folder, names.get("checkpoint", "")))
            deployment = _deployment(number, info)
            known = StackState() if before is None and _is_first(info) else before
            did = list(_between(known, after, deployment) if known else _earlier(after))
        except (ValueError, zlib.error):
            unreadable += 1
            continue
        reading.deployments.append(deployment)
        reading.happenings += did
        before = after
    if unreadable:
        noun = "deployment" if unreadable == 1 else "deployments"
        reading.remarks.append(
            f"{unreadable} {noun} cannot be read; the next readable one shows what they did"
        )


def _document(store: Store, folder: str, name: str) -> Raw:
    """Return a file of the history.

    Raises:
        ValueError: It is gone, too large, or no JSON.
    """
    content = store.read(folder, name) if name else None
    if content is None:
        raise ValueError(f"{name} is gone")
    if name.endswith(".gz"):
        expander = zlib.decompressobj(_GZIP)
        content = expander.decompress(content, LARGEST)
        if not expander.eof:
            raise ValueError(f"{name} is too large")
    return mapping(json.loads(content), name)


def _state(document: Raw) -> StackState:
    checkpoint = mapping(document.get("checkpoint"), "checkpoint")
    # A stack without resources has no deployment.
    return state.read({"deployment": checkpoint.get("latest")})


def _is_first(info: Raw) -> bool:
    """Say whether a deployment found nothing that an earlier one had made."""
    counts = mapping(info.get("resourceChanges"), "resourceChanges")
    return bool(counts) and set(counts) <= {"create", "import", "read"}


def _deployment(number: int, info: Raw) -> Deployment:
    metadata = mapping(info.get("environment"), "environment")
    told = provenance.read(
        text(info.get("message")), {key: text(value) for key, value in metadata.items()}
    )
    time = _time(info.get("startTime"))
    return Deployment(number, time, text(info.get("result"))[: provenance.LONGEST], *told)


def _time(seconds: object) -> str:
    """Return a time in RFC 3339; empty for one that no clock shows."""
    if not isinstance(seconds, int) or seconds <= 0:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""


def _earlier(after: StackState) -> Iterator[Happening]:
    """Yield what is older than every deployment that the backend has."""
    for host, resource in sorted(after.resources.items()):
        access_ = access(_spec(resource))
        yield Happening("", host, What.EXPOSED, "/".join(resource.key), access_)
    for _, record in sorted(after.records.items()):
        yield Happening("", record.host, What.EXPOSED, record.ip, is_record=True)


def _between(before: StackState, after: StackState, deployment: Deployment) -> Iterator[Happening]:
    """Yield what a deployment did, sorted by host."""
    for host in sorted(before.resources.keys() | after.resources.keys()):
        if happening := _of_host(host, before, after, deployment):
            yield happening
    for name in sorted(before.records.keys() | after.records.keys()):
        old, new = before.records.get(name), after.records.get(name)
        record = new or old
        if record and (old is None or new is None or old.ip != new.ip):
            what = What.REMOVED if new is None else What.CHANGED if old else What.EXPOSED
            fields = (changes.FieldChange("ip", old.ip, new.ip),) if old and new else ()
            yield Happening(
                *(deployment.time, record.host, what, record.ip),
                fields=fields,
                deployment=deployment,
                is_record=True,
            )


def _of_host(
    host: str, before: StackState, after: StackState, deployment: Deployment
) -> Happening | None:
    """Return what a deployment did to a host; None for nothing."""
    old, new = before.resources.get(host), after.resources.get(host)
    if new is None:
        place = "/".join(old.key) if old else ""
        return Happening(deployment.time, host, What.REMOVED, place, deployment=deployment)
    if old and old.key == new.key and _content(old) == _content(new):
        return None
    spec, place = _spec(new), "/".join(new.key)
    fields = tuple(changes.spec_changes(spec, _spec(old))) if old else ()
    what = What.CHANGED if old else What.EXPOSED
    if old and old.key[0] != new.key[0]:
        what, place = What.MOVED, f"{'/'.join(old.key)} → {place}"
    return Happening(
        *(deployment.time, host, what, place, access(spec), fields), deployment=deployment
    )


def _content(resource: StateResource) -> object:
    """Return what a deployment declared, without what belongs to Kubernetes only."""
    return resource.inputs.get("spec", resource.inputs)


def _spec(resource: StateResource) -> Spec:
    """Parse what a deployment declared for a host.

    Raises:
        MalformedError: It is neither a PangolinResource nor a resource in Pangolin itself.
    """
    if "spec" in resource.inputs:
        return pangolin.live_resource(resource.inputs).spec
    wanted = public.decode(resource.inputs)
    targets = (Target(it.ip, it.port, it.method, it.path, it.match) for it in wanted.targets)
    http = HttpConfig(sso=wanted.sso, block_access=wanted.block)
    return Spec(enabled=wanted.enabled, http=http, targets=tuple(targets))
