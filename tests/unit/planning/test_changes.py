"""Tests what a run would change, from the live objects and the plan."""

from collections.abc import Iterable
from dataclasses import replace

from pic.core.model import (
    HttpConfig,
    LiveResource,
    Owner,
    Plan,
    Resource,
    Snapshot,
    Spec,
    Target,
    TunnelRef,
)
from pic.core.names import NAME_LABEL, NAMESPACE_LABEL, STACK_LABEL, UID_LABEL
from pic.planning.changes import Changes, FieldChange, Move, Update, Weakening, between
from pic.planning.ownership import Ownership
from tests.support.memories import forgetful

STACK = "pic.prod"
OURS = Ownership(STACK)
WEB = Target("web", 80, method="http")


def labels(owner: Owner) -> dict[str, str]:
    return {
        NAME_LABEL: owner.name,
        NAMESPACE_LABEL: owner.namespace,
        STACK_LABEL: STACK,
        UID_LABEL: owner.uid,
    }


def spec(host: str, *targets: Target, sso: bool = False, block: bool = False) -> Spec:
    subdomain, _, domain = host.partition(".")
    return Spec(
        enabled=True,
        name=host,
        protocol="http",
        tunnel=TunnelRef("default"),
        http=HttpConfig(domain, subdomain, sso=sso, block_access=block),
        targets=targets or (WEB,),
    )


def wanted(
    host: str, namespace: str = "prod", *, sso: bool = False, block: bool = False
) -> Resource:
    owner = Owner(namespace, "web", "uid-1")
    planned_spec = spec(host, sso=sso, block=block)
    return Resource(host, namespace, f"pic-{host}", (owner,), labels(owner), planned_spec)


def live(
    host: str, namespace: str = "prod", *, sso: bool = False, block: bool = False
) -> LiveResource:
    owner = Owner(namespace, "web", "uid-1")
    live_spec = spec(host, sso=sso, block=block)
    return LiveResource(
        namespace, f"pic-{host}", f"uid-of-{host}", host, labels(owner), (owner,), live_spec
    )


def compared(
    objects: tuple[LiveResource, ...],
    resources: tuple[Resource, ...],
    ownership: Ownership = OURS,
    *,
    remembered: Iterable[LiveResource] = (),
) -> Changes:
    snapshot = Snapshot("cluster-1", live=objects)
    memory = replace(forgetful(ownership), hosts={it.key: it.host for it in remembered})
    return between(snapshot, Plan(resources), STACK, memory)


def fields(resource: Resource, current: LiveResource) -> dict[str, tuple[object, object]]:
    """Return the fields that differ, with the live and the planned value."""
    changes = compared((current,), (resource,))
    return {
        field.path: (field.old, field.new) for update in changes.updated for field in update.fields
    }


A, B, C = "a.example.com", "b.example.com", "c.example.com"
NONE = Changes(STACK, "cluster-1")


def test_an_empty_plan_for_an_empty_cluster_is_no_change() -> None:
    assert compared((), ()) == NONE
    assert not compared((), ())


def test_objects_as_planned_are_no_change() -> None:
    changes = compared((live(A), live(B)), (wanted(A), wanted(B)))

    assert changes == replace(NONE, live_count=2, planned_count=2)
    assert not changes


def test_a_planned_host_without_an_object_is_created() -> None:
    changes = compared((live(A),), (wanted(A), wanted(B)))

    assert changes == replace(NONE, live_count=1, planned_count=2, created=(wanted(B),))
    assert changes


def test_objects_that_are_not_planned_are_removed_sorted_by_host() -> None:
    changes = compared((live(C), live(A), live(B)), (wanted(B),))

    assert changes == replace(NONE, live_count=3, planned_count=1, removed=(live(A), live(C)))
    assert changes


def test_a_host_planned_in_another_namespace_moves() -> None:
    changes = compared((live(A),), (wanted(A, "team"),))

    assert changes == replace(
        NONE, live_count=1, planned_count=1, moved=(Move(wanted(A, "team"), live(A)),)
    )
    assert changes


def test_of_two_objects_for_one_host_one_moves_and_the_other_is_removed() -> None:
    first, second = live(A), live(A, "prod-2")

    changes = compared((second, first), (wanted(A, "team"),))

    moved = (Move(wanted(A, "team"), first),)
    assert changes == replace(NONE, live_count=2, planned_count=1, moved=moved, removed=(second,))


def test_of_two_objects_for_one_host_the_planned_one_stays() -> None:
    first, second = live(A), live(A, "prod-2")

    changes = compared((first, second), (wanted(A, "prod-2"),))

    assert changes == replace(NONE, live_count=2, planned_count=1, removed=(first,))


