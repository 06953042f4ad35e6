"""What a run would do, from what is live and what is planned."""

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
from pic.core.names import (
    NAME_LABEL,
    NAMESPACE_LABEL,
    STACK_LABEL,
    UID_LABEL,
)
from pic.planning.changes import (
    Changes,
    FieldChange,
    Move,
    Update,
    Weakening,
    between,
)
from pic.planning.ownership import Ownership

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
    made = spec(host, sso=sso, block=block)
    return Resource(host, namespace, f"pic-{host}", (owner,), labels(owner), made)


def live(
    host: str, namespace: str = "prod", *, sso: bool = False, block: bool = False
) -> LiveResource:
    owner = Owner(namespace, "web", "uid-1")
    made = spec(host, sso=sso, block=block)
    return LiveResource(
        namespace, f"pic-{host}", f"uid-of-{host}", host, labels(owner), (owner,), made
    )


def compared(
    there: tuple[LiveResource, ...], plan: tuple[Resource, ...], ownership: Ownership = OURS
) -> Changes:
    return between(Snapshot("cluster-1", live=there), Plan(plan), STACK, ownership)


def fields(resource: Resource, there: LiveResource) -> dict[str, tuple[object, object]]:
    """What differs between the two, by path."""
    changes = compared((there,), (resource,))
    found = [each for update in changes.updated for each in update.fields]
    return {each.path: (each.old, each.new) for each in found}


A, B, C = "a.example.com", "b.example.com", "c.example.com"
NONE = Changes(STACK, "cluster-1")


def test_nothing_live_and_nothing_planned_is_no_change() -> None:
    assert compared((), ()) == NONE
    assert not compared((), ())


def test_what_is_live_as_it_is_planned_is_no_change() -> None:
    changes = compared((live(A), live(B)), (wanted(A), wanted(B)))

    assert changes == replace(NONE, known=2, wanted=2)
    assert not changes


def test_what_is_not_live_is_created() -> None:
    changes = compared((live(A),), (wanted(A), wanted(B)))

    assert changes == replace(NONE, known=1, wanted=2, created=(wanted(B),))
    assert changes


def test_what_is_not_planned_is_removed_in_the_order_of_the_hosts() -> None:
    changes = compared((live(C), live(A), live(B)), (wanted(B),))

    assert changes == replace(NONE, known=3, wanted=1, removed=(live(A), live(C)))
    assert changes


def test_a_host_that_another_namespace_has_now_moves_and_is_neither_removed_nor_created() -> None:
    changes = compared((live(A),), (wanted(A, "team"),))

    assert changes == replace(NONE, known=1, wanted=1, moved=(Move(wanted(A, "team"), live(A)),))
    assert changes


def test_of_two_objects_for_one_host_one_moves_and_the_other_is_removed() -> None:
    first, second = live(A), live(A, "prod-2")

    changes = compared((second, first), (wanted(A, "team"),))

    moved = (Move(wanted(A, "team"), first),)
    assert changes == replace(NONE, known=2, wanted=1, moved=moved, removed=(second,))


def test_of_two_objects_for_one_host_the_planned_one_stays() -> None:
    first, second = live(A), live(A, "prod-2")

    changes = compared((first, second), (wanted(A, "prod-2"),))

    assert changes == replace(NONE, known=2, wanted=1, removed=(first,))


def test_a_host_that_loses_login_and_block_is_told_for_each() -> None:
    changes = compared((live(A, sso=True, block=True),), (wanted(A),))

    assert changes.weakened == (Weakening(A, "sso"), Weakening(A, "blockAccess"))


def test_a_host_that_is_guarded_more_is_not_weakened() -> None:
    assert compared((live(A),), (wanted(A, sso=True, block=True),)).weakened == ()


def test_a_host_that_moves_and_opens_is_weakened() -> None:
    changes = compared((live(A, sso=True),), (wanted(A, "team"),))

    assert changes.weakened == (Weakening(A, "sso"),)


