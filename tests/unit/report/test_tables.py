"""Tests the tables, the counts and the footer of a review."""

from dataclasses import replace

from pic.core.model import LiveResource, Owner, Plan, Record, Resource, Spec, Target, TunnelRef
from pic.core.notices import Notice, Reason, Ref
from pic.planning.changes import Changes, FieldChange, Move, Update, Weakening
from pic.report import summary, tables
from pic.report.review import Review, StackRef, build, hide_notices

PROD = StackRef("pic", "prod")
NONE = Changes("pic.prod", "cluster-1")
WEB = Ref("Ingress", "prod", "web")
WARNING, REMARK = Notice(Reason.NO_RULES, WEB, "no rules"), Notice(Reason.BLOCK_ACCESS, WEB, "shut")


def wanted(host: str, namespace: str = "prod") -> Resource:
    targets = (Target("web", 80, "http"), Target("api", 8443, "https", "/api", "prefix"))
    spec = Spec(tunnel=TunnelRef("home"), targets=targets)
    return Resource(host, namespace, f"pic-{host}", (), {}, spec)


def live(host: str) -> LiveResource:
    return LiveResource("prod", f"pic-{host}", "uid", host)


def rows(review: Review) -> dict[str, object]:
    return {section.title: section.rows for section in tables.review_sections(review)}


def reviewed(changes: Changes, *notices: Notice) -> Review:
    return build(PROD, Plan((wanted("w"),), notices=notices), changes)


def counts(changes: Changes, *notices: Notice) -> str:
    return summary.counts(reviewed(changes, *notices))


def test_counts_leave_out_what_is_zero() -> None:
    assert counts(replace(NONE, live_count=3, planned_count=3)) == "no changes (3 live, 3 planned)"


def test_counts_are_in_the_singular_and_in_the_plural() -> None:
    one = replace(
        NONE,
        created=(wanted("a"),),
        removed=(live("r"),),
        moved=(Move(wanted("m", "team"), live("m")),),
        updated=(Update(wanted("u"), live("u"), ()),),
        weakened=(Weakening("w", "sso"),),
    )
    more = replace(one, created=(wanted("a"), wanted("b")))

    assert counts(one, WARNING, REMARK) == (
        "1 host becomes public, 1 host loses protection, 1 host no longer declared, 1 host"
        " moved, 1 new host, 1 host changed, 1 warning, 1 remark (0 live, 0 planned)"
    )
    branch = hide_notices(reviewed(more, WARNING, replace(WARNING, message="x")), ())
    assert summary.counts(branch) == (
        "2 hosts become public, 1 host loses protection, 1 host no longer declared, 1 host moved,"
        " 2 new hosts, 1 host changed, 2 new warnings (0 live, 0 planned)"
    )


def test_the_most_important_table_comes_first_and_empty_ones_are_left_out() -> None:
    changes = replace(
        NONE,
        created=(wanted("a"),),
        removed=(live(""),),
        moved=(Move(wanted("m", "team"), live("m")),),
        updated=(
            Update(
                wanted("u"), live("u"), (FieldChange("x", None, ["y"]), FieldChange("z", "", "w"))
            ),
        ),
    )
    backends = "/ → http://web:80, /api → https://api:8443"

    sections = rows(build(PROD, Plan(notices=(WARNING,)), changes))

    assert list(sections) == [
        "Hosts that become public",
        "Hosts no longer declared",
        "Hosts that move to another namespace",
        "New hosts",
        "Changed fields",
        "Notices",
    ]
    assert sections == {
        "Hosts that become public": (("a", "new", backends),),
        "Hosts no longer declared": ((None, "prod/pic-"),),
        "Hosts that move to another namespace": (("m", "prod/pic-m", "team/pic-m"),),
        "New hosts": (("a", "prod/pic-a", "home", "public", backends),),
        "Changed fields": (("u", "x", None, '["y"]'), ("u", "z", '""', "w")),
        "Notices": (("Warning", "NoRules", "Ingress prod/web", "no rules"),),
    }


def test_with_a_branch_the_title_of_the_notices_says_new() -> None:
    branch = hide_notices(build(PROD, Plan(notices=(WARNING,)), NONE), ())

    assert list(rows(branch)) == ["New notices"]


def test_a_plan_has_resources_records_and_notices() -> None:
    bare = replace(wanted("b"), held=True, spec=Spec())
    owner = Owner("prod", "web", "uid")
    plan = Plan((bare,), (Record("a", "10.0.0.1", (owner,)),), (REMARK,))

    assert {section.title: section.rows for section in tables.plan_sections(plan)} == {
        "Resources": (("b", "prod/pic-b", None, "public (held)", None),),
        "DNS records": (("a", "10.0.0.1"),),
        "Notices": (("Normal", "BlockAccess", "Ingress prod/web", "shut"),),
    }


def test_the_footer_counts_the_notices_that_are_not_shown() -> None:
    footer = f"digest {NONE.digest} · cluster cluster-1"
    plan = Plan(notices=(WARNING, REMARK))
    nameless = replace(NONE, cluster_id="")

    assert summary.footer(build(PROD, Plan(), NONE)) == footer
    assert summary.footer(hide_notices(build(PROD, plan, NONE), {REMARK})) == (
        f"{footer} · 1 notice is not shown: it exists without the branch too"
    )
    assert summary.footer(hide_notices(build(PROD, plan, nameless), {WARNING, REMARK})) == (
        f"digest {nameless.digest} · 2 notices are not shown: they exist without the branch too"
    )


def test_a_tunnel_has_a_namespace_if_the_spec_has_one() -> None:
    remote = replace(wanted("a"), spec=Spec(tunnel=TunnelRef("home", "net")))

    assert tables.tunnel(remote) == "net/home"
    assert tables.tunnel(wanted("a")) == "home"
    assert tables.tunnel(replace(remote, spec=Spec())) == ""
