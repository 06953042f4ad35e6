"""Names and labels of our objects, and what Kubernetes accepts."""

import hashlib
from uuid import NAMESPACE_URL, uuid5

import pytest

from pic.core import names


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def test_an_object_is_named_after_its_ingress_and_a_hash_of_its_host() -> None:
    expected = f"pic-prod-web-{digest('prod/web/app.example.com')}"

    assert names.object_name("prod", "web", "app.example.com") == expected


@pytest.mark.parametrize(
    ("ingress", "prefix"),
    [
        ("a" * 235, "a" * 235),
        ("a" * 236, "a" * 235),
        ("a" * 234 + ".b", "a" * 234),
        ("a" * 233 + "-.b", "a" * 233),
        ("a" * 253, "a" * 235),
    ],
)
def test_a_name_over_253_characters_is_cut_before_its_hash(ingress: str, prefix: str) -> None:
    name = names.object_name("prod", ingress, "h")

    assert name == f"pic-prod-{prefix}-{digest(f'prod/{ingress}/h')}"
    assert names.is_object_name(name)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("web", "web"),
        ("", ""),
        ("a" * 63, "a" * 63),
        ("a" * 64, f"{'a' * 54}-{digest('a' * 64)}"),
        ("a" * 53 + "." + "b" * 20, f"{'a' * 53}-{digest('a' * 53 + '.' + 'b' * 20)}"),
        ("a/b", f"a-b-{digest('a/b')}"),
        ("-a", f"a-{digest('-a')}"),
        ("ü", f"x-{digest('ü')}"),
    ],
)
def test_a_label_value_is_the_text_or_a_prefix_and_a_hash(text: str, value: str) -> None:
    assert names.label_value(text) == value
    assert names.label_value(value) == value


def test_an_object_has_four_labels() -> None:
    assert names.labels("pic.prod", "prod", "web", "uid-1") == {
        "pic.ingress.k8s.io/name": "web",
        "pic.ingress.k8s.io/namespace": "prod",
        "pic.ingress.k8s.io/stack": "pic.prod",
        "pic.ingress.k8s.io/uid": "uid-1",
    }


@pytest.mark.parametrize(
    ("text", "is_object", "is_label"),
    [
        ("web", True, True),
        ("web.v1", True, False),
        ("0-9", True, True),
        ("a" * 63, True, True),
        ("a" * 64, True, False),
        ("a" * 253, True, False),
        ("a" * 254, False, False),
        ("", False, False),
        ("Web", False, False),
        ("-a", False, False),
        ("a-", False, False),
        ("a.-b", False, False),
        ("a..b", False, False),
        ("a_b", False, False),
        ("a\n", False, False),
    ],
)
def test_names_are_legal_by_the_rules_of_kubernetes(
    text: str, *, is_object: bool, is_label: bool
) -> None:
    assert (names.is_object_name(text), names.is_label_name(text)) == (is_object, is_label)


def test_a_derived_uid_depends_on_kind_namespace_and_name_alone() -> None:
    assert names.derived_uid("Ingress", "prod", "web") == str(
        uuid5(NAMESPACE_URL, "Ingress/prod/web")
    )
