"""Tests which PangolinResources of a branch are listed as exposures outside pic."""

from collections.abc import Mapping

from pic.core.json_values import Raw
from pic.core.names import STACK_LABEL
from pic.core.outside import OutsideChange, OutsideExposure
from pic.snapshot import pangolin
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.outside import OVERWRITES, PRETENDS, exposures

LABELS = {STACK_LABEL: "pic.prod"}
ADDED, CHANGED, REMOVED = OutsideChange
NOTHING = RawSnapshot()


def resource(
    subdomain: str = "app", labels: Mapping[str, str] | None = None, **http: object
) -> Raw:
    return {
        "metadata": {"name": "raw", "namespace": "prod", "labels": labels},
        "spec": {"httpConfig": {"domainName": "example.com", "subdomain": subdomain, **http}},
    }


def holding(*bodies: Raw) -> RawSnapshot:
    return RawSnapshot({"PangolinResource": bodies})


def rows(
    live: RawSnapshot = NOTHING,
    new: RawSnapshot = NOTHING,
    old: RawSnapshot = NOTHING,
    removed: RawSnapshot = NOTHING,
) -> tuple[OutsideExposure, ...]:
    return exposures(live, new=new, old=old, removed=removed)


def row(
    change: OutsideChange, body: Raw, before: Raw | None = None, remark: str = ""
) -> OutsideExposure:
    earlier = pangolin.live_resource(before) if before else None
    return OutsideExposure(change, "prod", "raw", pangolin.live_resource(body), earlier, remark)


def test_an_object_is_added_changed_or_removed() -> None:
    app, other = resource(), resource("other")

    assert rows(new=holding(app)) == (row(ADDED, app),)
    assert rows(new=holding(other), live=holding(app)) == (row(CHANGED, other, app),)
    assert rows(new=holding(other), old=holding(app)) == (row(CHANGED, other, app),)
    assert rows(old=holding(app)) == (row(REMOVED, app, app),)
    assert rows(removed=holding(app), live=holding(other)) == (row(REMOVED, other, other),)


def test_what_the_target_branch_or_the_cluster_has_is_no_change_of_the_branch() -> None:
    app = resource()
    target = {"ip": "web", "port": 80}
    bare = {**app, "spec": {"targets": [target]}}
    defaults = {"method": "http", "priority": 100}
    defaulted = {**app, "spec": {"targets": [{**target, **defaults}], "enabled": True}}

    assert rows(new=holding(app), old=holding(app), live=holding(resource("other"))) == ()
    assert rows(new=holding(bare), live=holding(defaulted)) == ()
    assert rows(new=holding(app), removed=holding(app), live=holding(app)) == ()


def test_a_lost_login_is_a_change_although_the_file_only_leaves_it_out() -> None:
    bare, login = resource(), resource(sso=True)

    assert rows(new=holding(bare), live=holding(login)) == (row(CHANGED, bare, login),)


def test_labels_of_pic_make_no_object_of_pic() -> None:
    app, ours = resource(), resource(labels=LABELS)

    assert rows(new=holding(ours)) == (row(ADDED, ours, remark=PRETENDS),)
    assert rows(new=holding(resource("b")), live=holding(ours)) == (
        row(CHANGED, resource("b"), ours, OVERWRITES),
    )
    assert rows(new=holding(ours), old=holding(app)) == (row(CHANGED, ours, app, PRETENDS),)


def test_an_object_that_cannot_be_read_is_listed_with_the_reason() -> None:
    odd: Raw = {"metadata": {"name": "raw", "namespace": "prod"}, "spec": 3}
    problem = "spec is a number, not a map"
    unnamed: Raw = {"metadata": 3}

    assert rows(new=holding(odd)) == (OutsideExposure(ADDED, "prod", "raw", None, remark=problem),)
    assert rows(new=holding(odd), live=holding(resource())) == (
        OutsideExposure(CHANGED, "prod", "raw", None, pangolin.live_resource(resource()), problem),
    )
    assert rows(new=holding(unnamed)) == (
        OutsideExposure(ADDED, "", "", None, remark="metadata is a number, not a map"),
    )


def test_objects_are_sorted_by_host() -> None:
    second = {**resource("b"), "metadata": {"name": "x", "namespace": "prod"}}

    assert [shown.host for shown in rows(new=holding(second, resource("a")))] == [
        "a.example.com",
        "b.example.com",
    ]