def test_a_new_host_is_never_weakened() -> None:
    assert compared((), (wanted(A),)).weakened == ()


def test_an_update_names_each_field_that_differs_with_both_values() -> None:
    resource, there = wanted(A, sso=True), live(A)
    there = replace(
        there,
        labels={**there.labels, NAME_LABEL: "old", "team": "blue"},
        owners=(Owner("prod", "old", "uid-0"),),
        spec=replace(there.spec, targets=(replace(WEB, port=8080),), tunnel=TunnelRef("old")),
    )

    changes = compared((there,), (resource,))

    update = Update(
        resource,
        there,
        (
            FieldChange("spec.tunnelRef.name", "old", "default"),
            FieldChange("spec.httpConfig.sso", old=False, new=True),
            FieldChange("spec.targets[0].port", 8080, 80),
            FieldChange(f"metadata.labels.{NAME_LABEL}", "old", "web"),
            FieldChange("metadata.ownerReferences", ["old (uid-0)"], ["web (uid-1)"]),
        ),
    )
    assert changes == replace(NONE, known=1, wanted=1, updated=(update,))
    assert changes


def test_what_the_crd_or_the_operator_filled_in_is_not_looked_at() -> None:
    resource, there = wanted(A), live(A)
    resource = replace(resource, spec=replace(resource.spec, protocol=None, enabled=None))
    there = replace(
        there,
        spec=replace(there.spec, targets=(replace(WEB, priority=100),)),
        labels={**there.labels, "operator": "yes"},
        status="Ready",
        generation=4,
    )

    assert fields(resource, there) == {}