def test_a_host_that_loses_login_and_block_has_two_weakenings() -> None:
    changes = compared((live(A, sso=True, block=True),), (wanted(A),))

    assert changes.weakened == (Weakening(A, "sso"), Weakening(A, "blockAccess"))


def test_a_host_with_more_protection_is_not_weakened() -> None:
    assert compared((live(A),), (wanted(A, sso=True, block=True),)).weakened == ()


def test_a_host_that_moves_and_loses_login_is_weakened() -> None:
    changes = compared((live(A, sso=True),), (wanted(A, "team"),))

    assert changes.weakened == (Weakening(A, "sso"),)


def test_a_new_host_is_never_weakened() -> None:
    assert compared((), (wanted(A),)).weakened == ()


def test_an_update_lists_each_field_that_differs_with_both_values() -> None:
    resource, current = wanted(A, sso=True), live(A)
    current = replace(
        current,
        labels={**current.labels, NAME_LABEL: "old", "team": "blue"},
        owners=(Owner("prod", "old", "uid-0"),),
        spec=replace(current.spec, targets=(replace(WEB, port=8080),), tunnel=TunnelRef("old")),
    )

    changes = compared((current,), (resource,))

    update = Update(
        resource,
        current,
        (
            FieldChange("spec.tunnelRef.name", "old", "default"),
            FieldChange("spec.httpConfig.sso", old=False, new=True),
            FieldChange("spec.targets[0].port", 8080, 80),
            FieldChange(f"metadata.labels.{NAME_LABEL}", "old", "web"),
            FieldChange("metadata.ownerReferences", ["old (uid-0)"], ["web (uid-1)"]),
        ),
    )
    assert changes == replace(NONE, live_count=1, planned_count=1, updated=(update,))
    assert changes


def test_values_from_the_crd_or_the_operator_are_not_compared() -> None:
    resource, current = wanted(A), live(A)
    resource = replace(resource, spec=replace(resource.spec, protocol=None, enabled=None))
    current = replace(
        current,
        spec=replace(current.spec, targets=(replace(WEB, priority=100),)),
        labels={**current.labels, "operator": "yes"},
        status="Ready",
        generation=4,
    )

    assert fields(resource, current) == {}


def test_a_missing_field_is_none() -> None:
    current = replace(live(A), spec=Spec(single=True))

    assert fields(wanted(A), current) == {
        "spec.enabled": (None, True),
        "spec.name": (None, A),
        "spec.protocol": (None, "http"),
        "spec.tunnelRef.name": (None, "default"),
        "spec.httpConfig.domainName": (None, "example.com"),
        "spec.httpConfig.subdomain": (None, "a"),
        "spec.httpConfig.sso": (None, False),
        "spec.httpConfig.blockAccess": (None, False),
        "spec.targets": (None, [{"path": None, "ip": "web", "port": 80, "method": "http"}]),
    }


def test_a_list_of_another_length_is_one_change() -> None:
    current = replace(live(A), spec=spec(A, WEB, replace(WEB, path="/x", match="prefix")))

    assert fields(wanted(A), current) == {
        "spec.targets": (
            [
                {"path": None, "ip": "web", "port": 80, "method": "http"},
                {
                    "path": "/x",
                    "ip": "web",
                    "port": 80,
                    "method": "http",
                    "pathMatchType": "prefix",
                },
            ],
            [{"path": None, "ip": "web", "port": 80, "method": "http"}],
        )
    }


def test_a_target_that_opens_from_one_path_to_the_whole_host_is_a_change() -> None:
    current = replace(live(A), spec=spec(A, replace(WEB, path="/api", match="prefix")))

    assert fields(wanted(A), current) == {"spec.targets[0].path": ("/api", None)}


def test_a_held_resource_without_targets_compares_no_targets() -> None:
    resource = wanted(A)

    assert fields(replace(resource, spec=replace(resource.spec, targets=())), live(A)) == {}


def test_without_owner_references_only_live_ones_differ() -> None:
    snapshot = Snapshot("cluster-1", live=(live(A), replace(live(B), owners=())))
    plan = Plan((wanted(A), wanted(B)))

    changes = between(snapshot, plan, STACK, forgetful(OURS), owner_references=False)

    bare = replace(wanted(A), owners=())
    removed_owner = (FieldChange("metadata.ownerReferences", ["web (uid-1)"], []),)
    assert changes == replace(
        NONE, live_count=2, planned_count=2, updated=(Update(bare, live(A), removed_owner),)
    )


