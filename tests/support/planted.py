"""Secrets that the tests work with: none of them may be in anything that is printed."""

from collections.abc import Mapping

from dev.workspace import PASSPHRASE

TOKEN = "let-me-in"  # noqa: S105 - of no server but that of the tests
# In settings where none belongs.
MISPLACED = "hunter2"
PLANTED = (MISPLACED, PASSPHRASE, TOKEN)
VARIABLES = ("PASSPHRASE", "PASSWORD", "TOKEN", "SECRET")
# Shorter ones are words that a message may well have.
LEAST = 8


def leaks(text: str, secrets: tuple[str, ...] = PLANTED) -> list[str]:
    """Return the secrets that are in a text."""
    return [each for each in secrets if each in text]


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of an environment that nobody may see."""
    named = (value for key, value in environment.items() if key.endswith(VARIABLES))
    return tuple(value for value in named if len(value) >= LEAST)
