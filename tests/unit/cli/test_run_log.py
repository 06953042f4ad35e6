"""Tests the log lines of a run: its resources, its DNS records, and its failures."""

import logging
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pic.cli import run_log
from pic.cli.run_log import LogContext, LogLine
from pic.core.ingress import Ingress
from pic.core.model import RECORD_TYPE, LiveRecord, Owner, Plan, Record, Resource
from pic.core.notices import Notice, Reason, Ref
from pic.engine.outcome import Failure, Outcome
from pic.planning.changes import Changes, Move, Update
from pic.planning.record_changes import RecordChanges, RecordUpdate
from tests.support.deployed import CLUSTER, STACK, URN, A, B, C, make_live, urn, wanted
from tests.support.events import failure_event, message_event

DEBUG, INFO, WARN, ERROR = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR
SHOP, BLOG = Owner("prod", "shop", "uid-s"), Owner("prod", "blog", "uid-b")
WEB = Ref("Ingress", "prod", "web")
NOTHING = Changes(STACK, CLUSTER)


def record_urn(name: str) -> str:
    return f"{URN}pulumi:pulumi:Stack${RECORD_TYPE}::{name}"


def context(
    *resources: Resource,
    records: Sequence[Record] = (),
    changes: Changes = NOTHING,
    notices: Sequence[Notice] = (),
    ingresses: Sequence[Ingress] = (),
) -> LogContext:
    plan = Plan(resources, tuple(records), tuple(notices))
    return LogContext(plan, changes, ingresses)


def record_changes(**parts: tuple[object, ...]) -> Changes:
    return replace(NOTHING, records=replace(RecordChanges(), **parts))  # type: ignore[arg-type]


def fields(host: str, **more: str) -> dict[str, str]:
    name = f"prod/pic-{host.partition('.')[0]}"
    return {"ingress": "prod/web", "host": host, "object": name, **more}


def add_failure(outcome: Outcome, name: str, host: str, message: str) -> Outcome:
    """Let a step fail."""
    outcome.add_line(failure_event(host).replace(urn(host), name))
    outcome.add_line(message_event("error", message, name))
    return outcome


def test_each_resource_that_the_engine_changed_is_one_line() -> None:
    changes = replace(NOTHING, removed=(make_live(wanted(C)),))
    steps = {
        "update": [urn(B)],
        "create": [urn(A), urn(A)],
        "delete": [urn(C)],
        "same": [urn("same.org"), f"{URN}pulumi:pulumi:Stack::pic-prod"],
        "import": [urn("other.org")],
    }

    lines = run_log.outcome_lines(Outcome(steps), context(wanted(A), wanted(B), changes=changes))

    assert lines == (
        LogLine(INFO, "resource created", fields(A)),
        LogLine(INFO, "resource updated", fields(B)),
        LogLine(INFO, "resource deleted", fields(C)),
        LogLine(INFO, "resource adopted", {"ingress": "", "host": "other.org", "object": ""}),
    )


def test_a_replacement_is_one_line() -> None:
    steps = {op: [urn(A)] for op in ("create-replacement", "replace", "delete-replaced")}

    assert run_log.outcome_lines(Outcome(steps), context(wanted(A))) == (
        LogLine(INFO, "resource updated", fields(A)),
    )


@pytest.mark.parametrize(
    ("resource", "ingress"),
    [
        (replace(wanted(A), owners=(SHOP, BLOG)), "prod/shop,prod/blog"),
        (replace(wanted(A), owners=()), "prod/web"),
        (replace(wanted(A), owners=(), labels={}), ""),
    ],
)
def test_the_ingresses_of_an_object_are_its_owners_or_the_one_in_its_labels(
    resource: Resource, ingress: str
) -> None:
    lines = run_log.outcome_lines(Outcome({"create": [urn(A)]}), context(resource))

    assert lines == (LogLine(INFO, "resource created", {**fields(A), "ingress": ingress}),)


def test_each_failure_is_an_error_and_its_ingress_gets_a_line_with_all_of_them() -> None:
    outcome = Outcome({"create": [urn(A)], "update": [urn(B)]})
    add_failure(outcome, urn(A), A, "HTTP 429")
    add_failure(outcome, urn(B), B, "no")

    assert run_log.outcome_lines(outcome, context(wanted(A), wanted(B))) == (
        LogLine(ERROR, "resource failed", fields(A, operation="create", error="HTTP 429")),
        LogLine(ERROR, "resource failed", fields(B, operation="update", error="no")),
        LogLine(
            ERROR,
            "reconcile failed",
            {"ingress": "prod/web", "error": f"{A}: HTTP 429\n{B}: no"},
        ),
    )


def test_a_resource_that_could_not_be_read_is_an_error() -> None:
    outcome = add_failure(Outcome({"refresh": [urn(A)]}), urn(A), A, "gone")

    assert run_log.outcome_lines(outcome, context(wanted(A))) == (
        LogLine(ERROR, "resource failed", fields(A, operation="read", error="gone")),
        LogLine(ERROR, "reconcile failed", {"ingress": "prod/web", "error": f"{A}: gone"}),
    )


