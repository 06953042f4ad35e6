import pytest

from pic.inventory import Inventory, Ownership, Whose
from pic.model import Ingress, LiveResource, Owner
from pic.names import NAME_LABEL, NAMESPACE_LABEL, STACK_LABEL, UID_LABEL, label_value

SEED = {UID_LABEL: "uid-1", NAME_LABEL: "web", NAMESPACE_LABEL: "prod"}
OURS = Ownership("pic.prod")


def live(
    name: str = "x", host: str = "a.example.com", *, managed: bool = False, **labels: str
) -> LiveResource:
    found = {STACK_LABEL if key == "stack" else key: value for key, value in labels.items()}
    return LiveResource("prod", name, "uid-9", host, found, managed=managed)


@pytest.mark.parametrize(
    ("ownership", "found", "whose"),
    [
        (OURS, live(stack="pic.prod"), Whose.OURS),
        (OURS, live(stack="pic.test", managed=True), Whose.OTHER_STACK),
        (Ownership(""), live(stack="pic.test"), Whose.OURS),
        (OURS, live(managed=True), Whose.STRIPPED),
        (OURS, live(managed=True, **SEED), Whose.STRIPPED),
        (OURS, live(**SEED), Whose.PREDECESSOR),
        (OURS, live(**{NAME_LABEL: "web"}), Whose.FOREIGN),
        (OURS, live(), Whose.FOREIGN),
    ],
)
def test_an_object_is_told_by_its_labels_and_its_manager(
    ownership: Ownership, found: LiveResource, whose: Whose
) -> None:
    assert ownership.of(found) is whose


def test_objects_are_found_by_host_in_the_order_of_their_names() -> None:
    second, first = live("b", stack="pic.prod"), live("a", managed=True)
    foreign, old = live("c"), live("d", **SEED)

    inventory = Inventory([second, foreign, old, first], OURS)

    assert inventory.ours == (first, second)
    assert inventory.ours_for("a.example.com") == [first, second]
    assert inventory.foreign_for("a.example.com") == foreign
    assert inventory.predecessors_for("a.example.com") == [old]
    assert inventory.ours_for("b.example.com") == []
    assert inventory.foreign_for("b.example.com") is None
    assert inventory.predecessors_for("b.example.com") == []


def test_objects_are_found_by_owner_from_references_and_from_the_label() -> None:
    long = "i" * 80
    refers = LiveResource(
        "prod", "a", "u", "a.example.com", {STACK_LABEL: "pic.prod"}, (Owner("prod", "web", "1"),)
    )
    labelled = live("b", stack="pic.prod", **{NAME_LABEL: label_value(long)})
    hostless = live("c", host="", stack="pic.prod", **{NAME_LABEL: "web"})

    inventory = Inventory([refers, labelled, hostless], OURS)

    assert inventory.owned_by(("prod", "web")) == [refers]
    assert inventory.owned_by(("prod", long)) == [labelled]
    assert inventory.owned_by(("test", "web")) == []


def test_only_objects_of_a_claimant_are_adopted_and_only_when_asked() -> None:
    old = live("a", **SEED)
    other = live("b", **{**SEED, UID_LABEL: "uid-2"})
    web = Ingress("prod", "web", "uid-1")

    def adoptable(claimant: Ingress, *, adopt: bool) -> list[LiveResource]:
        return Inventory([old, other], Ownership("pic.prod", adopt=adopt)).adoptable(
            "a.example.com", [claimant]
        )

    assert adoptable(web, adopt=True) == [old]
    assert adoptable(web, adopt=False) == []
    assert adoptable(Ingress("test", "web", "uid-1"), adopt=True) == []
