"""Prints progress messages to standard error, so that standard output holds only data."""

import sys


def echo(text: str) -> None:
    """Print to standard error."""
    print(text, file=sys.stderr, flush=True)
