"""Tests `pic drift` with Pi-hole as the target: lost DNS records, and a Pi-hole without an answer.

An alarm depends on these exit codes, so the tests run the whole verb: only the engine is a fake.
"""

import json
from pathlib import Path

import pytest

from dev.pihole.server import PiHole
from pic.engine.backend.state import StackState, StateRecord
from pic.settings.stack_file import StackFile
from tests.support.deploying import Capture, UseEngine
from tests.support.fakes import FakeEngine, run_pic

PASSWORD = "sesame-opens"  # noqa: S105 - only the Pi-hole of these tests has it
STATE = StackState(records={"web.lan/A": StateRecord("urn", "web.lan", "192.0.2.1")})

pytestmark = pytest.mark.usefixtures("api")


@pytest.fixture
def pihole(root: Path, engines: UseEngine) -> PiHole:
    """A Pi-hole without records, for a stack whose last deployment declared one."""
    server = PiHole(password=PASSWORD)
    engines(FakeEngine(root, {}, STATE))
    return server


def drift(capsys: Capture, root: Path, url: str, *words: str) -> tuple[int, str, str]:
    StackFile(root, "prod").merge(
        {"targets": "pihole", "piholeUrl": url, "piholeTargetIp": "192.0.2.1"}
    )
    return run_pic(capsys, "drift", *words, PIHOLE_PASSWORD=PASSWORD)


def test_a_lost_dns_record_is_drift(capsys: Capture, root: Path, pihole: PiHole) -> None:
    with pihole:
        text = drift(capsys, root, pihole.url, "--expect-no-changes")
        code, out, _ = drift(capsys, root, pihole.url, "--output", "json")

    assert text == (7, "- DNS record web.lan 192.0.2.1 is missing\n", "")
    assert code == 0
    assert json.loads(out)["records"] == [
        {"host": "web.lan", "kind": "missing", "declared": "192.0.2.1", "live": []}
    ]


def test_without_an_answer_of_pi_hole_drift_fails_and_says_why(
    capsys: Capture, root: Path, pihole: PiHole
) -> None:
    with pihole:
        url = pihole.url

    code, out, err = drift(capsys, root, url, "--expect-no-changes")
    _, document, _ = drift(capsys, root, url, "--output", "json")

    assert (code, out) == (5, "? pihole was not compared: it did not answer\n")
    assert json.loads(document) == {"version": 1, "drift": [], "notCompared": ["pihole"]}
    assert err == (
        f"pic: no answer from {url}: Connection refused; check that Pi-hole runs, and check"
        " pic:piholeUrl\n"
    )
