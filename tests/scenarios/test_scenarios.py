"""Plans each scenario of this folder: one YAML file with manifests, settings and the whole plan.

Each scenario shows one rule.
"""

import json
from pathlib import Path

import pytest

from pic.core.notices import Reason
from pic.planning import serialise
from pic.planning.ownership import Ownership
from pic.run.stack_config import OFFLINE_STACK, stack_label
from pic.run.targets import build_plan
from pic.settings.parse import parse
from pic.snapshot import assemble
from pic.snapshot.branch import offline_snapshot
from tests.support.scenarios import SCENARIOS, Scenario, load, raw_snapshot

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "dev" / "examples"

AREAS = {
    *("adoption", "annotations", "backends", "deletion", "files", "holding", "hosts", "malformed"),
    *("merging", "naming", "ownership", "paths", "pihole", "register", "selection", "tunnels"),
}

# These notices come from settings and state, which are not part of a plan.
NOT_PLANNED = frozenset({Reason.NO_LONGER_OURS, Reason.SETTING_DIFFERS, Reason.UNTRACKED_ORPHAN})


def planned(scenario: Scenario) -> object:
    settings, _ = parse(scenario.get("settings", {}), {})
    stack = scenario.get("stack")
    label = stack_label(stack or OFFLINE_STACK)
    earlier = stack_label(settings.adopt_from) if settings.adopt_from else ""
    ownership = Ownership(
        label if stack else "",
        adopt=settings.adopt,
        earlier=earlier,
        stack_id=settings.stack_id,
    )
    snapshot = assemble.snapshot(raw_snapshot(scenario))
    return json.loads(json.dumps(serialise.plan(build_plan(snapshot, settings, label, ownership))))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_plan_of_a_scenario_is_the_expected_one(path: Path) -> None:
    scenario = load(path)

    assert planned(scenario) == scenario["plan"], scenario["what"]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_states_its_rule_and_its_area(path: Path) -> None:
    scenario = load(path)

    assert scenario["what"].endswith(".")
    assert scenario["area"] in AREAS


def test_a_scenario_shows_every_reason_that_a_plan_can_have() -> None:
    plans = json.dumps([load(path)["plan"] for path in SCENARIOS])

    missing = {reason for reason in Reason if f'"{reason}"' not in plans}

    assert missing == NOT_PLANNED


@pytest.mark.parametrize(
    "folder",
    sorted(path for path in EXAMPLES.iterdir() if path.is_dir()),
    ids=lambda folder: folder.name,
)
def test_the_plan_of_an_example_is_the_expected_one(folder: Path) -> None:
    settings, _ = parse({}, {})
    snapshot = offline_snapshot([str(folder)], settings, complete=True)

    plan = build_plan(snapshot, settings, stack_label(OFFLINE_STACK), Ownership(""))

    expected = json.loads((HERE / "examples" / f"{folder.name}.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(serialise.plan(plan))) == expected
