"""Checks that the alerts in deploy/monitoring use existing metrics, and that pages explain them."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pic.watch import metrics
from pic.watch.metrics import OUTCOMES, MetricValues
from pic.watch.probes import MaxAges

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "monitoring"
PAGE = (ROOT / "docs" / "monitoring.md").read_text()
ALERTS = (ROOT / "docs" / "operating.md").read_text()
NAMES = re.compile(r"\b(?:pic|process)_\w+")
STATES = {"declared", "held", "refused"}


def load(name: str) -> dict[str, Any]:
    manifest: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text())
    return manifest


RULES = [rule for group in load("rules.yaml")["spec"]["groups"] for rule in group["rules"]]


def metric_types() -> dict[str, str]:
    """Return the type of every metric, by name."""
    text = metrics.exposition(metrics.registry(lambda: MetricValues("1"))).decode()
    lines = (line.split() for line in text.splitlines() if line.startswith("# TYPE "))
    return {name: kind for _, _, name, kind in lines}


def samples() -> set[str]:
    """Return the sample names that an expression may use."""
    parts = ("_bucket", "_count", "_sum")
    kinds = metric_types().items()
    histograms = {f"{name}{part}" for name, kind in kinds if kind == "histogram" for part in parts}
    return {name for name, kind in kinds if kind != "histogram"} | histograms


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the table in a section of a page, without the header row."""
    section = page.split(f"## {heading}\n")[1].split("\n## ", maxsplit=1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_an_alert_uses_only_existing_metrics_and_labels(rule: dict[str, Any]) -> None:
    names = set(NAMES.findall(rule["expr"]))

    assert names
    assert names - samples() == set()
    for label, allowed in (("outcome", set(OUTCOMES)), ("state", STATES)):
        for values in re.findall(rf'{label}=~?"([^"]*)"', rule["expr"]):
            assert set(values.split("|")) - allowed == set()


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_an_alert_is_complete(rule: dict[str, Any]) -> None:
    assert sorted(rule) == ["alert", "annotations", "expr", "for", "labels"]
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert rule["annotations"]["summary"].endswith(".")
    assert rule["expr"].count("(") == rule["expr"].count(")")
    assert re.fullmatch(r"\d+[mh]", rule["for"])


def test_the_page_explains_every_alert_in_order() -> None:
    table = rows(ALERTS, "Alerts")

    assert [cells[0] for cells in table] == [f"`{rule['alert']}`" for rule in RULES]
    assert all(len(cells) == 3 and all(cells) for cells in table)


def test_the_page_explains_every_metric_with_its_type() -> None:
    types = {name.strip("`"): kind for name, kind, _ in rows(PAGE, "Metrics")}

    assert types == metric_types()


def test_the_page_states_the_maximum_ages() -> None:
    ages = MaxAges()

    assert f"within the last {ages.beat:.0f} s" in PAGE
    assert f"has not answered for {ages.contact:.0f} s" in PAGE
    assert f"first {ages.start:.0f} s there need not" in PAGE


def test_prometheus_scrapes_the_port_that_the_watcher_serves() -> None:
    spec = load("service-monitor.yaml")["spec"]
    service = yaml.safe_load((ROOT / "deploy" / "overlays" / "watch" / "service.yaml").read_text())

    assert spec["selector"]["matchLabels"] == service["metadata"]["labels"]
    assert [endpoint["port"] for endpoint in spec["endpoints"]] == [
        port["name"] for port in service["spec"]["ports"]
    ]
    assert {endpoint["path"] for endpoint in spec["endpoints"]} == {"/metrics"}
    assert sorted(load("kustomization.yaml")["resources"]) == ["rules.yaml", "service-monitor.yaml"]
