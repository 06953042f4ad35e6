"""Lists the secrets of the tests; no output may contain one of them."""

from collections.abc import Mapping

from dev.workspace import PASSPHRASE

TOKEN = "let-me-in"  # noqa: S105 - only for servers that tests start
# A password that a test puts into a setting that should not hold one.
MISPLACED = "hunter2"
PLANTED = (MISPLACED, PASSPHRASE, TOKEN)
VARIABLES = ("PASSPHRASE", "PASSWORD", "TOKEN", "SECRET")
# A shorter value may be a word that occurs in a message by chance.
MIN_LENGTH = 8


def leaks(text: str, secrets: tuple[str, ...] = PLANTED) -> list[str]:
    """Return the secrets that a text contains."""
    return [secret for secret in secrets if secret in text]


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secret values of an environment, which the names of the variables reveal."""
    values = (value for key, value in environment.items() if key.endswith(VARIABLES))
    return tuple(value for value in values if len(value) >= MIN_LENGTH)
