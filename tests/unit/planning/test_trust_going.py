"""Tests what is planned for sources and objects that Kubernetes is deleting."""

from dataclasses import replace

import pytest

from pic.core.ingress import Deletion, Ingress, Rule
from pic.core.model import HttpConfig, LiveResource, Owner, Plan, Record, Resource, Snapshot, Spec
from pic.core.names import STACK_LABEL
from pic.core.notices import Notice, Reason, Ref
from pic.planning import deletions, dns_records, dns_requests
from pic.planning.changes import Changes, Waiting, Weakening, between
from pic.planning.inventory import Inventory
from pic.planning.notice_log import NoticeLog
from pic.planning.ownership import Ownership
from pic.settings.parse import Settings, TargetName
from tests.support.memories import forgetful

STACK = "pic.prod"
OURS = Ownership(STACK)
SINCE = "2025-01-01T00:00:00+00:00"
GOING = Deletion(SINCE, ("tunnel.pangolin.io/finalizer",))
A, B = "a.example.com", "b.example.com"


def live(host: str, namespace: str = "prod", *, going: Deletion | None = GOING) -> LiveResource:
    labels = {STACK_LABEL: STACK}
    owners = (Owner(namespace, "web", "uid-1"),)
    return LiveResource(
        namespace, f"pic-{host}", f"uid-of-{host}", host, labels, owners, going=going
    )


def wanted(host: str, namespace: str = "prod") -> Resource:
    owners = (Owner(namespace, "web", "uid-1"),)
    return Resource(host, namespace, f"pic-{host}", owners, {STACK_LABEL: STACK}, Spec())


def compared(objects: tuple[LiveResource, ...], *resources: Resource) -> Changes:
    return between(Snapshot("cluster-1", live=objects), Plan(resources), STACK, forgetful(OURS))


def test_23_an_object_that_is_going_does_not_count_as_live() -> None:
    going = live(A)

    assert compared((going,), wanted(A)) == Changes(
        STACK,
        "cluster-1",
        planned_count=1,
        created=(wanted(A),),
        going=(going,),
        waiting=(Waiting(wanted(A), going),),
    )


def test_20_an_object_that_is_going_is_not_removed_again() -> None:
    going = live(A)

    changes = compared((going,))

    assert changes == Changes(STACK, "cluster-1", going=(going,))
    assert not changes


def test_23_a_host_waits_for_its_object_in_another_namespace_to_go() -> None:
    old = live(A, "old")

    assert compared((old,), wanted(A)).waiting == (Waiting(wanted(A), old),)


def test_23_a_host_with_a_live_object_does_not_wait_for_another_one() -> None:
    objects = (live(A, going=None), live(A, "old"))

    assert compared(objects, wanted(A)).waiting == ()


def test_23_a_name_waits_for_the_object_that_has_it() -> None:
    renamed = replace(wanted(B), name=f"pic-{A}")

    assert compared((live(A),), renamed).waiting == (Waiting(renamed, live(A)),)


def test_23_a_host_does_not_lose_its_login_with_its_object() -> None:
    protected = replace(live(A), spec=Spec(http=HttpConfig(sso=True)))

    assert compared((protected,), wanted(A)).weakened == (Weakening(A, "sso"),)


def test_23_only_what_is_or_becomes_ours_counts_as_going() -> None:
    ours, foreign = live(A), replace(live(B), labels={})
    earlier = replace(live("c.example.com"), labels={STACK_LABEL: "pic.test"})
    old = replace(
        live("d.example.com"),
        labels={f"pic.ingress.k8s.io/{key}": "x" for key in ("uid", "name", "namespace")},
    )

    def going(ownership: Ownership) -> tuple[LiveResource, ...]:
        return Inventory([ours, foreign, earlier, old], forgetful(ownership)).going

    assert going(OURS) == (ours,)
    assert going(Ownership(STACK, adopt=True, earlier="pic.test")) == (ours, earlier, old)


@pytest.mark.parametrize(
    ("since", "now", "overdue"),
    [
        (SINCE, "2025-01-01T00:10:00+00:00", False),
        (SINCE, "2025-01-01T00:10:01+00:00", True),
        (SINCE, "", False),
        ("", "2025-01-01T00:10:01+00:00", False),
    ],
)
def test_a_deletion_is_overdue_after_ten_minutes(since: str, now: str, *, overdue: bool) -> None:
    assert deletions.is_overdue(Deletion(since), now) is overdue


def test_a_deletion_is_described_as_far_as_it_is_known() -> None:
    assert [
        deletions.description(deletion)
        for deletion in (Deletion(), Deletion(SINCE), Deletion("", ("a", "b")), GOING)
    ] == [
        "",
        f" (since {SINCE})",
        " (finalizers a, b)",
        f" (since {SINCE}, finalizer tunnel.pangolin.io/finalizer)",
    ]


def test_only_an_object_that_finalizers_keep_is_reported() -> None:
    kept, passing = replace(live(A), host=""), live(B, going=Deletion(SINCE))

    assert deletions.object_notices([kept, passing], [], "") == [
        Notice(
            Reason.HELD_BY_FINALIZER,
            Ref("PangolinResource", "prod", f"pic-{A}"),
            f"Kubernetes is deleting it (since {SINCE}, finalizer tunnel.pangolin.io/finalizer):"
            " pic forgets it once it is gone",
        )
    ]


PIHOLE = Settings(targets=(TargetName.PIHOLE,), pihole_target_ip="192.0.2.1")
NAS = Ingress(
    "lab",
    "nas",
    "uid-nas",
    annotations={dns_requests.REGISTER: "true"},
    rules=(Rule("nas.lan"),),
    going=GOING,
)


def test_no_record_is_dropped_while_pihole_does_not_answer() -> None:
    notices = NoticeLog()

    records = dns_records.plan(Snapshot(ingresses=(NAS,)), PIHOLE, notices)

    assert records == (Record("nas.lan", "192.0.2.1", (Owner("lab", "nas", "uid-nas"),)),)
    assert notices.sorted() == ()


def test_a_record_is_made_for_the_other_ingress_of_a_host_that_stays() -> None:
    staying = replace(NAS, name="tv", uid="uid-tv", going=None)
    snapshot = Snapshot(ingresses=(NAS, staying), records=())

    assert dns_records.plan(snapshot, PIHOLE, NoticeLog()) == (
        Record("nas.lan", "192.0.2.1", (Owner("lab", "tv", "uid-tv"),)),
    )
