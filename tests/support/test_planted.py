"""Tests the check for secrets in everything that tests print."""

import pytest

from tests.support.planted import PLANTED, TOKEN, leaks, secrets_of


def test_a_secret_is_detected_anywhere_in_a_text() -> None:
    assert leaks(f"Bearer {TOKEN}\n") == [TOKEN]
    assert leaks("no secret") == []
    assert leaks(" ".join(PLANTED)) == list(PLANTED)


def test_the_name_of_a_variable_tells_whether_its_value_is_secret() -> None:
    environment = {
        "PIHOLE_PASSWORD": "long-enough",
        "PULUMI_CONFIG_PASSPHRASE": "wrong",
        "PULUMI_STACK": "a-long-name",
        "PIHOLE_API_TOKEN": "also-long-enough",
    }

    assert secrets_of(environment) == ("long-enough", "also-long-enough")


def test_reading_printed_output_fails_if_it_has_a_secret(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print(TOKEN)  # noqa: T201 - this output is what the test checks

    with pytest.raises(AssertionError):
        capsys.readouterr()
