"""Tests what lets held changes through, and when time alone does."""

from dataclasses import replace
from datetime import timedelta

from pic.core.held import Verdict, digest_of_all
from pic.core.model import Plan, Snapshot
from pic.core.notices import Notice, Reason, Ref
from pic.core.register import GoneBy
from pic.planning.changes import between
from pic.planning.memory import recall
from pic.settings.parse import Settings
from tests.support.memories import OURS, entry
from tests.support.tenants import RECENTLY, STACK, cluster, ingress, live, places, plan, settled

A, B, C = "a.example.com", "b.example.com", "c.example.com"
WORLD = cluster(
    [ingress(A, B)],
    [live(A, sso=True), live(B, sso=True)],
    [entry(A, sso=True), entry(B, sso=True)],
)
FIRST, SECOND = (it.digest for it in plan(WORLD).held)


def waiting(acknowledge: str, world: Snapshot = WORLD) -> list[str]:
    return [it.host for it in plan(world, settled(acknowledge=acknowledge)).held]


def unused(digest: str) -> Notice:
    return Notice(
        Reason.ACKNOWLEDGEMENT_UNUSED,
        Ref("Setting", "", "acknowledge"),
        f"{digest} fits nothing that waits: it was used, or something has changed",
    )


def reported(acknowledge: str) -> tuple[Notice, ...]:
    notices = plan(WORLD, settled(acknowledge=acknowledge)).notices
    return tuple(it for it in notices if it.reason is Reason.ACKNOWLEDGEMENT_UNUSED)


def test_an_acknowledgement_lets_exactly_its_change_through() -> None:
    assert waiting("") == [A, B]
    assert waiting(FIRST) == [B]
    assert waiting(f"{FIRST},{SECOND}") == []
    assert [len(digest) for digest in (FIRST, SECOND)] == [16, 16]


def test_one_digest_acknowledges_all_that_waits_and_nothing_more() -> None:
    everything = digest_of_all([SECOND, FIRST])
    more = cluster([ingress(A, B, C)], [*WORLD.live, live(C, sso=True)], map(entry, (A, B, C)))

    assert waiting(everything) == []
    assert waiting(everything, more) == [A, B, C]


def test_what_else_changes_does_not_void_an_acknowledgement() -> None:
    more = cluster(
        [ingress(A, C, sso="false")],
        [live(A, sso=True), live(B)],
        [entry(A, sso=True), entry(B)],
    )

    assert waiting(FIRST, more) == []


def test_a_digest_of_a_whole_run_acknowledges_everything() -> None:
    """Earlier releases printed such digests, of 12 characters, and so does a refusal."""
    hosts = [f"h{at}.example.com" for at in range(7)]
    world = cluster(
        [ingress(hosts[6])], [live(host, sso=True) for host in hosts], map(entry, hosts)
    )
    before = plan(replace(world, registers=None), Settings(max_removals=9, max_weakened=9))
    memory = recall(replace(world, registers=None), OURS, Settings())
    digest = between(world, before, STACK, memory).digest

    assert len(digest) == 12
    assert len(plan(world, settled()).held) == 7
    acknowledged = plan(world, settled(acknowledge=digest))
    assert (places(acknowledged), acknowledged.held) == ({hosts[6]: "prod"}, ())
    assert acknowledged.notices == ()


def test_an_acknowledgement_that_fits_nothing_is_reported() -> None:
    other = "0123456789abcdef"

    assert reported(FIRST) == ()
    assert reported(f"{FIRST},{other},") == (unused(other),)
    assert reported(f"{other},ffff") == (unused(other), unused("ffff"))
    assert waiting(f"{other}") == [A, B]


GONE = entry(A, gone=RECENTLY, gone_by=GoneBy.KUBERNETES)
CLAIMED = cluster([ingress(A, namespace="team")], (), [GONE])


def test_a_host_that_is_gone_may_move_when_its_reservation_ends() -> None:
    def next_change(world: Snapshot, **fields: object) -> str:
        return plan(world, settled(**fields)).next_change

    assert next_change(CLAIMED) == "2026-01-02T12:00:00Z"
    assert next_change(CLAIMED, move_after=timedelta(hours=13)) == "2026-01-02T01:00:00Z"
    # One that is not gone waits for an acknowledgement alone.
    assert next_change(cluster([ingress(A, namespace="team")], (), [entry(A)])) == ""
    assert next_change(WORLD) == ""


def test_the_first_of_several_times_counts() -> None:
    other = entry(B, gone="2026-01-01T06:00:00Z", gone_by=GoneBy.PIC)
    two = cluster([ingress(A, B, namespace="team")], (), [GONE, other])

    assert plan(two).next_change == "2026-01-02T06:00:00Z"


def test_a_plan_of_files_alone_is_not_judged() -> None:
    planned = plan(WORLD, Settings(), replace(OURS, stack=""))

    assert (planned.held, planned.register, planned.notices) == ((), None, ())
    assert [resource.spec.http.sso for resource in planned.resources] == [False, False]


def test_held_changes_are_sorted_by_host_and_verdict() -> None:
    planned: Plan = plan(WORLD)

    assert [(it.host, it.verdict) for it in planned.held] == [
        (A, Verdict.WEAKENED),
        (B, Verdict.WEAKENED),
    ]
    assert [it.message for it in planned.notices] == [
        f"{host} keeps its login: no Ingress asks for its login any more: Ingress prod/web has no"
        " annotation sso. This waits for an"
        " acknowledgement"
        for host in (A, B)
    ]
