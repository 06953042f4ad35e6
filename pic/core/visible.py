"""Decides which characters of a text a reader cannot see, and makes them visible.

Texts from the cluster and from Pi-hole reach terminals, logs, Markdown, HTML and Events. A control
character could move the cursor there, and a change of writing direction or a zero-width character
could make one host look like another. The rule is `str.isprintable`: it excludes control, format,
unassigned and private characters, and every space but the ordinary one.
"""

from collections.abc import Callable


def is_visible(text: str) -> bool:
    """Say whether a reader sees every character of a text; a line break is not visible."""
    return text.isprintable()


def visible(text: str) -> str:
    """Return a text with the code point of each invisible character in its place."""
    return _replaced(text, lambda char: f"\\u{ord(char):04x}")


def blanked(text: str) -> str:
    """Return a text with a space for each invisible character, for prose in a narrow column."""
    return _replaced(text, lambda _: " ")


def _replaced(text: str, substitute: Callable[[str], str]) -> str:
    # Nearly every text is visible as a whole, and one call for it is fast.
    if is_visible(text):
        return text
    return "".join(char if is_visible(char) else substitute(char) for char in text)
