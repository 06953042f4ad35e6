"""Tests which changes of DNS records need an acknowledgement, and which never do."""

from dataclasses import replace

import pytest

from pic.core.held import Verdict
from pic.core.ingress import Ingress, Rule
from pic.core.model import LiveRecord, Plan, Snapshot
from pic.core.notices import Notice, Reason, Ref
from pic.core.register import GoneBy, RecordEntry
from pic.planning import dns_records
from pic.planning.dns_requests import REGISTER
from pic.planning.notice_log import NoticeLog
from pic.settings.parse import Settings, Tenants
from tests.support.memories import register
from tests.support.tenants import PIHOLE, RECENTLY, SINCE, cluster, held, plan, settled

IP, OTHER = "192.0.2.1", "192.0.2.9"
HOSTS = [f"h{at:02}.lan" for at in range(12)]
A = HOSTS[0]
TOO_MANY = (
    "Ingress lab/nas does not request it any more, but pic has removed as many records as it may"
    " (pic:maxRemovals)"
)


def settings(**fields: object) -> Settings:
    return settled(targets=PIHOLE, pihole_target_ip=IP, **fields)


def requesting(*hosts: str, namespace: str = "lab", name: str = "nas") -> Ingress:
    rules = tuple(Rule(host) for host in hosts)
    annotations = {REGISTER: "true"}
    return Ingress(
        namespace, name, f"uid-{namespace}-{name}", "", annotations=annotations, rules=rules
    )


def remembered(host: str, namespace: str = "lab", **fields: object) -> RecordEntry:
    entry = RecordEntry(f"{host}/A", IP, namespace, "Ingress/nas", SINCE, 1)
    return replace(entry, **fields)  # type: ignore[arg-type]


def live(*hosts: str, ip: str = IP) -> list[LiveRecord]:
    return [LiveRecord(host, ip, ours=True) for host in hosts]


def world(
    ingresses: list[Ingress], records: list[LiveRecord] | None, entries: list[RecordEntry]
) -> Snapshot:
    return cluster(ingresses, (), register((), entries), records=records)


def shown(planned: Plan) -> list[tuple[str, str, bool]]:
    return [(it.host, it.ip, it.held) for it in planned.records]


def removing(count: int, namespace: str = "lab") -> Snapshot:
    """Return a cluster whose Ingress has one record more than these, and requests only that."""
    hosts = HOSTS[: count + 1]
    entries = [remembered(host, namespace) for host in hosts]
    return world([requesting(hosts[-1])], live(*hosts), [*entries[:-1], remembered(hosts[-1])])


def test_more_removals_than_the_limit_are_held_as_they_are() -> None:
    planned = plan(removing(6), settings())

    assert planned.held == tuple(
        held(Verdict.REMOVED, remembered(host), (IP, ""), TOO_MANY) for host in HOSTS[:6]
    )
    assert shown(planned) == [(host, IP, True) for host in HOSTS[:6]] + [(HOSTS[6], IP, False)]
    assert planned.notices[0] == Notice(
        Reason.HELD,
        Ref("DNS record", "", f"{A}/A"),
        f"{A}/A stays at {IP}: {TOO_MANY}. This waits for an acknowledgement",
        f"{A}/A",
    )


def test_removals_up_to_the_limit_leave_tombstones() -> None:
    planned = plan(removing(5), settings())

    assert (planned.held, shown(planned)) == ((), [(HOSTS[5], IP, False)])
    assert planned.register is not None
    assert [(it.gone != "", it.gone_by) for it in planned.register.records.values()].count(
        (True, GoneBy.PIC)
    ) == 5


def test_17_removals_of_records_count_over_the_window() -> None:
    snapshot = removing(1)
    gone = [remembered(f"g{at}.lan", gone=RECENTLY, gone_by=GoneBy.PIC) for at in range(5)]
    entries = [*gone, *(remembered(host) for host in HOSTS[:2])]

    planned = plan(replace(snapshot, registers={"pic.prod": register((), entries)}), settings())

    assert [(it.host, it.verdict) for it in planned.held] == [(f"{A}/A", Verdict.REMOVED)]
    assert planned.next_change == "2026-01-02T12:00:00Z"


def test_a_preview_environment_removes_its_records_freely() -> None:
    assert plan(removing(6, "pr-1"), settings(ephemeral=("pr-*",))).held == ()


def test_before_the_first_register_all_records_count_together() -> None:
    snapshot = replace(removing(6), registers={})

    assert len(plan(snapshot, settings()).held) == 6
    assert {it.namespace for it in plan(snapshot, settings()).held} == {""}
    assert plan(snapshot, settings(max_removals=6)).held == ()


def test_without_an_answer_of_pihole_nothing_is_held_and_nothing_lost() -> None:
    snapshot = replace(removing(6), records=None)

    planned = plan(snapshot, settings())

    assert (planned.held, planned.no_record_survives) == ((), False)


