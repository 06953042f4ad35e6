"""Writes the history of a stack as the engine's backend of files keeps it."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pic.core.model import RECORD_TYPE, Resource
from tests.support.deployed import TYPE, state_resource, urn

START = 1_767_225_600  # 2026-01-01T00:00:00Z
FOLDER = ".pulumi/history/pic/prod"


def checkpoint(
    resources: Iterable[Resource], records: Mapping[str, str] | None = None
) -> dict[str, object]:
    """Return the state after a deployment of resources and of records, by their id."""
    entries: list[dict[str, object]] = [
        {
            "urn": urn(it.host),
            "type": TYPE,
            "id": "/".join(it.key),
            "inputs": dict(state_resource(it).inputs),
        }
        for it in resources
    ]
    entries += [
        {
            "urn": f"urn:pulumi:prod::pic::{RECORD_TYPE}::{name}",
            "type": RECORD_TYPE,
            "id": name,
            "outputs": {"host": name.rpartition("/")[0], "ip": ip},
        }
        for name, ip in (records or {}).items()
    ]
    return {"version": 3, "checkpoint": {"latest": {"resources": entries}}}


def write(  # noqa: PLR0913 - one argument for each thing that tests vary
    root: Path,
    number: int,
    *resources: Resource,
    records: Mapping[str, str] | None = None,
    message: str = "",
    time: object = None,
    counts: Mapping[str, int] | None = None,
    zipped: bool = False,
) -> None:
    """Write the entry of a deployment and the state after it."""
    info = {
        "kind": "update",
        "startTime": START + number * 60 if time is None else time,
        "message": message,
        "environment": {"git.head": "0123456789abcdef", "git.committer": "carol"},
        "result": "succeeded",
        "resourceChanges": {"same": 1} if counts is None else counts,
    }
    kinds = {"history": info, "checkpoint": checkpoint(resources, records)}
    for kind, document in kinds.items():
        name = f"prod-{number}.{kind}.json{'.gz' if zipped else ''}"
        content = json.dumps(document).encode()
        path = root / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content) if zipped else content)
