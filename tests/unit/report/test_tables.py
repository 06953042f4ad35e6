"""The tables of a review, and its words."""

from dataclasses import replace

from pic.core.model import (
    LiveResource,
    Owner,
    Plan,
    Record,
    Resource,
    Spec,
    Target,
    TunnelRef,
)
from pic.core.notices import Notice, Reason, Ref
from pic.planning.changes import (
    Changes,
    FieldChange,
    Move,
    Update,
    Weakening,
)
from pic.report import tables
from pic.report.review import Review, StackRef, build

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
    return {each.title: each.rows for each in tables.of_review(review)}


def counts(changes: Changes, *notices: Notice, known: frozenset[Notice] | None = None) -> str:
    plan = Plan((wanted("w"),), notices=notices)
    return tables.counts(build(PROD, plan, changes, known=known))


def test_counts_leave_out_what_is_zero() -> None:
    assert counts(replace(NONE, known=3, wanted=3)) == "no changes (3 live, 3 planned)"


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
        "1 host becomes public, 1 host loses login or block, 1 removed, 1 moved, 1 new, 1 changed,"
        " 1 warning, 1 remark (0 live, 0 planned)"
    )
    assert counts(more, WARNING, replace(WARNING, message="x"), known=frozenset()) == (
        "2 hosts become public, 1 host loses login or block, 1 removed, 1 moved, 2 new, 1 changed,"
        " 2 new warnings (0 live, 0 planned)"
    )


def test_what_weighs_most_comes_first_and_what_is_empty_not_at_all() -> None:
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

    found = rows(build(PROD, Plan(notices=(WARNING,)), changes))

    assert list(found) == [
        "Become public",
        "Removed",
        "Moved to another namespace",
        "New",
        "Changed",
        "Notices",
    ]
    assert found == {
        "Become public": (("a", "new", backends),),
        "Removed": ((None, "prod/pic-"),),
        "Moved to another namespace": (("m", "prod/pic-m", "team/pic-m"),),
        "New": (("a", "prod/pic-a", "home", "public", backends),),
        "Changed": (("u", "x", None, '["y"]'), ("u", "z", '""', "w")),
        "Notices": (("Warning", "NoRules", "Ingress prod/web", "no rules"),),
    }


def test_with_a_branch_the_notices_are_called_new() -> None:
    assert list(rows(build(PROD, Plan(notices=(WARNING,)), NONE, known=frozenset()))) == [
        "New notices"
    ]


def test_a_plan_has_resources_records_and_notices() -> None:
    bare = replace(wanted("b"), held=True, spec=Spec())
    owner = Owner("prod", "web", "uid")
    plan = Plan((bare,), (Record("a", "10.0.0.1", (owner,)),), (REMARK,))

    assert {each.title: each.rows for each in tables.of_plan(plan)} == {
        "Resources": (("b", "prod/pic-b", None, "public (held)", None),),
        "DNS records": (("a", "10.0.0.1"),),
        "Notices": (("Normal", "BlockAccess", "Ingress prod/web", "shut"),),
    }


def test_the_foot_tells_which_notices_are_not_shown() -> None:
    foot = f"digest {NONE.digest} · cluster cluster-1"
    two = frozenset({WARNING, REMARK})
    plan = Plan(notices=(WARNING, REMARK))

    assert tables.foot(build(PROD, Plan(), NONE)) == foot
    assert tables.foot(build(PROD, plan, NONE, known=frozenset({REMARK}))) == (
        f"{foot} · 1 notice that is there without the branch is not shown"
    )
    assert tables.foot(build(PROD, plan, replace(NONE, cluster_id=""), known=two)) == (
        f"digest {replace(NONE, cluster_id='').digest}"
        " · 2 notices that are there without the branch are not shown"
    )


def test_tunnels_have_a_namespace_where_the_spec_has_one() -> None:
    there = replace(wanted("a"), spec=Spec(tunnel=TunnelRef("home", "net")))

    assert tables.tunnel(there) == "net/home"
    assert tables.tunnel(wanted("a")) == "home"
    assert tables.tunnel(replace(there, spec=Spec())) == ""
