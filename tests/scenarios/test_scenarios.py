"""Manifests and settings in, the whole plan out: each YAML file here shows one rule."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypedDict

import pytest
import yaml

from pic.core.errors import PiholeError
from pic.core.model import LiveRecord, Schema, Unanswered
from pic.core.notices import Reason
from pic.planning import plan, serialise
from pic.planning.ownership import Ownership
from pic.run.stack_config import OFFLINE_STACK, stack_label
from pic.settings.parse import parse
from pic.snapshot import assemble, manifests, overlay, pangolin
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.branch import offline_snapshot

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "dev" / "examples"
SCENARIOS = sorted(HERE.glob("*.yaml"))
SCHEMAS = {
    "targets": pangolin.SCHEMA_TARGETS,
    "target": pangolin.SCHEMA_TARGET,
    "apex": Schema(subdomain_optional=True),
}

# These come from settings and state, which the plan does not see.
NOT_PLANNED = frozenset({Reason.SETTING_DIFFERS, Reason.UNTRACKED_ORPHAN})


class Scenario(TypedDict, total=False):
    """One file.

    `manifests` are the files of an offline plan. With `live`, the raw objects of a cluster, they
    are laid over those; kinds that are absent there were not looked at. `piholeRecords` are what
    Pi-hole has; with `piholeProblem` it did not answer.
    """

    what: str
    row: str
    settings: dict[str, object]
    schema: str
    stack: str
    live: str
    manifests: str
    piholeRecords: list[dict[str, object]]
    piholeProblem: str
    plan: dict[str, object]


@cache
@cache
def load(path: Path) -> Scenario:
    scenario: Scenario = yaml.safe_load(path.read_text(encoding="utf-8"))
    unknown = scenario.keys() - Scenario.__annotations__
    assert not unknown, f"{path.name} has unknown keys {unknown}"
    return scenario


def bodies(text: str) -> list[Mapping[str, object]]:
    return [each.body for each in manifests.parse(text, "scenario")]


def seen(scenario: Scenario) -> RawSnapshot:
    found = objects(scenario)
    if "piholeProblem" in scenario:
        url = str(scenario["settings"]["piholeUrl"])
        return replace(found, unanswered=Unanswered(url, PiholeError(scenario["piholeProblem"])))
    if "piholeRecords" in scenario:
        return replace(found, records=tuple(map(live_record, scenario["piholeRecords"])))
    return found


def live_record(raw: Mapping[str, object]) -> LiveRecord:
    return LiveRecord(
        host=str(raw["host"]),
        ip=str(raw["ip"]),
        ours=raw.get("ours") is True,
        alone=raw.get("alone") is not False,
    )


def objects(scenario: Scenario) -> RawSnapshot:
    legacy = scenario.get("settings", {}).get("resourceSchema") == "target"
    schema = SCHEMAS[scenario.get("schema", "target" if legacy else "targets")]
    files = assemble.from_documents(bodies(scenario.get("manifests", "")), schema)
    if "live" not in scenario:
        return files
    there: dict[str, list[Mapping[str, object]]] = {}
    for body in bodies(scenario["live"]):
        there.setdefault(str(body["kind"]), []).append(body)
    return overlay.overlay(RawSnapshot(there, schema=schema), files)


def planned(scenario: Scenario) -> object:
    settings, _ = parse(scenario.get("settings", {}), {})
    stack = scenario.get("stack")
    label = stack_label(stack or OFFLINE_STACK)
    earlier = stack_label(settings.adopt_from) if settings.adopt_from else ""
    ownership = Ownership(label if stack else "", adopt=settings.adopt, earlier=earlier)
    snapshot = assemble.snapshot(seen(scenario))
    return json.loads(json.dumps(serialise.plan(plan.build(snapshot, settings, label, ownership))))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_plan_is_as_the_scenario_says(path: Path) -> None:
    scenario = load(path)

    assert planned(scenario) == scenario["plan"], scenario["what"]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_says_what_it_shows_and_of_which_row(path: Path) -> None:
    scenario = load(path)

    assert scenario["what"].endswith(".")
    assert scenario["row"]


def test_every_reason_that_the_plan_can_give_is_in_a_scenario() -> None:
    plans = json.dumps([load(path)["plan"] for path in SCENARIOS])

    missing = {reason for reason in Reason if f'"{reason}"' not in plans}

    assert missing == NOT_PLANNED


@pytest.mark.parametrize(
    "folder", sorted(path for path in EXAMPLES.iterdir() if path.is_dir()), ids=lambda at: at.name
)
def test_the_plan_of_an_example_is_as_written_down(folder: Path) -> None:
    settings, _ = parse({}, {})
    snapshot = offline_snapshot([str(folder)], settings)

    found = plan.build(snapshot, settings, stack_label(OFFLINE_STACK), Ownership(""))

    expected = json.loads((HERE / "examples" / f"{folder.name}.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(serialise.plan(found))) == expected
