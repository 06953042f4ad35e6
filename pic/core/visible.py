"""Escapes characters that a reader cannot see."""

import unicodedata

# Unicode categories of what is not seen, or changes how its neighbours are seen.
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    """Return a text in which nothing is hidden: no control, no change of writing direction."""
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) in _INVISIBLE else char for char in text
    )