def test_a_missing_field_is_told_as_none() -> None:
    there = replace(live(A), spec=Spec(single=True))

    assert fields(wanted(A), there) == {
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
    there = replace(live(A), spec=spec(A, WEB, replace(WEB, path="/x", match="prefix")))

    assert fields(wanted(A), there) == {
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
    there = replace(live(A), spec=spec(A, replace(WEB, path="/api", match="prefix")))

    assert fields(wanted(A), there) == {"spec.targets[0].path": ("/api", None)}


def test_a_held_resource_without_targets_of_its_own_compares_none() -> None:
    resource = wanted(A)

    assert fields(replace(resource, spec=replace(resource.spec, targets=())), live(A)) == {}


def test_without_owner_references_only_those_that_are_there_still_differ() -> None:
    snapshot = Snapshot("cluster-1", live=(live(A), replace(live(B), owners=())))
    plan = Plan((wanted(A), wanted(B)))

    changes = between(snapshot, plan, STACK, OURS, owner_references=False)

    bare = replace(wanted(A), owners=())
    gone = (FieldChange("metadata.ownerReferences", ["web (uid-1)"], []),)
    assert changes == replace(NONE, known=2, wanted=2, updated=(Update(bare, live(A), gone),))


def test_an_object_whose_labels_were_stripped_is_ours_and_updated() -> None:
    there = replace(live(A), labels={}, managed=True)

    changes = compared((there,), (wanted(A),))

    put_back = tuple(
        FieldChange(f"metadata.labels.{key}", None, value)
        for key, value in sorted(wanted(A).labels.items())
    )
    assert changes == replace(
        NONE, known=1, wanted=1, updated=(Update(wanted(A), there, put_back),)
    )


def test_a_stripped_object_that_nobody_wants_is_removed() -> None:
    there = replace(live(A), labels={}, managed=True)

    assert compared((there,), ()) == replace(NONE, known=1, removed=(there,))


def seed(host: str) -> LiveResource:
    """An object of the Go controller."""
    there = live(host)
    kept = {key: value for key, value in there.labels.items() if key != STACK_LABEL}
    return replace(there, labels=kept)


def test_an_object_of_the_go_controller_for_a_wanted_host_is_a_predecessor() -> None:
    there = replace(seed(A), name="other-name")

    changes = compared((there, seed(B)), (wanted(A),))

    assert changes == replace(NONE, wanted=1, created=(wanted(A),), predecessors=(there,))


def test_an_object_of_the_go_controller_with_the_wanted_name_is_told_once() -> None:
    changes = compared((seed(A),), (wanted(A),))

    assert changes == replace(NONE, wanted=1, created=(wanted(A),), predecessors=(seed(A),))


def test_an_adopted_predecessor_gets_our_label_and_is_no_creation() -> None:
    adopting = replace(wanted(A), adopts=True)

    changes = compared((seed(A),), (adopting,), Ownership(STACK, adopt=True))

    label = (FieldChange(f"metadata.labels.{STACK_LABEL}", None, STACK),)
    assert changes == replace(NONE, wanted=1, updated=(Update(adopting, seed(A), label),))


def test_an_adopted_predecessor_that_loses_its_login_is_weakened() -> None:
    guarded = replace(seed(A), spec=spec(A, sso=True))
    adopting = replace(wanted(A), adopts=True)

    changes = compared((guarded,), (adopting,), Ownership(STACK, adopt=True))

    assert changes.weakened == (Weakening(A, "sso"),)


def test_an_object_to_adopt_that_is_gone_is_created() -> None:
    adopting = replace(wanted(A), adopts=True)

    assert compared((), (adopting,)) == replace(NONE, wanted=1, created=(adopting,))


def test_a_stranger_with_a_wanted_name_blocks() -> None:
    foreign = replace(live(A), labels={})
    other = replace(live(B), labels={**live(B).labels, STACK_LABEL: "pic.test"})

    changes = compared((foreign, other), (wanted(A), wanted(B)))

    assert changes == replace(
        NONE, wanted=2, created=(wanted(A), wanted(B)), blocked=(foreign, other)
    )


def test_a_stranger_whose_name_nobody_wants_is_left_alone() -> None:
    assert compared((replace(live(A), labels={}),), ()) == NONE


def test_the_digest_names_removals_moves_and_weakenings_of_one_stack_and_cluster() -> None:
    base = compared((live(A),), ())
    moved = replace(base, moved=(Move(wanted(B, "team"), live(B)),))
    elsewhere = replace(base, moved=(Move(wanted(B, "team-2"), live(B)),))
    weakened = replace(base, weakened=(Weakening(B, "sso"),))
    unblocked = replace(base, weakened=(Weakening(B, "blockAccess"),))
    twin = replace(base, removed=(live(A), live(A, "prod-2")))

    found = [
        base,
        replace(base, stack="pic.test"),
        replace(base, cluster_id="cluster-2"),
        replace(base, removed=(live(B),)),
        *(moved, elsewhere, weakened, unblocked, twin),
    ]

    assert len({each.digest for each in found}) == len(found)
    assert base.digest == compared((live(A),), ()).digest
    assert {len(each.digest) for each in found} == {12}


def test_an_unrelated_creation_or_update_leaves_the_digest_as_it_is() -> None:
    before = compared((live(A), live(B)), (wanted(B),))
    rollout = compared((live(A), live(B)), (wanted(B, sso=True), wanted(C)))

    assert rollout.created
    assert rollout.updated
    assert rollout.digest == before.digest


def test_what_is_taken_over_from_an_earlier_stack_is_known_and_what_is_not_stays() -> None:
    after = Ownership(STACK, earlier="pic.test")
    there, other = (
        replace(live(host), labels={**live(host).labels, STACK_LABEL: "pic.test"})
        for host in (A, B)
    )
    adopting = replace(wanted(A), adopts=True)

    changes = compared((there, other), (adopting,), after)

    label = (FieldChange(f"metadata.labels.{STACK_LABEL}", "pic.test", STACK),)
    assert changes == replace(NONE, known=1, wanted=1, updated=(Update(adopting, there, label),))
