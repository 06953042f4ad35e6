"""What differs live from the last deployment, and how it reads."""

from dataclasses import replace

from pic.core.model import LiveResource
from pic.core.names import STACK_LABEL
from pic.engine import drift
from pic.engine.backend.state import StackState
from pic.engine.drift import Drifted, Kind
from pic.planning.changes import FieldChange
from tests.support.deployed import (
    OURS,
    A,
    B,
    C,
    live,
    state,
    wanted,
)

GONE = Drifted(A, ("prod", "pic-a"), Kind.MISSING)
CHANGED = Drifted(
    B,
    ("prod", "pic-b"),
    Kind.CHANGED,
    (FieldChange("spec.enabled", old=False, new=True), FieldChange("spec.name", None, B)),
)
UNTRACKED = Drifted(C, ("prod", "pic-c"), Kind.UNTRACKED)


def edited(host: str) -> LiveResource:
    there = live(wanted(host))
    return replace(there, spec=replace(there.spec, enabled=False, name=None))


def test_nothing_differs_from_what_was_deployed_whatever_else_is_live() -> None:
    foreign = replace(live(wanted(C)), labels={STACK_LABEL: "pic.other"})

    assert drift.find(state(wanted(A)), (live(wanted(A)), foreign), OURS) == ()
    assert drift.find(StackState(), (), OURS) == ()


def test_what_is_gone_changed_or_unknown_is_told_by_host() -> None:
    there = (live(wanted(C)), edited(B))

    assert drift.find(state(wanted(B), wanted(A)), there, OURS) == (GONE, CHANGED, UNTRACKED)


def test_it_reads_as_lines() -> None:
    assert drift.text(()) == "Nothing differs from the last deployment."
    assert drift.text((GONE, CHANGED, UNTRACKED)) == (
        "- a.example.com (prod/pic-a) is gone\n"
        "~ b.example.com (prod/pic-b): spec.enabled: True is False; spec.name: 'b.example.com' is"
        " None\n"
        "? c.example.com (prod/pic-c) is ours, and no deployment has it"
    )


def test_it_is_json_with_a_version() -> None:
    assert drift.wire((GONE, CHANGED)) == {
        "version": 1,
        "drift": [
            {
                "host": A,
                "namespace": "prod",
                "name": "pic-a",
                "kind": "missing",
                "fields": [],
            },
            {
                "host": B,
                "namespace": "prod",
                "name": "pic-b",
                "kind": "changed",
                "fields": [
                    {"path": "spec.enabled", "declared": True, "live": False},
                    {"path": "spec.name", "declared": B, "live": None},
                ],
            },
        ],
    }
