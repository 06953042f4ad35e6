"""Tests which keys are taken for an annotation of pic."""

import pytest

from pic.planning.annotations import LOOK_ALIKES, PREFIX
from pic.planning.look_alikes import LookAlike, is_one_edit, simplified


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (f"{PREFIX}sso", None),
        (f"{PREFIX}SSO", "sso"),
        (f"{PREFIX}blockAccess", "block-access"),
        (f"{PREFIX}block_access", "block-access"),
        (f"{PREFIX}block-acess", None),
        ("Pangolin.Ingress.K8s.io/sso", "sso"),
        ("pangolin.ingress.kubernetes.io/sso", "sso"),
        ("pangolin.ingress.kubernetes.io/subdomain", "subdomain"),
        ("pangolin.kubernetes.io/sso", "sso"),
        ("pangolin.k8s.io/sso", "sso"),
        ("pangolin.io/sso", "sso"),
        ("pangolin/sso", "sso"),
        ("pangolim.ingress.k8s.io/sso", "sso"),
        ("pangolin.ingres.k8s.io/sso", "sso"),
        ("ingress.pangolin.net/sso", "sso"),
        ("pic.ingress.k8s.io/sso", "sso"),
        ("pangolin.ingress.k8s.io.sso", "sso"),
        ("pangolin.ingress.k8s.io:sso", "sso"),
        ("pangolin.ingress.k8s.io.other", None),
        ("pangolin.io/anything", None),
        ("example.com/sso", None),
        ("nginx.ingress.kubernetes.io/sso", None),
        ("sso", None),
        ("", None),
    ],
)
def test_a_key_stands_for_the_annotation_that_it_looks_like(key: str, name: str | None) -> None:
    assert LOOK_ALIKES.meant(key) == name


def test_annotations_and_labels_are_found_with_their_values() -> None:
    annotations = {"pangolin.io/sso": None, f"{PREFIX}sso": "true", "a": "b"}
    labels = {f"{PREFIX}sso": "true", "app": "web"}

    assert list(LOOK_ALIKES.of(annotations, labels)) == [
        LookAlike("pangolin.io/sso", "sso", None),
        LookAlike(f"{PREFIX}sso", "sso", "true", is_label=True),
    ]


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("abc", "abc", True),
        ("abc", "abcd", True),
        ("abcd", "abc", True),
        ("abc", "xabc", True),
        ("xabc", "abc", True),
        ("abc", "axc", True),
        ("abc", "acb", True),
        ("abc", "ab", True),
        ("abc", "xyz", False),
        ("abc", "abcde", False),
        ("abcd", "bacde", False),
    ],
)
def test_one_edit_adds_drops_replaces_or_swaps(text: str, other: str, *, expected: bool) -> None:
    assert is_one_edit(text, other) is expected


def test_a_simplified_word_has_no_case_and_no_separators() -> None:
    assert simplified("Block_Access-x. y") == "blockaccessxy"
