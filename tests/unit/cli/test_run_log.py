"""Log lines of what a run did: the resources, the DNS records, and what went wrong."""

import logging
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pic.cli import run_log
from pic.cli.run_log import Action, Scene
from pic.core.ingress import Ingress
from pic.core.model import (
    RECORD_TYPE,
    LiveRecord,
    Owner,
    Plan,
    Record,
    Resource,
)
from pic.core.notices import Notice, Reason, Ref
from pic.engine.outcome import Failure, Outcome
from pic.planning.changes import Changes, Move, Update
from pic.planning.record_changes import RecordChanges, RecordUpdate
from tests.support.deployed import (
    CLUSTER,
    STACK,
    URN,
    A,
    B,
    C,
    live,
    urn,
    wanted,
)
from tests.unit.engine.test_outcome import failed, said

DEBUG, INFO, WARN, ERROR = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR
SHOP, BLOG = Owner("prod", "shop", "uid-s"), Owner("prod", "blog", "uid-b")
WEB = Ref("Ingress", "prod", "web")
NOTHING = Changes(STACK, CLUSTER)


def record_urn(name: str) -> str:
    return f"{URN}pulumi:pulumi:Stack${RECORD_TYPE}::{name}"


def scene(
    *resources: Resource,
    records: Sequence[Record] = (),
    changes: Changes = NOTHING,
    notices: Sequence[Notice] = (),
    ingresses: Sequence[Ingress] = (),
) -> Scene:
    plan = Plan(resources, tuple(records), tuple(notices))
    return Scene(plan, changes, ingresses)


def of_records(**parts: tuple[object, ...]) -> Changes:
    return replace(NOTHING, records=replace(RecordChanges(), **parts))  # type: ignore[arg-type]


def about(host: str, **more: str) -> dict[str, str]:
    name = f"prod/pic-{host.partition('.')[0]}"
    return {"ingress": "prod/web", "host": host, "object": name, **more}


def refused(outcome: Outcome, name: str, host: str, words: str) -> Outcome:
    """Let a step fail."""
    outcome.feed(failed(host).replace(urn(host), name))
    outcome.feed(said("error", words, name))
    return outcome


def test_each_resource_that_the_engine_touched_is_one_line() -> None:
    found = replace(NOTHING, removed=(live(wanted(C)),))
    steps = {
        "update": [urn(B)],
        "create": [urn(A), urn(A)],
        "delete": [urn(C)],
        "same": [urn("same.org"), f"{URN}pulumi:pulumi:Stack::pic-prod"],
        "import": [urn("other.org")],
    }

    lines = run_log.done(Outcome(steps), scene(wanted(A), wanted(B), changes=found))

    assert lines == (
        Action(INFO, "resource created", about(A)),
        Action(INFO, "resource updated", about(B)),
        Action(INFO, "resource deleted", about(C)),
        Action(INFO, "resource adopted", {"ingress": "", "host": "other.org", "object": ""}),
    )


def test_a_replacement_is_one_line() -> None:
    steps = {each: [urn(A)] for each in ("create-replacement", "replace", "delete-replaced")}

    assert run_log.done(Outcome(steps), scene(wanted(A))) == (
        Action(INFO, "resource updated", about(A)),
    )


@pytest.mark.parametrize(
    ("resource", "ingress"),
    [
        (replace(wanted(A), owners=(SHOP, BLOG)), "prod/shop,prod/blog"),
        (replace(wanted(A), owners=()), "prod/web"),
        (replace(wanted(A), owners=(), labels={}), ""),
    ],
)
def test_an_object_is_of_the_ingresses_that_it_refers_to_else_of_that_of_its_labels(
    resource: Resource, ingress: str
) -> None:
    lines = run_log.done(Outcome({"create": [urn(A)]}), scene(resource))

    assert lines == (Action(INFO, "resource created", {**about(A), "ingress": ingress}),)


def test_what_failed_is_an_error_and_its_ingress_is_told_of_all_of_them() -> None:
    outcome = Outcome({"create": [urn(A)], "update": [urn(B)]})
    refused(outcome, urn(A), A, "HTTP 429")
    refused(outcome, urn(B), B, "no")

    assert run_log.done(outcome, scene(wanted(A), wanted(B))) == (
        Action(ERROR, "resource failed", about(A, operation="create", error="HTTP 429")),
        Action(ERROR, "resource failed", about(B, operation="update", error="no")),
        Action(
            ERROR,
            "reconcile failed",
            {"ingress": "prod/web", "error": f"{A}: HTTP 429\n{B}: no"},
        ),
    )


def test_what_could_not_even_be_read_is_an_error_too() -> None:
    outcome = refused(Outcome({"refresh": [urn(A)]}), urn(A), A, "gone")

    assert run_log.done(outcome, scene(wanted(A))) == (
        Action(ERROR, "resource failed", about(A, operation="read", error="gone")),
        Action(ERROR, "reconcile failed", {"ingress": "prod/web", "error": f"{A}: gone"}),
    )


