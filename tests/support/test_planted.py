"""The guard over everything that tests print: what it finds."""

import pytest

from tests.support.planted import (
    PLANTED,
    TOKEN,
    leaks,
    secrets_of,
)


def test_a_secret_is_found_wherever_it_is_in_a_text() -> None:
    assert leaks(f"Bearer {TOKEN}\n") == [TOKEN]
    assert leaks("nothing of that kind") == []
    assert leaks(" ".join(PLANTED)) == list(PLANTED)


def test_what_nobody_may_see_of_an_environment_is_told_by_its_names() -> None:
    environment = {
        "PIHOLE_PASSWORD": "long-enough",
        "PULUMI_CONFIG_PASSPHRASE": "wrong",
        "PULUMI_STACK": "a-long-name",
        "PIHOLE_API_TOKEN": "also-long-enough",
    }

    assert secrets_of(environment) == ("long-enough", "also-long-enough")


def test_a_test_that_reads_a_secret_in_what_was_printed_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print(TOKEN)  # noqa: T201 - what is tested

    with pytest.raises(AssertionError):
        capsys.readouterr()
