"""The owners of the fields of an adopted object, before and after the transfer."""

from typing import Any

import pytest

from pic.cluster.managed_fields import take_over, takeover_patch
from pic.core.json_values import MalformedError
from pic.core.names import NAME_LABEL, UID_LABEL

TIME = "2026-01-01T00:00:00Z"
Fields = dict[str, Any]

SEEDED: Fields = {f"f:{NAME_LABEL}": {}, f"f:{UID_LABEL}": {}}
FINALIZERS: Fields = {".": {}, 'v:"resource.pangolin.io/finalizer"': {}}
SPEC: Fields = {"f:enabled": {}, "f:siteRef": {"f:siteId": {}}}


def entry(
    fields: object, manager: str = "manager", operation: str = "Update", **more: object
) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "time": TIME,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **more,
    }


def applied(fields: object) -> dict[str, Any]:
    return entry(fields, "pic", "Apply")


CONTROLLER = entry({"f:metadata": {"f:labels": SEEDED}, "f:spec": SPEC})
STATUS = entry({"f:status": {"f:url": {}}}, subresource="status")


def test_pic_takes_over_the_fields_of_the_controller() -> None:
    assert take_over([CONTROLLER, STATUS]) == [STATUS, applied(CONTROLLER["fieldsV1"])]


def test_an_operator_of_the_same_name_keeps_finalizers_and_status() -> None:
    fields = {
        "f:metadata": {"f:finalizers": FINALIZERS, "f:labels": SEEDED},
        "f:spec": SPEC,
        "f:status": {"f:url": {}},
    }

    assert take_over([entry(fields)]) == [
        entry({"f:metadata": {"f:finalizers": FINALIZERS}, "f:status": {"f:url": {}}}),
        applied({"f:metadata": {"f:labels": SEEDED}, "f:spec": SPEC}),
    ]


def test_each_manager_that_updated_the_spec_is_an_old_owner() -> None:
    user = entry({"f:spec": {"f:protocol": {}}}, "kubectl-edit")

    assert take_over([CONTROLLER, user]) == [
        applied({"f:metadata": {"f:labels": SEEDED}, "f:spec": {**SPEC, "f:protocol": {}}})
    ]


def test_a_manager_that_set_the_labels_is_an_old_owner_even_with_a_finalizer() -> None:
    labelled = entry({"f:metadata": {"f:finalizers": FINALIZERS, "f:labels": SEEDED}})

    assert take_over([labelled]) == [
        entry({"f:metadata": {"f:finalizers": FINALIZERS}}),
        applied({"f:metadata": {"f:labels": SEEDED}}),
    ]


@pytest.mark.parametrize(
    "other",
    [
        entry({"f:metadata": {"f:finalizers": FINALIZERS}, "f:spec": SPEC}, "operator"),
        entry({"f:metadata": {"f:annotations": {"f:note": {}}}}, "user"),
        entry({"f:metadata": {"f:labels": {"f:team": {}}}}, "user"),
        entry({"f:spec": SPEC}, "argocd", "Apply"),
        entry({"f:spec": SPEC}, apiVersion="tunnel.pangolin.io/v1beta1"),
        entry({"f:spec": SPEC}, "pic", "Apply", subresource="status"),
        STATUS,
    ],
)
def test_other_managers_keep_their_fields(other: dict[str, Any]) -> None:
    assert take_over([other]) is None
    assert take_over([other, CONTROLLER]) == [other, applied(CONTROLLER["fieldsV1"])]


def test_the_fields_are_added_to_those_that_pic_has_applied_already() -> None:
    ours = applied({"f:spec": {"f:enabled": {}, "f:targets": {}}})

    assert take_over([ours, CONTROLLER]) == [
        applied({"f:spec": {**SPEC, "f:targets": {}}, "f:metadata": {"f:labels": SEEDED}})
    ]


@pytest.mark.parametrize(("one", "other"), [({}, {"f:ip": {}}), ({"f:ip": {}}, {})])
def test_a_field_owned_as_a_whole_and_in_part_stays_owned_both_ways(
    one: object, other: object
) -> None:
    entries = [entry({"f:spec": {"f:target": fields}}) for fields in (one, other)]

    assert take_over(entries) == [applied({"f:spec": {"f:target": {".": {}, "f:ip": {}}}})]


def test_the_patch_names_the_resource_version_of_the_object() -> None:
    metadata = {"resourceVersion": "7", "managedFields": [CONTROLLER]}

    assert takeover_patch({"metadata": metadata}) == {
        "metadata": {"resourceVersion": "7", "managedFields": [applied(CONTROLLER["fieldsV1"])]}
    }


@pytest.mark.parametrize("metadata", [None, {}, {"managedFields": [STATUS]}])
def test_without_an_old_owner_no_patch_is_needed(metadata: object) -> None:
    assert takeover_patch({"metadata": metadata}) is None


@pytest.mark.parametrize(
    "metadata", [1, {"managedFields": {}}, {"managedFields": ["x"]}, {"managedFields": [{}, 1]}]
)
def test_managed_fields_of_another_shape_are_an_error(metadata: object) -> None:
    with pytest.raises(MalformedError):
        takeover_patch({"metadata": metadata})
