"""Recognises variables that no tool has filled in, such as `${HOST}`, in texts of manifests."""

import re

# The forms of envsubst, Flux and Helm, of shells, of Kubernetes and kustomize, and of examples. A
# regular expression names its groups like an example: (?P<name>…).
_VARIABLE = re.compile(
    r"\$\{[^{}]*\}?|\{\{.*?(?:\}\}|$)|\$\([^()]*\)?|(?<!\w)\$[A-Za-z_]\w*|\$[A-Z_][A-Z0-9_]+"
    r"|(?<![?P])<[A-Za-z][^<>]*>",
    re.ASCII,
)
_LONGEST = 80


def variable_in(text: str) -> str:
    """Return the first variable in a text as it is written; an empty text if there is none."""
    match = _VARIABLE.search(text)
    return match.group()[:_LONGEST] if match else ""


def not_filled_in(text: str) -> str:
    """Return what to say about the first variable in a text; an empty text if there is none."""
    variable = variable_in(text)
    return f"variable not filled in: {variable}" if variable else ""
