"""Checks that the generated pages of docs/ are up to date."""

import pytest

from dev import docs


@pytest.mark.parametrize("name", sorted(docs.pages()))
def test_a_generated_page_is_up_to_date(name: str) -> None:
    page = (docs.DOCS / name).read_text(encoding="utf-8")

    assert page == docs.pages()[name], "run `make docs`"