def test_an_object_without_its_labels_is_ours_and_gets_them_back() -> None:
    current = replace(live(A), labels={}, managed=True)

    changes = compared((current,), (wanted(A),), remembered=[current])

    restored = tuple(
        FieldChange(f"metadata.labels.{key}", None, value)
        for key, value in sorted(wanted(A).labels.items())
    )
    assert changes == replace(
        NONE, live_count=1, planned_count=1, updated=(Update(wanted(A), current, restored),)
    )


def test_an_object_without_its_labels_that_is_not_planned_is_removed() -> None:
    current = replace(live(A), labels={}, managed=True)

    changes = compared((current,), (), remembered=[current])

    assert changes == replace(NONE, live_count=1, removed=(current,))


def test_05_an_object_without_its_labels_that_pic_does_not_remember_is_not_removed() -> None:
    assert compared((replace(live(A), labels={}, managed=True),), ()) == NONE


def seed(host: str) -> LiveResource:
    """Return an object of the Go controller."""
    current = live(host)
    rest = {key: value for key, value in current.labels.items() if key != STACK_LABEL}
    return replace(current, labels=rest)


def test_an_object_of_the_go_controller_is_neither_changed_nor_removed() -> None:
    changes = compared((replace(seed(A), name="other-name"), seed(B)), ())

    assert changes == NONE


def test_an_adopted_predecessor_gets_our_label_and_is_not_created() -> None:
    adopting = replace(wanted(A), adopts=True)

    changes = compared((seed(A),), (adopting,), Ownership(STACK, adopt=True))

    label = (FieldChange(f"metadata.labels.{STACK_LABEL}", None, STACK),)
    assert changes == replace(NONE, planned_count=1, updated=(Update(adopting, seed(A), label),))


def test_an_adopted_predecessor_that_loses_its_login_is_weakened() -> None:
    guarded = replace(seed(A), spec=spec(A, sso=True))
    adopting = replace(wanted(A), adopts=True)

    changes = compared((guarded,), (adopting,), Ownership(STACK, adopt=True))

    assert changes.weakened == (Weakening(A, "sso"),)


def test_an_object_to_adopt_that_no_longer_exists_is_created() -> None:
    adopting = replace(wanted(A), adopts=True)

    assert compared((), (adopting,)) == replace(NONE, planned_count=1, created=(adopting,))


def test_objects_of_others_are_neither_changed_nor_removed() -> None:
    foreign = replace(live(A), labels={})
    other = replace(live(B), labels={**live(B).labels, STACK_LABEL: "pic.test"})

    assert compared((foreign, other), ()) == NONE


def test_the_digest_names_removals_moves_and_weakenings_of_one_stack_and_cluster() -> None:
    base = compared((live(A),), ())
    moved = replace(base, moved=(Move(wanted(B, "team"), live(B)),))
    elsewhere = replace(base, moved=(Move(wanted(B, "team-2"), live(B)),))
    weakened = replace(base, weakened=(Weakening(B, "sso"),))
    unblocked = replace(base, weakened=(Weakening(B, "blockAccess"),))
    twin = replace(base, removed=(live(A), live(A, "prod-2")))

    variants = [
        base,
        replace(base, stack="pic.test"),
        replace(base, cluster_id="cluster-2"),
        replace(base, removed=(live(B),)),
        *(moved, elsewhere, weakened, unblocked, twin),
    ]

    assert len({changes.digest for changes in variants}) == len(variants)
    assert base.digest == compared((live(A),), ()).digest
    assert {len(changes.digest) for changes in variants} == {12}


def test_an_unrelated_creation_or_update_leaves_the_digest_unchanged() -> None:
    before = compared((live(A), live(B)), (wanted(B),))
    rollout = compared((live(A), live(B)), (wanted(B, sso=True), wanted(C)))

    assert rollout.created
    assert rollout.updated
    assert rollout.digest == before.digest


def test_objects_taken_over_from_an_earlier_stack_count_and_others_stay() -> None:
    taking_over = Ownership(STACK, earlier="pic.test")
    current, other = (
        replace(live(host), labels={**live(host).labels, STACK_LABEL: "pic.test"})
        for host in (A, B)
    )
    adopting = replace(wanted(A), adopts=True)

    changes = compared((current, other), (adopting,), taking_over)

    label = (FieldChange(f"metadata.labels.{STACK_LABEL}", "pic.test", STACK),)
    assert changes == replace(
        NONE, live_count=1, planned_count=1, updated=(Update(adopting, current, label),)
    )
