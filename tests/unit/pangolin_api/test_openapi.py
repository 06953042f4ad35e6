"""What a document says of a Pangolin: its words, its fields, and whether it is too old."""

import pytest

from dev.pangolin_api import V1_15, V1_18, V1_22
from dev.pangolin_api.schema import document
from pic.core.errors import FailureClass
from pic.pangolin_api import openapi
from tests.support.pangolin_client import fails

URL = "https://api.example.com"


@pytest.mark.parametrize(
    ("version", "word", "has_mode"),
    [(V1_18, "resource", False), (V1_22, "public-resource", True)],
)
def test_the_newest_word_and_the_fields_are_read(
    version: tuple[int, int],
    word: str,
    has_mode: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    dialect = openapi.read(document(version), URL)
    assert (dialect.word, "mode" in dialect.create) == (word, has_mode)
    assert {"sso", "niceId"} < dialect.update
    assert {"ip", "hcEnabled"} < dialect.target


def test_a_version_without_pages_is_too_old() -> None:
    with fails(FailureClass.INVALID, "older than 1.16", "update Pangolin"):
        openapi.read(document(V1_15), URL)


@pytest.mark.parametrize("other", [None, [], {}, {"paths": []}, {"paths": {"/pets": {}}}])
def test_another_server_is_no_pangolin(other: object) -> None:
    with fails(FailureClass.INVALID, f"{URL} is not the Integration API of Pangolin"):
        openapi.read(other, URL)


def test_a_document_of_another_form_has_no_fields() -> None:
    parameters = [None, {"name": "pageSize"}]
    path = "/org/{orgId}/resources"
    paths: dict[str, object] = {path: {"get": {"parameters": parameters}}}
    dialect = openapi.read({"paths": paths}, URL)
    assert dialect == openapi.Dialect("resource", frozenset(), frozenset(), frozenset())
    paths[path] = {"get": {"parameters": "none"}}
    with fails(FailureClass.INVALID, "older than 1.16"):
        openapi.read({"paths": paths}, URL)
