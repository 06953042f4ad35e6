"""Loads the scenarios of tests/scenarios: manifests and settings in, the expected plan out."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

import yaml

from pic.core.errors import PiholeError
from pic.core.files import FilesRead, SkippedFile
from pic.core.model import LiveRecord, Maker
from pic.core.operator_objects import Schema
from pic.core.unread import Unanswered
from pic.snapshot import assemble, manifests, overlay, pangolin
from pic.snapshot.assemble import RawSnapshot

FOLDER = Path(__file__).parents[1] / "scenarios"
SCENARIOS = sorted(FOLDER.glob("*.yaml"))
CLUSTER = "cluster-1"
SCHEMAS = {
    "targets": pangolin.SCHEMA_TARGETS,
    "target": pangolin.SCHEMA_TARGET,
    "apex": Schema(subdomain_optional=True),
}


class Scenario(TypedDict, total=False):
    """One file.

    Attributes:
        what: The rule that it shows, in one or more sentences.
        area: The part of planning that it belongs to.
        manifests: The files of an offline plan, or of a branch if there are live objects.
        live: The raw objects of a cluster. A kind without an object was not read, except for the
            ConfigMaps of a register whose namespace the settings name.
        piholeRecords: The records in Pi-hole.
        piholeShadows: What Pi-hole answers for a host in place of its record.
        piholeProblem: Why Pi-hole did not answer.
        now: The time of the reading.
        files: The fields of `FilesRead`, for an offline plan that says something about its files.
    """

    what: str
    area: str
    settings: dict[str, object]
    schema: str
    stack: str
    live: str
    manifests: str
    piholeRecords: list[dict[str, object]]
    piholeShadows: dict[str, str]
    piholeProblem: str
    now: str
    files: dict[str, Any]
    plan: dict[str, object]


@cache
def load(path: Path) -> Scenario:
    scenario: Scenario = yaml.safe_load(path.read_text(encoding="utf-8"))
    unknown = scenario.keys() - Scenario.__annotations__
    assert not unknown, f"{path.name} has unknown keys {unknown}"
    return scenario


def raw_snapshot(scenario: Scenario) -> RawSnapshot:
    """Return what a run reads in a scenario: from the cluster, from files and from Pi-hole."""
    raw = replace(_objects(scenario), now=scenario.get("now", ""), files=_files(scenario))
    if "piholeProblem" in scenario:
        url = str(scenario["settings"]["piholeUrl"])
        return replace(raw, unanswered=Unanswered(url, PiholeError(scenario["piholeProblem"])))
    if "piholeRecords" in scenario:
        records = tuple(map(_live_record, scenario["piholeRecords"]))
        return replace(raw, records=records, shadows=scenario.get("piholeShadows", {}))
    return raw


def _files(scenario: Scenario) -> FilesRead | None:
    if "files" not in scenario:
        return None
    fields = dict(scenario["files"])
    fields["skipped"] = tuple(SkippedFile(**file) for file in fields.get("skipped", ()))
    fields["kustomizations"] = tuple(fields.get("kustomizations", ()))
    return FilesRead(**fields)


def _objects(scenario: Scenario) -> RawSnapshot:
    legacy = scenario.get("settings", {}).get("resourceSchema") == "target"
    schema = SCHEMAS[scenario.get("schema", "target" if legacy else "targets")]
    files = assemble.from_documents(_bodies(scenario.get("manifests", "")), schema)
    if "live" not in scenario:
        return assemble.as_live(files)
    live: dict[str, list[Mapping[str, object]]] = {}
    for body in _bodies(scenario["live"]):
        live.setdefault(str(body["kind"]), []).append(body)
    if "registerNamespace" in scenario.get("settings", {}):
        live.setdefault("ConfigMap", [])
    return overlay.lay_over(RawSnapshot(live, CLUSTER, schema), files)


def _bodies(text: str) -> list[Mapping[str, object]]:
    return [document.body for document in manifests.parse(text, "scenario")]


def _live_record(values: Mapping[str, object]) -> LiveRecord:
    return LiveRecord(
        host=str(values["host"]),
        ip=str(values["ip"]),
        ours=values.get("ours") is True,
        alone=values.get("exclusive") is not False,
        legacy=values.get("legacy") is True,
        maker=Maker(str(values.get("maker", ""))),
    )
