"""Tests how live objects are looked up by host, owner and name."""

from collections.abc import Mapping
from dataclasses import replace

from pic.core.ingress import Deletion, Ingress
from pic.core.model import LiveResource, Owner
from pic.core.names import NAME_LABEL, NAMESPACE_LABEL, STACK_LABEL, UID_LABEL, label_value
from pic.planning.inventory import Inventory
from pic.planning.ownership import OwnerKind, Ownership
from tests.support.memories import forgetful

SEED = {UID_LABEL: "uid-1", NAME_LABEL: "web", NAMESPACE_LABEL: "prod"}
STACK = {STACK_LABEL: "pic.prod"}
EARLIER = {STACK_LABEL: "pic.test"}
HOST = "a.example.com"
OURS = forgetful(Ownership("pic.prod"))
AFTER = forgetful(Ownership("pic.prod", earlier="pic.test"))
ADOPTING = forgetful(Ownership("pic.prod", adopt=True, earlier="pic.test"))


def live(
    name: str = "x",
    labels: Mapping[str, str] | None = None,
    *,
    host: str = HOST,
    managed: bool = False,
) -> LiveResource:
    return LiveResource("prod", name, "uid-9", host, labels or {}, managed=managed)


def test_objects_are_found_by_host_sorted_by_name() -> None:
    second, first = live("b", STACK), live("a", managed=True)
    foreign, old = live("c"), live("d", SEED)

    remembering = replace(OURS, hosts={first.key: first.host})
    inventory = Inventory([second, foreign, old, first], remembering)

    assert inventory.ours == (first, second)
    assert inventory.ours_for(HOST) == [first, second]
    assert inventory.predecessors_for(HOST) == [old]
    assert inventory.ours_for("b.example.com") == []
    assert inventory.predecessors_for("b.example.com") == []
    assert inventory.owner_kinds == {
        ("prod", "a"): OwnerKind.STRIPPED,
        ("prod", "b"): OwnerKind.OURS,
        ("prod", "c"): OwnerKind.FOREIGN,
        ("prod", "d"): OwnerKind.PREDECESSOR,
    }


def test_objects_are_found_by_owner_reference_and_by_label() -> None:
    long = "i" * 80
    referring = LiveResource(
        "prod", "a", "u", HOST, {STACK_LABEL: "pic.prod"}, (Owner("prod", "web", "1"),)
    )
    labelled = live("b", {**STACK, NAME_LABEL: label_value(long)})
    hostless = live("c", {**STACK, NAME_LABEL: "web"}, host="")

    inventory = Inventory([referring, labelled, hostless], OURS)

    assert inventory.owned_by(("prod", "web")) == [referring]
    assert inventory.owned_by(("prod", long)) == [labelled]
    assert inventory.owned_by(("test", "web")) == []


def test_an_object_of_the_predecessor_is_adoptable_by_its_owner_with_adopt_only() -> None:
    old = live("a", SEED)
    other = live("b", {**SEED, UID_LABEL: "uid-2"})
    web = Ingress("prod", "web", "uid-1")

    def adoptable(claimant: Ingress, *, adopt: bool) -> list[LiveResource]:
        memory = forgetful(Ownership("pic.prod", adopt=adopt))
        return Inventory([old, other], memory).adoptable(HOST, [claimant])

    assert adoptable(web, adopt=True) == [old]
    assert adoptable(web, adopt=False) == []
    assert adoptable(Ingress("test", "web", "uid-1"), adopt=True) == []


def test_an_object_of_the_earlier_stack_is_adoptable_in_the_namespace_of_a_claimant() -> None:
    a, b = live("a", EARLIER), live("b", {**EARLIER, UID_LABEL: "uid-2"})
    inventory = Inventory([b, a], AFTER)

    def adoptable(namespace: str) -> list[LiveResource]:
        return inventory.adoptable(HOST, [Ingress(namespace, "web", "uid-1")])

    assert (adoptable("prod"), adoptable("test")) == ([a, b], [])
    assert (inventory.earlier, inventory.ours) == ((a, b), ())
    assert inventory.ours_for(HOST) == []


def test_an_object_of_the_earlier_stack_is_found_by_its_owner() -> None:
    old = live("a", {**EARLIER, NAME_LABEL: "web"})

    assert Inventory([old], AFTER).owned_by(("prod", "web")) == [old]


def test_an_unadopted_object_of_a_host_is_found() -> None:
    earlier, second, old = live("a", EARLIER), live("b", EARLIER), live("c", SEED)
    adopting, after = Inventory([earlier, old], ADOPTING), Inventory([earlier, old], AFTER)

    assert adopting.unadopted_for(HOST, None) == earlier
    assert adopting.unadopted_for(HOST, earlier) == old
    assert after.unadopted_for(HOST, earlier) is None
    assert Inventory([earlier, second], AFTER).unadopted_for(HOST, earlier) == second


def test_what_pic_may_not_change_blocks_its_host() -> None:
    foreign, other = live("b"), live("a", {STACK_LABEL: "pic.dev"})
    old, earlier = live("c", SEED), live("d", EARLIER)

    assert Inventory([foreign, other], OURS).blocking(HOST, None) == other
    assert Inventory([foreign, old], OURS).blocking(HOST, None) == foreign
    assert Inventory([old], OURS).blocking(HOST, None) == old
    assert Inventory([old, earlier], ADOPTING).blocking(HOST, old) == earlier
    assert Inventory([old], ADOPTING).blocking(HOST, old) is None
    assert Inventory([foreign], OURS).blocking("b.example.com", None) is None
    assert Inventory([live("a", STACK)], OURS).blocking(HOST, None) is None


def test_what_is_going_blocks_only_if_it_is_not_ours() -> None:
    ours, foreign = (
        replace(live(name, labels), going=Deletion()) for name, labels in (("a", STACK), ("b", {}))
    )

    inventory = Inventory([ours, foreign], OURS)

    assert (inventory.going, inventory.going_for(HOST)) == ((ours,), [ours])
    assert inventory.ours == ()
    assert inventory.blocking(HOST, None) == foreign
    assert inventory.owner_kinds == {("prod", "b"): OwnerKind.FOREIGN}


def test_an_edited_host_gives_the_namespace_of_the_object_no_other_host() -> None:
    other, made = "b.example.com", live("b", STACK)
    memory = replace(OURS, strict=True, hosts={made.key: other})

    inventory = Inventory([made], memory)

    assert inventory.ours_for(HOST) == []
    assert inventory.ours_for(other) == [replace(made, host=other)]
