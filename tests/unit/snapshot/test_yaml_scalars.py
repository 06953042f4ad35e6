"""Tests that scalars mean what kubectl reads."""

import pytest

from pic.snapshot.yaml_scalars import parse_scalar


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("", None),
        ("~", None),
        ("NULL", None),
        ("yes", True),
        ("On", True),
        ("y", True),
        ("OFF", False),
        ("tRUE", "tRUE"),
        ("8080", 8080),
        ("-1_000", -1000),
        ("0777", 511),
        ("+0o17", 15),
        ("0x1F", 31),
        ("0b11", 3),
        ("08", 8),
        ("0b2", "0b2"),
        ("0x", "0x"),
        ("0x_", "0x_"),
        (".5", 0.5),
        ("80.0", 80),
        ("1e3", 1000),
        ("1e300", 1e300),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        ("9" * 65, "9" * 65),
        ("-", "-"),
        ("web", "web"),
    ],
)
def test_a_scalar_without_quotes_has_the_value_that_kubectl_reads(
    text: str, meaning: object
) -> None:
    value = parse_scalar(text)

    assert (value, type(value)) == (meaning, type(meaning))