def test_records_of_a_namespace_that_is_not_listed_stay() -> None:
    entries = [remembered(A, "old"), remembered(HOSTS[1])]
    snapshot = world([requesting(HOSTS[1])], live(A, HOSTS[1]), entries)

    planned = plan(snapshot, settings(namespaces=("lab",)))

    reason = "pic:namespaces does not list old"
    assert planned.held == (held(Verdict.OUTSIDE, entries[0], (IP, ""), reason),)
    assert shown(planned) == [(A, IP, True), (HOSTS[1], IP, False)]
    assert [notice.reason for notice in planned.notices] == [Reason.LEFT_OUTSIDE]


def test_07_a_plan_in_which_no_record_survives_is_marked_and_holds_nothing() -> None:
    entries = [remembered(host) for host in HOSTS]
    others = [requesting("new.lan", name="other")]

    planned = plan(world(others, live(*HOSTS), entries), settings())

    assert (planned.no_record_survives, planned.held) == (True, ())
    assert not plan(world(others, [], entries), settings()).no_record_survives
    assert not plan(world(others, live("new.lan"), entries), settings()).no_record_survives


def test_an_ingress_that_is_given_another_host_survives() -> None:
    snapshot = world([requesting("new.lan")], live(A), [remembered(A)])

    assert not plan(snapshot, settings()).no_record_survives


def test_16_a_record_that_moves_without_a_policy_is_held() -> None:
    attacker = requesting(A, namespace="evil")
    snapshot = world([attacker], live(A, ip=OTHER), [remembered(A, ip=OTHER)])

    planned = plan(snapshot, settings())

    move = held(
        Verdict.MOVED,
        remembered(A),
        (f"lab ({OTHER})", f"evil ({IP})"),
        "Ingress evil/nas requests it",
    )
    assert (planned.held, shown(planned)) == ((move,), [(A, OTHER, True)])
    assert [notice.message for notice in planned.notices] == [
        f"{A}/A stays in lab ({OTHER}): Ingress evil/nas requests it. This waits for an"
        " acknowledgement"
    ]
    for free in (
        settings(host_policy={"evil": (A,)}),
        settings(acknowledge=move.digest),
        settings(max_moves=1),
        settings(tenants=Tenants.ONE),
    ):
        assert shown(plan(snapshot, free)) == [(A, IP, False)]


@pytest.mark.parametrize("gone", ["", RECENTLY])
def test_16_a_record_that_is_gone_is_not_made_for_another_namespace(gone: str) -> None:
    entry = remembered(A, gone=gone, gone_by=GoneBy.PIC if gone else None)

    planned = plan(world([requesting(A, namespace="evil")], [], [entry]), settings())

    assert (shown(planned), [it.verdict for it in planned.held]) == ([], [Verdict.MOVED])
    # The record may move once its reservation of a day has ended.
    assert planned.next_change == ("2026-01-02T12:00:00Z" if gone else "")


def test_a_record_whose_namespace_is_unknown_may_get_one() -> None:
    planned = plan(world([requesting(A)], live(A), [remembered(A, "")]), settings())

    assert (planned.held, shown(planned)) == ((), [(A, IP, False)])


def test_more_records_than_the_limit_led_elsewhere_are_held_with_their_owners() -> None:
    entries = [remembered(host, ip=OTHER) for host in HOSTS]
    snapshot = world([requesting(*HOSTS)], live(*HOSTS, ip=OTHER), entries)

    planned = plan(snapshot, settings())

    assert {(it.verdict, it.old, it.new) for it in planned.held} == {
        (Verdict.RETARGETED, OTHER, IP)
    }
    assert shown(planned) == [(host, OTHER, True) for host in HOSTS]
    assert {record.owners[0].name for record in planned.records} == {"nas"}
    assert plan(snapshot, settings(max_retargeted=12)).held == ()


def test_records_of_an_ingress_whose_hosts_are_misspelt_are_held() -> None:
    entries = [remembered(A), remembered(HOSTS[1], "other"), remembered(HOSTS[2])]
    typo = {REGISTER: "true", "pihole.io/host": "nas.lan"}
    ingresses = [replace(requesting(A), annotations=typo), requesting(HOSTS[3], name="web")]

    planned = plan(world(ingresses, live(*HOSTS[:3]), entries), settings(tenants=Tenants.ONE))

    # The record of another namespace cannot be one of its own.
    assert shown(planned) == [(A, IP, True), (HOSTS[2], IP, True), (HOSTS[3], IP, False)]


def test_without_a_register_any_record_may_belong_to_a_misspelt_ingress() -> None:
    typo = replace(requesting("b.lan"), annotations={REGISTER: "true", "pihole.io/host": "nas.lan"})
    snapshot = Snapshot(ingresses=(typo,), records=(LiveRecord(A, IP, ours=True),))

    assert [(it.host, it.held) for it in dns_records.plan(snapshot, settings(), NoticeLog())] == [
        (A, True)
    ]
