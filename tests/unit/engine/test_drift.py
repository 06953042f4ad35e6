"""Tests which live objects differ from the last deployment, and how a report shows them."""

from dataclasses import replace

from pic.core.ingress import Deletion
from pic.core.model import LiveRecord, LiveResource
from pic.core.names import STACK_LABEL
from pic.engine import drift
from pic.engine.backend.state import StackState, StateRecord
from pic.engine.drift import Drift, DriftedObject, DriftedRecord, Kind
from pic.planning.changes import FieldChange
from pic.settings.parse import PiholeApi
from tests.support.deployed import OURS, A, B, C, make_live, make_situation, make_state, wanted
from tests.support.memories import forgetful

MEMORY = forgetful(OURS)
MISSING = DriftedObject(A, ("prod", "pic-a"), Kind.MISSING)
CHANGED = DriftedObject(
    B,
    ("prod", "pic-b"),
    Kind.CHANGED,
    (FieldChange("spec.enabled", old=False, new=True), FieldChange("spec.name", None, B)),
)
UNTRACKED = DriftedObject(C, ("prod", "pic-c"), Kind.UNTRACKED)


def edited(host: str) -> LiveResource:
    live = make_live(wanted(host))
    return replace(live, spec=replace(live.spec, enabled=False, name=None))


def test_objects_as_declared_and_foreign_objects_do_not_differ() -> None:
    foreign = replace(make_live(wanted(C)), labels={STACK_LABEL: "pic.other"})

    assert drift.find_objects(make_state(wanted(A)), (make_live(wanted(A)), foreign), MEMORY) == ()
    assert drift.find_objects(StackState(), (), MEMORY) == ()


def test_missing_changed_and_untracked_objects_are_sorted_by_host() -> None:
    objects = (make_live(wanted(C)), edited(B))

    assert drift.find_objects(make_state(wanted(B), wanted(A)), objects, MEMORY) == (
        MISSING,
        CHANGED,
        UNTRACKED,
    )


def test_an_object_that_is_being_deleted_differs() -> None:
    going = replace(make_live(wanted(A)), going=Deletion())

    drifted = drift.find_objects(make_state(wanted(A)), (going,), MEMORY)

    assert drifted == (DriftedObject(A, ("prod", "pic-a"), Kind.GOING),)
    assert drift.as_text(Drift(drifted)) == f"- {A} (prod/pic-a) is being deleted"


def test_the_drift_of_a_situation_has_objects_and_records() -> None:
    state = replace(
        make_state(wanted(A)), records={"r": StateRecord("urn", "nas.lan", "192.0.2.1")}
    )
    situation = make_situation((edited(B),), ())
    unmarked = LiveRecord("nas.lan", "192.0.2.1")
    snapshot = replace(situation.snapshot, records=(unmarked,))
    settings = replace(situation.settings, pihole_api=PiholeApi.DNS_LOCAL)

    everything = drift.find(state, replace(situation, snapshot=snapshot))
    without_markers = drift.find(
        state,
        replace(situation, snapshot=snapshot, config=replace(situation.config, settings=settings)),
    )

    untracked = DriftedObject(B, ("prod", "pic-b"), Kind.UNTRACKED)
    missing = DriftedRecord("nas.lan", Kind.MISSING, "192.0.2.1")
    assert everything == Drift((MISSING, untracked), (missing,))
    assert without_markers == Drift((MISSING, untracked))
    assert everything
    assert not drift.find(StackState(), make_situation((), ()))


def test_drift_as_text_is_one_line_for_each_object() -> None:
    assert drift.as_text(Drift()) == "Nothing differs from the last deployment."
    assert drift.as_text(Drift((MISSING, CHANGED, UNTRACKED))) == (
        "- a.example.com (prod/pic-a) is missing\n"
        "~ b.example.com (prod/pic-b): spec.enabled: declared true, live false; spec.name: declared"
        " b.example.com, live (absent)\n"
        "? c.example.com (prod/pic-c) belongs to this stack, but the last deployment did not"
        " declare it"
    )


def test_drift_as_json_has_a_version() -> None:
    assert drift.as_json(Drift((MISSING, CHANGED))) == {
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
