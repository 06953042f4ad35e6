"""Tests who owns a live object, and how live objects are looked up."""

from collections.abc import Mapping

import pytest

from pic.core.ingress import Ingress
from pic.core.model import LiveResource, Owner
from pic.core.names import NAME_LABEL, NAMESPACE_LABEL, STACK_LABEL, UID_LABEL, label_value
from pic.planning.ownership import Inventory, OwnerKind, Ownership

SEED = {UID_LABEL: "uid-1", NAME_LABEL: "web", NAMESPACE_LABEL: "prod"}
STACK = {STACK_LABEL: "pic.prod"}
OURS = Ownership("pic.prod")
AFTER = Ownership("pic.prod", earlier="pic.test")
EARLIER = {STACK_LABEL: "pic.test"}


def live(
    name: str = "x",
    labels: Mapping[str, str] | None = None,
    *,
    host: str = "a.example.com",
    managed: bool = False,
) -> LiveResource:
    return LiveResource("prod", name, "uid-9", host, labels or {}, managed=managed)


@pytest.mark.parametrize(
    ("ownership", "resource", "kind"),
    [
        (OURS, live(labels=STACK), OwnerKind.OURS),
        (OURS, live(labels={STACK_LABEL: "pic.test"}, managed=True), OwnerKind.OTHER_STACK),
        (Ownership(""), live(labels={STACK_LABEL: "pic.test"}), OwnerKind.OURS),
        (AFTER, live(labels={STACK_LABEL: "pic.test"}, managed=True), OwnerKind.EARLIER),
        (AFTER, live(labels=STACK), OwnerKind.OURS),
        (AFTER, live(labels={STACK_LABEL: "pic.dev"}), OwnerKind.OTHER_STACK),
        (Ownership("pic.prod", earlier="pic.prod"), live(labels=STACK), OwnerKind.OURS),
        (OURS, live(labels={STACK_LABEL: ""}), OwnerKind.OTHER_STACK),
        (OURS, live(managed=True), OwnerKind.STRIPPED),
        (OURS, live(labels=SEED, managed=True), OwnerKind.STRIPPED),
        (OURS, live(labels=SEED), OwnerKind.PREDECESSOR),
        (OURS, live(labels={NAME_LABEL: "web"}), OwnerKind.FOREIGN),
        (OURS, live(), OwnerKind.FOREIGN),
    ],
)
def test_labels_and_field_managers_decide_the_owner(
    ownership: Ownership, resource: LiveResource, kind: OwnerKind
) -> None:
    assert ownership.of(resource) is kind


def test_objects_are_found_by_host_sorted_by_name() -> None:
    second, first = live("b", STACK), live("a", managed=True)
    foreign, old = live("c"), live("d", SEED)

    inventory = Inventory([second, foreign, old, first], OURS)

    assert inventory.ours == (first, second)
    assert inventory.ours_for("a.example.com") == [first, second]
    assert inventory.foreign_for("a.example.com") == foreign
    assert inventory.predecessors_for("a.example.com") == [old]
    assert inventory.ours_for("b.example.com") == []
    assert inventory.foreign_for("b.example.com") is None
    assert inventory.predecessors_for("b.example.com") == []


def test_objects_are_found_by_owner_reference_and_by_label() -> None:
    long = "i" * 80
    referring = LiveResource(
        "prod", "a", "u", "a.example.com", {STACK_LABEL: "pic.prod"}, (Owner("prod", "web", "1"),)
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
        return Inventory([old, other], Ownership("pic.prod", adopt=adopt)).adoptable(
            "a.example.com", [claimant]
        )

    assert adoptable(web, adopt=True) == [old]
    assert adoptable(web, adopt=False) == []
    assert adoptable(Ingress("test", "web", "uid-1"), adopt=True) == []


def test_an_object_of_the_earlier_stack_is_adoptable_in_the_namespace_of_a_claimant() -> None:
    a, b = live("a", EARLIER), live("b", {**EARLIER, UID_LABEL: "uid-2"})
    inventory = Inventory([b, a], AFTER)

    def adoptable(namespace: str) -> list[LiveResource]:
        return inventory.adoptable("a.example.com", [Ingress(namespace, "web", "uid-1")])

    assert (adoptable("prod"), adoptable("test")) == ([a, b], [])
    assert (inventory.earlier, inventory.ours) == ((a, b), ())
    assert inventory.ours_for("a.example.com") == []
    assert inventory.foreign_for("a.example.com") is None


def test_an_object_of_the_earlier_stack_is_found_by_its_owner() -> None:
    old = live("a", {**EARLIER, NAME_LABEL: "web"})

    assert Inventory([old], AFTER).owned_by(("prod", "web")) == [old]


def test_an_unadopted_object_of_a_host_is_found() -> None:
    earlier, second, old = live("a", EARLIER), live("b", EARLIER), live("c", SEED)
    adopt = Ownership("pic.prod", adopt=True, earlier="pic.test")

    def unadopted(ownership: Ownership, adopted: LiveResource | None) -> LiveResource | None:
        inventory = Inventory([earlier, old], ownership)
        return inventory.unadopted_for("a.example.com", adopted)

    assert unadopted(adopt, None) == earlier
    assert unadopted(adopt, earlier) == old
    assert unadopted(AFTER, earlier) is None
    assert Inventory([earlier, second], AFTER).unadopted_for("a.example.com", earlier) == second
