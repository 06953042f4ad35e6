"""Words for people, beside the data on standard output."""

import sys


def echo(text: str) -> None:
    """Print to standard error."""
    print(text, file=sys.stderr, flush=True)