class Unread(Outcome):
    """An engine that could not read a record."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        return (Failure(f"{A}/A", "HTTP 503", "pihole"),)


def test_a_record_that_could_not_be_read_is_an_error_of_pi_hole() -> None:
    assert run_log.done(Unread(), scene(records=[Record(A, "192.0.2.7", (SHOP,))])) == (
        Action(
            ERROR,
            "pi-hole api error",
            {"ingress": "prod/shop", "operation": "read", "error": "HTTP 503"},
        ),
        Action(ERROR, "reconcile failed", {"ingress": "prod/shop", "error": f"{A}/A: HTTP 503"}),
    )


def test_dns_records_have_the_messages_and_fields_of_the_specification() -> None:
    new, six = Record(B, "192.0.2.8", (SHOP,)), Record(A, "2001:db8::1", (SHOP,))
    found = of_records(updated=(RecordUpdate(new, LiveRecord(B, "192.0.2.1", ours=True)),))
    left = Ingress("prod", "left", "u", annotations={"pihole.io/managed-hosts": f"x, {C}"})
    steps = {
        "create": [record_urn(f"{A}/AAAA")],
        "update": [record_urn(f"{B}/A")],
        "delete": [record_urn(f"{C}/A"), record_urn("gone.org/A")],
    }

    lines = run_log.done(Outcome(steps), scene(records=[six, new], changes=found, ingresses=[left]))

    assert lines == (
        Action(
            INFO, "dns record created", {"ingress": "prod/shop", "host": A, "ip": "2001:db8::1"}
        ),
        Action(
            INFO,
            "dns record updated",
            {"ingress": "prod/shop", "host": B, "old_ip": "192.0.2.1", "new_ip": "192.0.2.8"},
        ),
        Action(INFO, "dns record deleted", {"ingress": "prod/left", "host": C}),
        Action(INFO, "dns record deleted", {"ingress": "", "host": "gone.org"}),
    )


def test_the_old_address_is_empty_where_pi_hole_was_not_read() -> None:
    steps = {"update": [record_urn(f"{A}/A"), record_urn("b.org/A")]}

    lines = run_log.done(Outcome(steps), scene(records=[Record(A, "192.0.2.7", ())]))

    assert [each.fields for each in lines] == [
        {"ingress": "", "host": A, "old_ip": "", "new_ip": "192.0.2.7"},
        {"ingress": "", "host": "b.org", "old_ip": "", "new_ip": ""},
    ]


def test_a_pi_hole_that_refuses_is_an_error_with_the_operation() -> None:
    name = record_urn(f"{A}/A")
    outcome = refused(Outcome({"create": [name]}), name, A, "HTTP 429")

    assert run_log.done(outcome, scene(records=[Record(A, "192.0.2.7", (SHOP,))])) == (
        Action(
            ERROR,
            "pi-hole api error",
            {"ingress": "prod/shop", "operation": "create", "error": "HTTP 429"},
        ),
        Action(ERROR, "reconcile failed", {"ingress": "prod/shop", "error": f"{A}/A: HTTP 429"}),
    )


def test_each_ingress_that_something_is_done_for_is_begun_with_once() -> None:
    one = replace(wanted(A), owners=(SHOP, BLOG))
    found = replace(
        of_records(
            created=(Record(C, "192.0.2.7", (Owner("dns", "new", "u"),)),),
            updated=(RecordUpdate(Record(A, "192.0.2.8", (SHOP,)), LiveRecord(A, "192.0.2.7")),),
        ),
        created=(one,),
        updated=(Update(one, live(one), ()),),
        moved=(Move(replace(one, owners=(Owner("dev", "web", "u"),)), live(one)),),
        removed=(live(wanted(B)),),
    )

    assert run_log.begun(scene(changes=found)) == tuple(
        Action(DEBUG, "reconcile started", {"ingress": name})
        for name in ("dev/web", "dns/new", "prod/blog", "prod/shop", "prod/web")
    )


def test_notices_are_lines_with_their_fields() -> None:
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

    assert run_log.noticed(scene(notices=notices, ingresses=[web])) == (
        Action(
            WARN,
            "invalid annotation",
            {
                "ingress": "prod/web",
                "annotation": "pihole.io/target-ip",
                "value": "x" * 80,
                "error": "no address",
            },
        ),
        Action(
            WARN,
            "invalid annotation",
            {"ingress": "prod/web", "annotation": "a.b/null", "value": "", "error": "no word"},
        ),
        Action(
            WARN,
            "notice",
            {"reason": "InvalidTargetIP", "ingress": "prod/other", "text": "none set"},
        ),
        Action(WARN, "ingress skipped (no hosts)", {"ingress": "prod/web"}),
        Action(
            WARN,
            "notice",
            {
                "reason": "HostConflict",
                "ingress": "prod/web",
                "host": "a.org",
                "text": "it is taken",
            },
        ),
        Action(
            INFO,
            "notice",
            {"reason": "TunnelNotReady", "object": "prod/t", "text": "it starts"},
        ),
        Action(
            ERROR,
            "pi-hole api error",
            {"ingress": "", "operation": "list", "error": "HTTP 503"},
        ),
    )