class Unread(Outcome):
    """The outcome of an engine that could not read a record."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        return (Failure(f"{A}/A", "HTTP 503", "pihole"),)


def test_a_record_that_could_not_be_read_is_an_error_of_pi_hole() -> None:
    assert run_log.outcome_lines(Unread(), context(records=[Record(A, "192.0.2.7", (SHOP,))])) == (
        LogLine(
            ERROR,
            "pi-hole api error",
            {"ingress": "prod/shop", "operation": "read", "error": "HTTP 503"},
        ),
        LogLine(ERROR, "reconcile failed", {"ingress": "prod/shop", "error": f"{A}/A: HTTP 503"}),
    )


def test_dns_records_have_the_messages_and_fields_of_the_pi_hole_operator() -> None:
    new, six = Record(B, "192.0.2.8", (SHOP,)), Record(A, "2001:db8::1", (SHOP,))
    changes = record_changes(updated=(RecordUpdate(new, LiveRecord(B, "192.0.2.1", ours=True)),))
    annotated = Ingress("prod", "left", "u", annotations={"pihole.io/managed-hosts": f"x, {C}"})
    steps = {
        "create": [record_urn(f"{A}/AAAA")],
        "update": [record_urn(f"{B}/A")],
        "delete": [record_urn(f"{C}/A"), record_urn("gone.org/A")],
    }

    lines = run_log.outcome_lines(
        Outcome(steps), context(records=[six, new], changes=changes, ingresses=[annotated])
    )

    assert lines == (
        LogLine(
            INFO, "dns record created", {"ingress": "prod/shop", "host": A, "ip": "2001:db8::1"}
        ),
        LogLine(
            INFO,
            "dns record updated",
            {"ingress": "prod/shop", "host": B, "old_ip": "192.0.2.1", "new_ip": "192.0.2.8"},
        ),
        LogLine(INFO, "dns record deleted", {"ingress": "prod/left", "host": C}),
        LogLine(INFO, "dns record deleted", {"ingress": "", "host": "gone.org"}),
    )


def test_the_old_address_is_empty_if_pi_hole_was_not_read() -> None:
    steps = {"update": [record_urn(f"{A}/A"), record_urn("b.org/A")]}

    lines = run_log.outcome_lines(Outcome(steps), context(records=[Record(A, "192.0.2.7", ())]))

    assert [line.fields for line in lines] == [
        {"ingress": "", "host": A, "old_ip": "", "new_ip": "192.0.2.7"},
        {"ingress": "", "host": "b.org", "old_ip": "", "new_ip": ""},
    ]


def test_an_error_of_pi_hole_is_logged_with_the_operation() -> None:
    name = record_urn(f"{A}/A")
    outcome = add_failure(Outcome({"create": [name]}), name, A, "HTTP 429")

    assert run_log.outcome_lines(outcome, context(records=[Record(A, "192.0.2.7", (SHOP,))])) == (
        LogLine(
            ERROR,
            "pi-hole api error",
            {"ingress": "prod/shop", "operation": "create", "error": "HTTP 429"},
        ),
        LogLine(ERROR, "reconcile failed", {"ingress": "prod/shop", "error": f"{A}/A: HTTP 429"}),
    )


def test_each_ingress_that_the_run_changes_something_for_has_one_line_at_the_start() -> None:
    one = replace(wanted(A), owners=(SHOP, BLOG))
    changes = replace(
        record_changes(
            created=(Record(C, "192.0.2.7", (Owner("dns", "new", "u"),)),),
            updated=(RecordUpdate(Record(A, "192.0.2.8", (SHOP,)), LiveRecord(A, "192.0.2.7")),),
        ),
        created=(one,),
        updated=(Update(one, make_live(one), ()),),
        moved=(Move(replace(one, owners=(Owner("dev", "web", "u"),)), make_live(one)),),
        removed=(make_live(wanted(B)),),
    )

    assert run_log.start_lines(context(changes=changes)) == tuple(
        LogLine(DEBUG, "reconcile started", {"ingress": name})
        for name in ("dev/web", "dns/new", "prod/blog", "prod/shop", "prod/web")
    )


def test_each_notice_is_one_line_with_its_fields() -> None:
    web = Ingress(
        "prod", "web", "u", annotations={"pihole.io/target-ip": "x" * 90, "a.b/null": None}
    )
    notices = [
        Notice(Reason.INVALID_TARGET_IP, WEB, "no address", annotation="pihole.io/target-ip"),
        Notice(Reason.INVALID_ANNOTATION, WEB, "no word", annotation="a.b/null"),
        Notice(Reason.INVALID_TARGET_IP, Ref("Ingress", "prod", "other"), "none set", None, "x/y"),
        Notice(Reason.NO_HOSTS, WEB, "it has no host"),
        Notice(Reason.HOST_CONFLICT, WEB, "it is taken", "a.org"),
        Notice(Reason.TUNNEL_NOT_READY, Ref("PangolinTunnel", "prod", "t"), "it starts"),
        Notice(Reason.PIHOLE_UNREADABLE, Ref("Pi-hole", "", "http://dns"), "HTTP 503"),
    ]

    assert run_log.notice_lines(context(notices=notices, ingresses=[web])) == (
        LogLine(
            WARN,
            "invalid annotation",
            {
                "ingress": "prod/web",
                "annotation": "pihole.io/target-ip",
                "value": "x" * 80,
                "error": "no address",
            },
        ),
        LogLine(
            WARN,
            "invalid annotation",
            {"ingress": "prod/web", "annotation": "a.b/null", "value": "", "error": "no word"},
        ),
        LogLine(
            WARN,
            "notice",
            {"reason": "InvalidTargetIP", "ingress": "prod/other", "text": "none set"},
        ),
        LogLine(WARN, "ingress skipped (no hosts)", {"ingress": "prod/web"}),
        LogLine(
            WARN,
            "notice",
            {
                "reason": "HostConflict",
                "ingress": "prod/web",
                "host": "a.org",
                "text": "it is taken",
            },
        ),
        LogLine(
            INFO,
            "notice",
            {"reason": "TunnelNotReady", "object": "prod/t", "text": "it starts"},
        ),
        LogLine(
            ERROR,
            "pi-hole api error",
            {"ingress": "", "operation": "list", "error": "HTTP 503"},
        ),
    )
