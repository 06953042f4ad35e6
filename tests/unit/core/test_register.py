"""Tests the times of the register and the bucket of a host."""

from datetime import UTC, datetime, timedelta

import pytest

from pic.core.register import BUCKETS, bucket_of, expired, moment, timestamp

DAY = timedelta(days=1)
NOW = "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("gone", "now", "is_expired"),
    [
        ("2026-01-01T00:00:00Z", NOW, True),
        ("2026-01-01T00:00:01Z", NOW, False),
        ("2026-01-01T02:00:00+02:00", NOW, True),
        ("2026-01-01T00:00:00", NOW, True),
        ("", NOW, False),
        ("2026-01-01T00:00:00Z", "", False),
        ("never", NOW, True),
        ("9999-12-31T23:59:59Z", NOW, False),
    ],
)
def test_what_is_gone_expires_after_a_while(gone: str, now: str, *, is_expired: bool) -> None:
    assert expired(gone, now, DAY) is is_expired


def test_a_time_is_read_as_it_was_written() -> None:
    assert timestamp(moment(NOW)) == NOW
    assert timestamp(moment("2026-01-02T02:00:00.9+02:00")) == NOW
    assert moment("never") == datetime.min.replace(tzinfo=UTC)
    assert timestamp(moment("9999-12-31T23:59:59Z") + DAY) == "9000-01-02T00:00:00Z"


def test_hosts_are_spread_over_all_buckets_and_stay_in_theirs() -> None:
    hosts = [f"h{at}.example.com" for at in range(500)]

    assert {bucket_of(host) for host in hosts} == set(BUCKETS)
    assert bucket_of("a.example.com") == "7"
