"""Tests whose a record is where Pi-hole's interface has no room for a marker."""

from dataclasses import replace

import pytest

from pic.core.ingress import Ingress, Rule
from pic.core.model import LiveRecord, Snapshot
from pic.core.notices import Reason
from pic.core.register import RecordEntry, Register, RegisterStatus, StateMemory
from pic.planning.dns_requests import MANAGED_HOSTS, REGISTER, TARGET_IP
from pic.planning.ownership import Ownership
from pic.run import planning
from pic.run.stack_config import StackConfig
from pic.settings.parse import PiholeApi, Settings, TargetName

IP, MOVED, EVIL = "192.0.2.1", "192.0.2.2", "198.51.100.6"
SETTINGS = Settings(
    cluster_id="cluster-id",
    stack_id="0123456789abcdef",
    register_namespace="pangolin",
    targets=(TargetName.PIHOLE,),
    pihole_target_ip=IP,
    pihole_api=PiholeApi.DNS_LOCAL,
)
CONFIG = StackConfig(SETTINGS, "pic.prod", Ownership("pic.prod", stack_id="0123456789abcdef"), ())
LIVE = LiveRecord("nas.lan", IP)
OURS, UNCLEAR = replace(LIVE, ours=True), replace(LIVE, ours=True, legacy=True)
UNREAD = Register(RegisterStatus.ABSENT)


def attacker(ip: str, name: str = "evil", register: str = "true") -> Ingress:
    """Return an Ingress that claims the record of another, as anyone can write it."""
    annotations: dict[str, str | None] = {
        REGISTER: register,
        TARGET_IP: ip,
        MANAGED_HOSTS: "nas.lan",
    }
    return Ingress("evil", name, "uid", annotations=annotations, rules=(Rule("nas.lan"),))


def decided(
    *ingresses: Ingress,
    register: Register,
    state: StateMemory | None = None,
    live: LiveRecord = LIVE,
    config: StackConfig = CONFIG,
) -> Snapshot:
    snapshot = Snapshot(
        "cluster-id",
        ingresses,
        records=(live,),
        registers={"pic.prod": register},
        state=state,
    )
    return planning.decided(config, snapshot)


def remembering(ip: str, gone: str = "") -> Register:
    entry = RecordEntry("nas.lan/A", ip, "prod", gone=gone)
    return Register(RegisterStatus.READ, records={"nas.lan/A": entry})


@pytest.mark.parametrize("ip", [IP, EVIL])
@pytest.mark.parametrize(
    ("register", "state"),
    [
        (Register(RegisterStatus.READ), None),
        (UNREAD, StateMemory()),
        (remembering(IP, gone="2026-01-01T00:00:00Z"), None),
    ],
)
def test_24_an_annotation_makes_no_record_ours(
    ip: str, register: Register, state: StateMemory | None
) -> None:
    snapshot = decided(attacker(ip), register=register, state=state)
    plan = planning.plan_for(CONFIG, snapshot)

    assert (snapshot.records, plan.records) == ((LIVE,), ())
    conflict = Reason.RECORD_EXISTS if ip == IP else Reason.RECORD_CONFLICT
    assert conflict in [notice.reason for notice in plan.notices]


def test_24_a_record_is_ours_if_the_register_has_it_with_its_address() -> None:
    assert decided(register=remembering(IP)).records == (OURS,)
    assert decided(register=remembering(EVIL)).records == (LIVE,)


def test_24_a_record_of_the_state_is_ours_with_any_address() -> None:
    state = StateMemory(records=(RecordEntry("nas.lan/A", MOVED, "prod"),))

    assert decided(register=remembering(EVIL), state=state).records == (OURS,)
    assert decided(register=UNREAD, state=state).records == (OURS,)


def test_24_before_register_and_state_an_annotation_counts_only_for_what_is_requested() -> None:
    assert decided(attacker(IP), register=UNREAD).records == (UNCLEAR,)
    assert decided(attacker(IP, register="ture"), register=UNREAD).records == (UNCLEAR,)
    assert decided(attacker(EVIL), register=UNREAD).records == (LIVE,)
    assert decided(attacker(IP, register="false"), register=UNREAD).records == (LIVE,)
    both = (attacker(IP), attacker(EVIL, "older"))
    assert decided(*both, register=UNREAD).records == (LIVE,)


def test_24_without_annotations_a_requested_record_counts_as_annotated() -> None:
    config = replace(CONFIG, settings=replace(SETTINGS, pihole_annotate=False))
    web = attacker(IP)
    web = replace(web, annotations={**web.annotations, MANAGED_HOSTS: None})

    assert decided(web, register=UNREAD).records == (LIVE,)
    assert decided(web, register=UNREAD, config=config).records == (UNCLEAR,)


def test_24_an_unclear_record_is_neither_changed_nor_removed() -> None:
    snapshot = decided(attacker(IP), register=UNREAD)
    plan = planning.plan_for(CONFIG, snapshot)

    changes = planning.changes_for(CONFIG, snapshot, plan).records
    assert [record.ip for record in plan.records] == [IP]
    assert not changes
    assert not planning.changes_for(CONFIG, snapshot, replace(plan, records=())).records


def test_24_what_pihole_has_not_answered_does_not_enter_the_register() -> None:
    unread = replace(decided(attacker(EVIL), register=remembering(IP)), records=None)
    unread = replace(unread, registers={"pic.prod": Register(RegisterStatus.READ)})

    plan = planning.plan_for(CONFIG, unread)

    assert [(record.host, record.ip) for record in plan.records] == [("nas.lan", EVIL)]
    assert plan.register is not None
    assert plan.register.records == {}


def test_24_what_the_register_has_stays_in_it_while_pihole_does_not_answer() -> None:
    web = replace(attacker(IP), namespace="prod")
    unread = replace(decided(web, register=remembering(IP)), records=None)

    plan = planning.plan_for(CONFIG, unread)

    assert [(record.host, record.ip) for record in plan.records] == [("nas.lan", IP)]
    assert plan.register is not None
    assert [*plan.register.records] == ["nas.lan/A"]
