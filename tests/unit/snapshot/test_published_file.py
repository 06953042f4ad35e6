"""Tests what a snapshot file says of Pangolin itself."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pic.core.errors import ManifestError, PangolinError
from pic.core.published import BaseDomain, PublicResource, PublicTarget, Published, Site
from pic.core.unread import Silent
from pic.settings.parse import Settings, TargetName
from pic.snapshot import pangolin, snapshot_file
from pic.snapshot.assemble import RawSnapshot

SETTINGS = Settings(targets=(TargetName.PANGOLIN_API,))
OURS = PublicResource(
    7,
    "pic-prod-0a0a0a0a-1",
    "a.example.com",
    "a.example.com",
    sso=False,
    targets=(PublicTarget("web", 80, 1, enabled=True, health="healthy"),),
)
CLAIMED = PublicResource(8, "by-hand", "By hand", "b.example.com")
PUBLISHED = Published(
    "https://api.example.com",
    "home",
    (Site(1, "home", "Home", online=False),),
    (BaseDomain("d1", "example.com"), BaseDomain("d2", "one.example.net", exact=True)),
    (OURS, CLAIMED),
)
INGRESS = {
    "metadata": {"namespace": "prod", "name": "web", "uid": "1"},
    "spec": {"rules": [{"host": "B.example.com"}]},
}
RAW = RawSnapshot({"Ingress": [INGRESS]}, "cluster-1", published=PUBLISHED)


def read(text: str, settings: Settings = SETTINGS) -> RawSnapshot:
    return snapshot_file.read("-", settings, io.BytesIO(text.encode()))


def test_a_file_holds_what_planning_needs_and_no_resource_of_others() -> None:
    private = PublicResource(9, "private", "Private", "c.example.com")
    more = replace(PUBLISHED, resources=(OURS, private, CLAIMED))

    text = snapshot_file.render(replace(RAW, published=more), SETTINGS)
    raw = read(text)

    assert "Private" not in text
    assert (raw.published, raw.silent, raw.schema) == (PUBLISHED, None, pangolin.SCHEMA_API)


def test_a_file_says_why_pangolin_did_not_answer() -> None:
    silent = Silent("https://api.example.com", PangolinError("no answer"))

    raw = read(snapshot_file.render(replace(RAW, published=None, silent=silent), SETTINGS))

    assert raw.published is None
    assert raw.silent is not None
    assert (raw.silent.url, str(raw.silent.error)) == (silent.url, "no answer")


def changed(**changes: Any) -> str:
    content = json.loads(snapshot_file.render(RAW, SETTINGS))
    content["pangolin"].update(changes)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"sites": [[1]]}, "sites has a row that is too short"),
        ({"domains": {}}, "domains is a map, not a list"),
        ({"resources": [{"id": "x"}]}, "an id is not a number"),
        ({"silent": []}, "silent is a list, not a map"),
    ],
)
def test_a_file_of_another_shape_is_refused(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read(changed(**changes))

    assert f"pangolin cannot be read: {problem}" in str(caught.value)


def test_a_file_for_other_targets_is_refused(tmp_path: Path) -> None:
    del tmp_path
    with_pihole = replace(SETTINGS, targets=(TargetName.PIHOLE,))
    with pytest.raises(ManifestError) as caught:
        read(snapshot_file.render(RAW, SETTINGS), with_pihole)
    assert "also has the contents of Pangolin" in str(caught.value)

    with pytest.raises(ManifestError) as caught:
        read(snapshot_file.render(RAW, with_pihole), SETTINGS)
    assert "lacks the contents of Pangolin" in str(caught.value)
