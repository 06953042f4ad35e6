"""Tests how the driver deals with DNS records: imports, deletions and annotations."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pic.core.errors import PiholeError, RefusedError
from pic.core.held import Verdict
from pic.core.ingress import Ingress
from pic.core.model import LiveRecord, Owner, Plan, Record, Snapshot
from pic.core.unread import Unanswered
from pic.engine import driver, inline, repair
from pic.engine.backend.state import StackState, StateRecord
from pic.engine.outcome import Failure, Outcome
from pic.engine.result import DeployResult
from pic.planning import changes as comparing
from pic.planning.dns_requests import MANAGED_HOSTS
from pic.planning.memory import recall
from pic.run import fingerprint
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.run.targets import build_plan
from pic.settings.parse import PiholeApi, Settings, TargetName
from tests.support.deployed import CLUSTER, OURS, STACK, A, B
from tests.support.driving import IdentityTransport, ignore
from tests.support.fakes import DONE, FakeEngine, outputs_of

IP, OTHER = "10.0.0.1", "10.0.0.2"
SETTINGS = Settings(
    cluster_id=CLUSTER,
    targets=(TargetName.PIHOLE,),
    pihole_url="http://pi.hole",
    pihole_target_ip=IP,
    max_removals=9,
)
NO_ANSWER = PiholeError("no answer")
WEB = Owner("prod", "web", "uid-1")


class AnnotatedCluster(IdentityTransport):
    """An API server that records annotations."""

    def __init__(self) -> None:
        self.written: list[dict[str, str]] = []

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: Any) -> object:
        del method, path
        self.written.append(body["metadata"]["annotations"])
        return {}


def own_record(host: str, ip: str = IP) -> LiveRecord:
    return LiveRecord(host, ip, ours=True)


def make_state(*hosts: str) -> StackState:
    return StackState(
        records={f"{host}/A": StateRecord(f"urn::{host}/A", host, IP) for host in hosts}
    )


def make_situation(
    records: tuple[LiveRecord, ...] | None,
    *wanted: str,
    settings: Settings = SETTINGS,
    managed: str | None = None,
) -> Situation:
    hosts = ",".join(wanted) if managed is None else managed
    ingress = Ingress("prod", "web", "uid-1", annotations={MANAGED_HOSTS: hosts})
    snapshot = Snapshot(CLUSTER, (ingress,), records=records)
    if records is None:
        snapshot = replace(snapshot, unanswered=Unanswered("http://pi.hole", NO_ANSWER))
    plan = Plan(records=tuple(Record(host, IP, (WEB,)) for host in wanted))
    changes = comparing.between(snapshot, plan, STACK, recall(snapshot, OURS, settings))
    return Situation(
        StackConfig(settings, STACK, OURS, ()), AnnotatedCluster(), snapshot, plan, changes
    )


def make_engine(
    root: Path, situation: Situation, state: StackState, *outcomes: Outcome
) -> FakeEngine:
    return FakeEngine(root, {**outputs_of(situation), "digest": "other"}, state, *outcomes)


def steps(engine: FakeEngine) -> list[object]:
    return [entry for entry in engine.log if isinstance(entry, tuple)]


def test_a_record_that_an_interrupted_run_left_is_imported_and_then_deleted(tmp_path: Path) -> None:
    situation, messages = make_situation((own_record(A), own_record(B)), A), list[str]()
    engine = make_engine(tmp_path, situation, make_state(A))

    assert driver.up(engine, situation, messages.append) == DeployResult(situation.changes, DONE)
    assert steps(engine) == [
        ("up", {f"{A}/A": f"{A}/A", f"{B}/A": f"{B}/A"}),
        ("up", {f"{A}/A": f"{A}/A"}),
    ]
    assert messages == ["importing 1 object that an interrupted run left", "deploying"]


def test_without_markers_no_record_is_imported_for_deletion(tmp_path: Path) -> None:
    settings = replace(SETTINGS, pihole_api=PiholeApi.DNS_LOCAL)
    situation = make_situation((own_record(A), own_record(B)), A, settings=settings)
    engine = make_engine(tmp_path, situation, make_state(A))

    driver.up(engine, situation, ignore)

    assert steps(engine) == [("up", {f"{A}/A": f"{A}/A"})]


def unmarked(
    *hosts: str, wanted: str, settings: Settings = SETTINGS, legacy: bool = False
) -> Situation:
    """Return a situation in which only the state says which records in Pi-hole are ours."""
    annotations = {"pihole.io/register": "true", "pihole.io/hosts": wanted}
    records = tuple(LiveRecord(host, IP, ours=legacy, legacy=legacy) for host in hosts)
    snapshot = Snapshot(CLUSTER, (Ingress("prod", "web", "uid-1", annotations=annotations),))
    snapshot = replace(snapshot, records=records)
    plan = build_plan(snapshot, settings, STACK, OURS)
    changes = comparing.between(snapshot, plan, STACK, recall(snapshot, OURS, settings))
    return Situation(
        StackConfig(settings, STACK, OURS, ()), AnnotatedCluster(), snapshot, plan, changes
    )


def test_without_markers_the_records_of_the_state_are_ours(tmp_path: Path) -> None:
    situation = unmarked(A, wanted=A, settings=replace(SETTINGS, pihole_api=PiholeApi.DNS_LOCAL))
    engine = make_engine(tmp_path, situation, make_state(A))

    driver.up(engine, situation, ignore)

    assert (situation.plan.records, steps(engine)) == ((), [("up", {f"{A}/A": f"{A}/A"})])


def test_without_markers_the_guard_holds_the_records_of_the_state(tmp_path: Path) -> None:
    strict = replace(SETTINGS, pihole_api=PiholeApi.DNS_LOCAL, max_removals=0, max_removal_ratio=0)
    situation = unmarked(A, B, wanted=A, settings=strict)
    engine = make_engine(tmp_path, situation, make_state(A, B))

    result = driver.up(engine, situation, ignore)

    assert [(held.host, held.verdict) for held in result.changes.held] == [
        (f"{B}/A", Verdict.REMOVED)
    ]
    assert steps(engine) == [("up", {f"{A}/A": f"{A}/A", f"{B}/A": f"{B}/A"})]


def test_without_markers_no_run_removes_every_record_of_the_state(tmp_path: Path) -> None:
    settings = replace(SETTINGS, pihole_api=PiholeApi.DNS_LOCAL)
    situation = unmarked(A, B, wanted="", settings=settings)
    engine = make_engine(tmp_path, situation, make_state(A, B))

    with pytest.raises(RefusedError, match="All 2 live DNS records would be removed"):
        driver.up(engine, situation, ignore)
    assert steps(engine) == []


def test_24_without_a_state_an_annotated_record_is_imported_as_it_is(tmp_path: Path) -> None:
    local = replace(SETTINGS, pihole_api=PiholeApi.DNS_LOCAL)
    situation = unmarked(A, wanted=A, settings=local, legacy=True)
    engine = FakeEngine(tmp_path, None, make_state())

    driver.up(engine, situation, ignore)

    assert steps(engine) == [("up", {f"{A}/A": f"{A}/A"})]


def test_24_with_a_state_an_annotation_counts_no_more(tmp_path: Path) -> None:
    local = replace(SETTINGS, pihole_api=PiholeApi.DNS_LOCAL)
    situation = unmarked(A, wanted=A, settings=local, legacy=True)
    engine = make_engine(tmp_path, situation, make_state())

    driver.up(engine, situation, ignore)

    assert steps(engine) == [("up", {})]


def test_24_a_new_stack_neither_imports_nor_deletes_records_of_an_earlier_version(
    tmp_path: Path,
) -> None:
    situation = unmarked(A, B, wanted=A, legacy=True)
    engine = make_engine(tmp_path, situation, make_state())

    driver.up(engine, situation, ignore)

    assert (situation.plan.records[0].host, steps(engine)) == (A, [("up", {})])


def test_24_the_records_of_an_earlier_version_in_the_state_stay_ours(tmp_path: Path) -> None:
    situation = unmarked(A, B, wanted=A, legacy=True)
    engine = make_engine(tmp_path, situation, make_state(A, B))

    result = driver.up(engine, situation, ignore)

    assert [live.host for live in result.changes.records.removed] == [B]
    assert steps(engine) == [("up", {f"{A}/A": f"{A}/A"})]


def test_24_the_guard_holds_the_records_of_an_earlier_version_in_the_state(
    tmp_path: Path,
) -> None:
    strict = replace(SETTINGS, max_removals=0, max_removal_ratio=0)
    situation = unmarked(A, B, wanted=A, settings=strict, legacy=True)

    result = driver.up(make_engine(tmp_path, situation, make_state(A, B)), situation, ignore)

    assert [(held.host, held.verdict) for held in result.changes.held] == [
        (f"{B}/A", Verdict.REMOVED)
    ]


def test_24_a_destroy_lists_the_records_of_an_earlier_version_and_imports_none() -> None:
    situation = unmarked(A, B, wanted=A, legacy=True)

    removal = driver.full_removal(situation)

    assert [live.host for live in removal.records.removed] == [A, B]
    assert repair.stray_records(removal, StackState(), SETTINGS) == ()


def test_a_record_that_others_deleted_is_refreshed(tmp_path: Path) -> None:
    situation = make_situation((), A)
    engine = make_engine(tmp_path, situation, make_state(A))

    driver.up(engine, situation, ignore)

    assert steps(engine) == [("refresh", f"urn::{A}/A"), ("up", {f"{A}/A": ""})]


def moved_pihole(root: Path, *outcomes: Outcome) -> tuple[FakeEngine, Situation]:
    """Return an engine whose last deployment declared the records in another Pi-hole."""
    situation = make_situation((), A)
    former = {**fingerprint.conditions(situation), "piholeUrl": "http://former.hole"}
    outputs = {**outputs_of(situation), "deployed": former}
    return FakeEngine(root, outputs, make_state(A), Outcome(), *outcomes), situation


def test_records_move_to_another_pihole_in_two_passes(tmp_path: Path) -> None:
    engine, situation = moved_pihole(
        tmp_path,
        Outcome({"same": ["one"]}),
        Outcome({"refresh": ["one"]}),
        Outcome({"create": ["two"]}),
    )

    result = driver.up(engine, situation, ignore)

    declared = {f"{A}/A": ""}
    assert steps(engine) == [
        ("preview", declared),
        ("up", declared),
        ("refresh", f"urn::{A}/A"),
        ("up", declared),
    ]
    assert result.outcome == Outcome({"same": ["one"], "refresh": ["one"], "create": ["two"]})


@pytest.mark.parametrize("passes", [1, 2])
def test_a_failure_of_another_pihole_ends_the_run(tmp_path: Path, passes: int) -> None:
    failed = Outcome(failed_urns=["urn::x"])
    engine, situation = moved_pihole(tmp_path, *[Outcome()] * (passes - 1), failed)

    assert driver.up(engine, situation, ignore).outcome == failed
    assert len(steps(engine)) == passes + 1


def test_without_changes_only_the_annotations_are_repaired(tmp_path: Path) -> None:
    situation = make_situation((own_record(A),), A, managed="old.example.com")
    engine = FakeEngine(tmp_path, outputs_of(situation))

    result = driver.up(engine, situation, ignore)

    assert (result, result.all_failures) == (DeployResult(situation.changes), ())
    assert (steps(engine), written_annotations(situation)) == ([], [{MANAGED_HOSTS: A}])


def written_annotations(situation: Situation) -> list[dict[str, str]]:
    assert isinstance(situation.transport, AnnotatedCluster)
    return situation.transport.written


@pytest.mark.parametrize("same", [True, False])
def test_a_pihole_that_does_not_answer_is_in_the_result(tmp_path: Path, same: bool) -> None:  # noqa: FBT001
    situation = make_situation(None, A)
    engine = (
        FakeEngine(tmp_path, outputs_of(situation))
        if same
        else make_engine(tmp_path, situation, make_state(A))
    )

    result = driver.up(engine, situation, ignore)

    assert result == DeployResult(situation.changes, None if same else DONE, {"pihole": NO_ANSWER})
    assert (result.failures, result.all_failures) == (
        (),
        (Failure("", "no answer [temporary]", "pihole"),),
    )


def test_a_destroy_imports_missing_records_and_removes_the_annotations(
    tmp_path: Path,
) -> None:
    situation, messages = (
        acknowledged(make_situation((own_record(A), own_record(B)), A, B)),
        list[str](),
    )
    engine = make_engine(tmp_path, situation, make_state(A))

    result = driver.destroy(engine, situation, messages.append)

    assert result.outcome == DONE
    assert steps(engine) == [
        ("up", {f"{A}/A": f"{A}/A", f"{B}/A": f"{B}/A"}),
        ("destroy", {}),
    ]
    assert written_annotations(situation) == [{}]
    assert messages == ["importing 1 object that the state does not have", "deleting"]


def test_a_destroy_that_failed_keeps_the_annotations(tmp_path: Path) -> None:
    situation, failed = acknowledged(make_situation((own_record(A),), A)), Outcome()
    failed.add_line(
        '{"sequence":1,"timestamp":1,"resOpFailedEvent":{"metadata":{"urn":"x::y::z"}}}'
    )
    engine = make_engine(tmp_path, situation, make_state(A), failed)

    assert driver.destroy(engine, situation, ignore).outcome == failed
    assert written_annotations(situation) == []


def acknowledged(situation: Situation) -> Situation:
    digest = driver.full_removal(situation).digest
    settings = replace(situation.settings, acknowledge=digest)
    return replace(situation, config=replace(situation.config, settings=settings))


@pytest.mark.parametrize(
    ("records", "wanted", "parallel"),
    [((), (), 32), ((), (A,), 512), ((own_record(A),), (), 512)],
)
def test_a_run_with_records_takes_many_steps_at_once(
    records: tuple[LiveRecord, ...], wanted: tuple[str, ...], parallel: int
) -> None:
    situation = make_situation(records, *wanted)

    assert inline.declaring(situation).parallel == parallel
    assert inline.releasing(situation).parallel == parallel
