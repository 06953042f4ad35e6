"""The pages of docs/ that are made from code."""

import pytest

from dev import docs


@pytest.mark.parametrize("name", sorted(docs.pages()))
def test_the_page_on_disk_is_what_the_code_says(name: str) -> None:
    on_disk = (docs.DOCS / name).read_text(encoding="utf-8")

    assert on_disk == docs.pages()[name], "run `make docs`"
