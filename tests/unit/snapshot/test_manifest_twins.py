"""Tests which objects of manifests are twins: the same object, twice."""

import io

import pytest

from pic.core.errors import ManifestError
from pic.snapshot import manifests

WEB = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"


def places(text: str) -> list[str]:
    return [document.where for document in manifests.read(["-"], io.StringIO(text)).documents]


def refusal(text: str) -> str:
    with pytest.raises(ManifestError) as caught:
        places(text)
    return str(caught.value)


@pytest.mark.parametrize(
    "twin", [WEB, WEB.replace("{name: web}", "{name: web, namespace: default}")]
)
def test_equal_objects_are_one_and_differing_ones_are_refused_with_both_lines(twin: str) -> None:
    other = f"{twin}spec: {{type: ExternalName}}\n"

    assert places(f"{WEB}---\n{twin}") == ["stdin:1"]
    assert refusal(f"{WEB}---\n{other}") == (
        "stdin:5: Service default/web occurs twice and differs; the first is at stdin:1: read only"
        " one of the two"
    )


def test_values_that_python_takes_for_equal_differ() -> None:
    first, second = (f"{WEB}spec: {{x: {value}}}\n" for value in ("1", "true"))

    assert "occurs twice" in refusal(f"{first}---\n{second}")


def test_objects_of_kinds_that_pic_does_not_read_may_occur_twice_and_differ() -> None:
    twins = [
        f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: prod, labels: {{team: {team}}}}}\n"
        for team in "ab"
    ]

    assert len(places("---\n".join(twins))) == 2


def test_objects_that_differ_in_group_kind_namespace_or_name_are_others() -> None:
    variants = [
        WEB,
        WEB.replace("web", "other"),
        WEB.replace("Service", "Ingress"),
        WEB.replace("v1", "example.com/v1"),
        WEB.replace("{name: web}", "{name: web, namespace: prod}"),
    ]

    assert len(places("---\n".join(variants))) == len(variants)


def test_objects_without_a_name_are_never_the_same() -> None:
    nameless = "apiVersion: v1\nkind: Service\nmetadata: {namespace: prod}\n"
    empty = nameless.replace("{namespace", "{name: '', namespace")

    text = "---\n".join([nameless, nameless, empty, empty.replace("v1", "v1\nspec: {}", 1)])
    assert len(places(text)) == 4


@pytest.mark.parametrize("metadata", ["3", "{}", "{name: 3}", "{name: web, namespace: [a]}"])
def test_objects_with_malformed_metadata_are_not_compared(metadata: str) -> None:
    text = WEB.replace("{name: web}", metadata)

    assert len(places(f"{text}---\n{text}")) == 2
