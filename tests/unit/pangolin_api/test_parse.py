"""Rows of Pangolin as values."""

import pytest

from pic.core.json_values import MalformedError
from pic.pangolin_api import parse


def test_the_headers_of_a_health_check_may_be_a_text() -> None:
    text = '[{"name": "a", "value": "b"}]'
    row = parse.target({"targetId": 1, "hcHeaders": text})
    assert row.fields["hcHeaders"] == [{"name": "a", "value": "b"}]
    assert parse.target({"targetId": 1, "hcHeaders": ""}).fields["hcHeaders"] is None


def test_a_row_without_its_id_is_malformed() -> None:
    with pytest.raises(MalformedError, match="siteId is not a number"):
        parse.site({})
    with pytest.raises(MalformedError, match="domainId is not a text"):
        parse.domain({"domainId": ""})


def test_a_lock_of_a_listed_resource_is_seen() -> None:
    row = parse.listed({"resourceId": 1, "pincodeId": 3, "fullDomain": "A.Example.com"})
    assert (row.locks, row.host, row.targets) == (True, "a.example.com", ())
