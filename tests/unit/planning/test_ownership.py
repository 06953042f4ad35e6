"""Tests who owns a live object by its labels and its field managers."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pic.core.model import LiveResource, Owner
from pic.core.names import (
    NAME_LABEL,
    NAMESPACE_LABEL,
    STACK_ID_LABEL,
    STACK_LABEL,
    UID_LABEL,
    label_value,
    labels,
    object_name,
)
from pic.planning.ownership import OwnerKind, Ownership

SEED = {UID_LABEL: "uid-1", NAME_LABEL: "web", NAMESPACE_LABEL: "prod"}
STACK = {STACK_LABEL: "pic.prod"}
OURS = Ownership("pic.prod")
WITH_ID = Ownership("pic.prod", stack_id="0a0a0a0a")
AFTER = Ownership("pic.prod", earlier="pic.test")
HOST = "a.example.com"


def live(labels: Mapping[str, str] | None = None, *, managed: bool = False) -> LiveResource:
    return LiveResource("prod", "x", "uid-9", HOST, labels or {}, managed=managed)


@pytest.mark.parametrize(
    ("ownership", "resource", "kind"),
    [
        (OURS, live(STACK), OwnerKind.OURS),
        (OURS, live({STACK_LABEL: "pic.test"}, managed=True), OwnerKind.OTHER_STACK),
        (Ownership(""), live({STACK_LABEL: "pic.test"}), OwnerKind.OURS),
        (AFTER, live({STACK_LABEL: "pic.test"}, managed=True), OwnerKind.EARLIER),
        (AFTER, live(STACK), OwnerKind.OURS),
        (AFTER, live({STACK_LABEL: "pic.dev"}), OwnerKind.OTHER_STACK),
        (Ownership("pic.prod", earlier="pic.prod"), live(STACK), OwnerKind.OURS),
        (OURS, live({STACK_LABEL: ""}), OwnerKind.OTHER_STACK),
        (OURS, live(managed=True), OwnerKind.STRIPPED),
        (OURS, live(SEED, managed=True), OwnerKind.STRIPPED),
        (OURS, live(SEED), OwnerKind.PREDECESSOR),
        (OURS, live({NAME_LABEL: "web"}), OwnerKind.FOREIGN),
        (OURS, live(), OwnerKind.FOREIGN),
    ],
)
def test_labels_and_field_managers_decide_the_owner(
    ownership: Ownership, resource: LiveResource, kind: OwnerKind
) -> None:
    assert ownership.of(resource) is kind


@pytest.mark.parametrize(
    ("ownership", "stack_id", "kind"),
    [
        (WITH_ID, "0a0a0a0a", OwnerKind.OURS),
        (WITH_ID, "0b0b0b0b", OwnerKind.OTHER_STACK),
        (WITH_ID, "", OwnerKind.OURS),
        (OURS, "0b0b0b0b", OwnerKind.OURS),
    ],
)
def test_06_stacks_of_one_name_are_told_apart_by_their_id(
    ownership: Ownership, stack_id: str, kind: OwnerKind
) -> None:
    resource = live({**STACK, STACK_ID_LABEL: stack_id} if stack_id else STACK, managed=True)

    assert ownership.of(resource) is kind


def written(owner: str = "web", uid: str = "uid-1", stack_id: str = "0a0a0a0a") -> LiveResource:
    """Return an object as pic writes it for an Ingress."""
    return LiveResource(
        "prod",
        object_name("prod", owner, HOST),
        "uid-9",
        HOST,
        labels("pic.prod", "prod", owner, uid, stack_id),
        (Owner("prod", owner, uid),),
    )


LONG = "i" * 80
WRITTEN = written()


@pytest.mark.parametrize(
    ("resource", "could"),
    [
        (WRITTEN, True),
        (written(LONG, LONG), True),
        (replace(WRITTEN, owners=()), True),
        (written(stack_id=""), False),
        (written(stack_id="0b0b0b0b"), False),
        (replace(WRITTEN, name="x"), False),
        (replace(WRITTEN, host="b.example.com"), False),
        (replace(WRITTEN, namespace="team"), False),
        (replace(WRITTEN, owners=(Owner("prod", "other", "uid-1"),)), False),
        (replace(WRITTEN, owners=(Owner("prod", "web", "uid-2"),)), False),
        (replace(WRITTEN, owners=(), labels={**WRITTEN.labels, UID_LABEL: ""}), False),
        (replace(WRITTEN, owners=(), labels={**WRITTEN.labels, NAME_LABEL: "other"}), False),
        # The label has only a part of the name, so the name of the object does not follow from it.
        (replace(written(LONG), owners=()), False),
    ],
)
def test_03_only_an_object_with_id_uid_owner_and_name_is_one_that_pic_could_have_made(
    resource: LiveResource, *, could: bool
) -> None:
    assert label_value(LONG) != LONG
    assert WITH_ID.could_have_made(resource) is could
