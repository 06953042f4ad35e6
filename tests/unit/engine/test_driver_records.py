"""How the driver deals with DNS records: found again, given up, annotated, or not known."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pic.cluster.listing import IDENTITY
from pic.core.errors import PiholeError, RefusedError
from pic.core.ingress import Ingress
from pic.core.model import (
    LiveRecord,
    Owner,
    Plan,
    Record,
    Snapshot,
    Unanswered,
)
from pic.engine import driver
from pic.engine.backend.state import RememberedRecord, StackState
from pic.engine.driver import DeployResult
from pic.engine.outcome import Failure, Outcome
from pic.planning import changes
from pic.planning.dns_records import MANAGED_HOSTS
from pic.run import fingerprint
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.run.targets import build_plan
from pic.settings.parse import PiholeApi, Settings, TargetName
from tests.support.deployed import (
    CLUSTER,
    OURS,
    STACK,
    A,
    B,
    NoApi,
)
from tests.support.fakes import DONE, FakeEngine, outputs_of

IP, OTHER = "10.0.0.1", "10.0.0.2"
SETTINGS = Settings(
    cluster_id=CLUSTER,
    targets=(TargetName.PIHOLE,),
    pihole_url="http://pi.hole",
    pihole_target_ip=IP,
    max_removals=9,
)
AWAY = PiholeError("it is away")
WEB = Owner("prod", "web", "uid-1")


class Api(NoApi):
    """An API server that knows who it is, and takes annotations."""

    def __init__(self) -> None:
        self.written: list[dict[str, str]] = []

    def get(self, path: str) -> object:
        return {"metadata": {"uid": CLUSTER}} if path == IDENTITY else super().get(path)

    def request(self, method: str, path: str, body: Any) -> object:
        del method, path
        self.written.append(body["metadata"]["annotations"])
        return {}


def live(host: str, ip: str = IP) -> LiveRecord:
    return LiveRecord(host, ip, ours=True)


def state(*hosts: str) -> StackState:
    return StackState(
        records={f"{host}/A": RememberedRecord(f"urn::{host}/A", host, IP) for host in hosts}
    )


def situation(
    there: tuple[LiveRecord, ...] | None,
    *wanted: str,
    settings: Settings = SETTINGS,
    managed: str | None = None,
) -> Situation:
    hosts = ",".join(wanted) if managed is None else managed
    ingress = Ingress("prod", "web", "uid-1", annotations={MANAGED_HOSTS: hosts})
    snapshot = Snapshot(CLUSTER, (ingress,), records=there)
    if there is None:
        snapshot = replace(snapshot, unanswered=Unanswered("http://pi.hole", AWAY))
    planned = Plan(records=tuple(Record(host, IP, (WEB,)) for host in wanted))
    found = changes.between(snapshot, planned, STACK, OURS)
    return Situation(StackConfig(settings, STACK, OURS, ()), Api(), snapshot, planned, found)


def silent(_: str) -> None:
    """Tell nobody."""


def engine(root: Path, known: Situation, memory: StackState, *ends: Outcome) -> FakeEngine:
    return FakeEngine(root, {**outputs_of(known), "digest": "other"}, memory, *ends)


def steps(made: FakeEngine) -> list[object]:
    return [each for each in made.log if isinstance(each, tuple)]


def test_what_an_interrupted_run_has_left_is_taken_up_and_then_dropped(tmp_path: Path) -> None:
    known, told = situation((live(A), live(B)), A), list[str]()
    made = engine(tmp_path, known, state(A))

    assert driver.up(made, known, told.append) == DeployResult(known.changes, DONE)
    assert steps(made) == [
        ("up", {f"{A}/A": f"{A}/A", f"{B}/A": f"{B}/A"}),
        ("up", {f"{A}/A": f"{A}/A"}),
    ]
    assert told == ["importing 1 objects that an interrupted run left", "deploying"]


def test_without_markers_nothing_is_taken_up(tmp_path: Path) -> None:
    settings = replace(SETTINGS, pihole_api=PiholeApi.DNS_LOCAL)
    known = situation((live(A), live(B)), A, settings=settings)
    made = engine(tmp_path, known, state(A))

    driver.up(made, known, silent)

    assert steps(made) == [("up", {f"{A}/A": f"{A}/A"})]


def unmarked(*hosts: str, wanted: str, settings: Settings) -> Situation:
    """Return a situation in which Pi-hole has records, and nothing but the engine knows whose."""
    asked = {"pihole.io/register": "true", "pihole.io/hosts": wanted}
    there = tuple(LiveRecord(host, IP) for host in hosts)
    snapshot = Snapshot(CLUSTER, (Ingress("prod", "web", "uid-1", annotations=asked),))
    snapshot = replace(snapshot, records=there)
    planned = build_plan(snapshot, settings, STACK, OURS)
    found = changes.between(snapshot, planned, STACK, OURS)
    return Situation(StackConfig(settings, STACK, OURS, ()), Api(), snapshot, planned, found)


def test_without_markers_what_the_engine_remembers_is_ours(tmp_path: Path) -> None:
    known = unmarked(A, wanted=A, settings=replace(SETTINGS, pihole_api=PiholeApi.DNS_LOCAL))
    made = engine(tmp_path, known, state(A))

    driver.up(made, known, silent)

    assert (known.plan.records, steps(made)) == ((), [("up", {f"{A}/A": f"{A}/A"})])


def test_without_markers_the_guard_counts_what_the_engine_remembers(tmp_path: Path) -> None:
    strict = replace(SETTINGS, pihole_api=PiholeApi.DNS_LOCAL, max_removals=0, max_removal_ratio=0)
    known = unmarked(A, B, wanted=A, settings=strict)
    made = engine(tmp_path, known, state(A, B))

    with pytest.raises(RefusedError, match="1 of 2 DNS records would be removed"):
        driver.up(made, known, silent)
    assert steps(made) == []


def test_a_record_that_others_have_deleted_is_read_anew(tmp_path: Path) -> None:
    known = situation((), A)
    made = engine(tmp_path, known, state(A))

    driver.up(made, known, silent)

    assert steps(made) == [("refresh", f"urn::{A}/A"), ("up", {f"{A}/A": ""})]


def moving(root: Path, *ends: Outcome) -> tuple[FakeEngine, Situation]:
    """Return an engine whose records were declared in another Pi-hole."""
    known = situation((), A)
    former = {**fingerprint.means(known), "piholeUrl": "http://former.hole"}
    passed = {**outputs_of(known), "deployed": former}
    return FakeEngine(root, passed, state(A), Outcome(), *ends), known


def test_another_pi_hole_is_read_once_the_engine_knows_the_way(tmp_path: Path) -> None:
    made, known = moving(tmp_path, Outcome({"same": ["one"]}), DONE, Outcome({"create": ["two"]}))

    result = driver.up(made, known, silent)

    again = {f"{A}/A": ""}
    assert steps(made) == [
        ("preview", again),
        ("up", again),
        ("refresh", f"urn::{A}/A"),
        ("up", again),
    ]
    assert result.outcome == Outcome({"create": ["two"], "same": ["one"]})


@pytest.mark.parametrize("passes", [1, 2])
def test_another_pi_hole_that_fails_ends_the_run(tmp_path: Path, passes: int) -> None:
    failing = Outcome(_failed=["urn::x"])
    made, known = moving(tmp_path, *[Outcome()] * (passes - 1), failing)

    assert driver.up(made, known, silent).outcome == failing
    assert len(steps(made)) == passes + 1


def test_without_changes_only_the_annotations_are_repaired(tmp_path: Path) -> None:
    known = situation((live(A),), A, managed="old.example.com")
    made = FakeEngine(tmp_path, outputs_of(known))

    result = driver.up(made, known, silent)

    assert (result, result.reported) == (DeployResult(known.changes), ())
    assert (steps(made), written(known)) == ([], [{MANAGED_HOSTS: A}])


def written(known: Situation) -> list[dict[str, str]]:
    assert isinstance(known.transport, Api)
    return known.transport.written


@pytest.mark.parametrize("same", [True, False])
def test_a_pihole_that_does_not_answer_is_in_the_result(tmp_path: Path, same: bool) -> None:  # noqa: FBT001
    known = situation(None, A)
    made = FakeEngine(tmp_path, outputs_of(known)) if same else engine(tmp_path, known, state(A))

    result = driver.up(made, known, silent)

    assert result == DeployResult(known.changes, None if same else DONE, {"pihole": AWAY})
    assert (result.failures, result.reported) == (
        (),
        (Failure("", "it is away [temporary]", "pihole"),),
    )


def test_a_destroy_takes_up_what_is_forgotten_and_takes_the_annotations_away(
    tmp_path: Path,
) -> None:
    known, told = acknowledged(situation((live(A), live(B)), A, B)), list[str]()
    made = engine(tmp_path, known, state(A))

    result = driver.destroy(made, known, told.append)

    assert result.outcome == DONE
    assert steps(made) == [
        ("up", {f"{A}/A": f"{A}/A", f"{B}/A": f"{B}/A"}),
        ("destroy", {}),
    ]
    assert written(known) == [{}]
    assert told == ["importing 1 objects that the state does not have", "deleting"]


def test_a_destroy_that_failed_keeps_the_annotations(tmp_path: Path) -> None:
    known, failed = acknowledged(situation((live(A),), A)), Outcome()
    failed.feed('{"sequence":1,"timestamp":1,"resOpFailedEvent":{"metadata":{"urn":"x::y::z"}}}')
    made = engine(tmp_path, known, state(A), failed)

    assert driver.destroy(made, known, silent).outcome is failed
    assert written(known) == []


def acknowledged(known: Situation) -> Situation:
    digest = driver.everything(known).digest
    settings = replace(known.settings, acknowledge=digest)
    return replace(known, config=replace(known.config, settings=settings))
