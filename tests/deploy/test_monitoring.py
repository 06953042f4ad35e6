"""The alerts in deploy/monitoring and their pages: about metrics that exist, each explained."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pic.watch import metrics
from pic.watch.metrics import OUTCOMES, Figures
from pic.watch.probes import MaxAges

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "monitoring"
PAGE = (ROOT / "docs" / "monitoring.md").read_text()
ALERTS = (ROOT / "docs" / "operating.md").read_text()
NAMES = re.compile(r"\b(?:pic|process)_\w+")
STATES = {"declared", "held", "refused"}


def load(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text())
    return found


RULES = [rule for group in load("rules.yaml")["spec"]["groups"] for rule in group["rules"]]


def exposed() -> dict[str, str]:
    """Return the type of every metric, by name."""
    text = metrics.text(metrics.registry(lambda: Figures("1"))).decode()
    lines = (line.split() for line in text.splitlines() if line.startswith("# TYPE "))
    return {name: kind for _, _, name, kind in lines}


def samples() -> set[str]:
    """Return the names that an expression may use."""
    parts = ("_bucket", "_count", "_sum")
    kinds = exposed().items()
    wide = {f"{name}{part}" for name, kind in kinds if kind == "histogram" for part in parts}
    return {name for name, kind in kinds if kind != "histogram"} | wide


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the table in a section of a page, without its head."""
    section = page.split(f"## {heading}\n")[1].split("\n## ", maxsplit=1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("rule", RULES, ids=[each["alert"] for each in RULES])
def test_an_alert_names_only_what_is_there(rule: dict[str, Any]) -> None:
    used = set(NAMES.findall(rule["expr"]))

    assert used
    assert used - samples() == set()
    for label, known in (("outcome", set(OUTCOMES)), ("state", STATES)):
        for values in re.findall(rf'{label}=~?"([^"]*)"', rule["expr"]):
            assert set(values.split("|")) - known == set()


@pytest.mark.parametrize("rule", RULES, ids=[each["alert"] for each in RULES])
def test_an_alert_is_whole(rule: dict[str, Any]) -> None:
    assert sorted(rule) == ["alert", "annotations", "expr", "for", "labels"]
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert rule["annotations"]["summary"].endswith(".")
    assert rule["expr"].count("(") == rule["expr"].count(")")
    assert re.fullmatch(r"\d+[mh]", rule["for"])


def test_every_alert_is_explained_in_its_order() -> None:
    explained = rows(ALERTS, "Alerts")

    assert [cells[0] for cells in explained] == [f"`{each['alert']}`" for each in RULES]
    assert all(len(cells) == 3 and all(cells) for cells in explained)


def test_every_metric_is_explained_with_its_type() -> None:
    explained = {name.strip("`"): kind for name, kind, _ in rows(PAGE, "Metrics")}

    assert explained == exposed()


def test_the_page_names_the_ages_that_are_allowed() -> None:
    usual = MaxAges()

    assert f"within the last {usual.beat:.0f} s" in PAGE
    assert f"has not answered for {usual.contact:.0f} s" in PAGE
    assert f"first {usual.start:.0f} s there need not" in PAGE


def test_what_is_scraped_is_what_is_served() -> None:
    spec = load("service-monitor.yaml")["spec"]
    service = yaml.safe_load((ROOT / "deploy" / "overlays" / "watch" / "service.yaml").read_text())

    assert spec["selector"]["matchLabels"] == service["metadata"]["labels"]
    assert [each["port"] for each in spec["endpoints"]] == [
        each["name"] for each in service["spec"]["ports"]
    ]
    assert {each["path"] for each in spec["endpoints"]} == {"/metrics"}
    assert sorted(load("kustomization.yaml")["resources"]) == ["rules.yaml", "service-monitor.yaml"]
