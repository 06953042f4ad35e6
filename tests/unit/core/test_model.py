"""The names that the values of a plan have in Pulumi."""

import pytest

from pic.core.model import RECORD_TYPE, LiveRecord, Record, record_id


def test_the_type_of_a_record_is_the_one_that_existing_states_hold() -> None:
    assert RECORD_TYPE == "pihole:index:DnsRecord"


@pytest.mark.parametrize(("ip", "identifier"), [("10.0.0.1", "a.lan/A"), ("fe80::1", "a.lan/AAAA")])
def test_a_planned_and_a_live_record_of_a_host_and_family_have_one_id(
    ip: str, identifier: str
) -> None:
    assert record_id(Record("a.lan", ip, ())) == identifier
    assert record_id(LiveRecord("a.lan", ip)) == identifier
