"""Defines what a guard holds: a change of one host or record that waits for an acknowledgement."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

# Digests of whole runs have 12 characters, so the length tells both apart.
DIGEST_LENGTH = 16


class Verdict(StrEnum):
    """Why a guard holds a change. The values are public: JSON and metrics contain them.

    WEAKENED: The host would lose its login or its access block.
    MOVED: The host would move to another namespace, or its tunnel to one in another namespace.
    REMOVED: The host would be removed, and pic has removed too many within the window.
    OUTSIDE: The host would be removed because pic:namespaces does not list its namespace any more.
    RETARGETED: The host would lead to another tunnel, address or port, together with many others.
    """

    WEAKENED = "weakened"
    MOVED = "moved"
    REMOVED = "removed"
    OUTSIDE = "outside"
    RETARGETED = "retargeted"


@dataclass(frozen=True, slots=True)
class Held:
    """One change that waits.

    Attributes:
        host: The public host, or the id of a DNS record, such as `app.example.com/A`.
        namespace: The namespace that has the host.
        old: What stays, as a report shows it, such as `team-a` or `sso`.
        new: What would come in its place; empty for nothing.
        reason: Why it is held, as a sentence without its end.
        digest: Acknowledges exactly this change.
    """

    host: str
    verdict: Verdict
    namespace: str
    old: str
    new: str
    reason: str
    digest: str


def digest_of(*parts: object) -> str:
    """Return the digest that names one change."""
    text = json.dumps(parts)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def acknowledging(held: Sequence[Held]) -> str:
    """Return the digest that lets everything through that is held; empty for nothing.

    For one change it is that of the change, so that it stays valid if another one is held later.
    """
    if len(held) == 1:
        return held[0].digest
    return digest_of_all(change.digest for change in held) if held else ""


def digest_of_all(digests: Iterable[str]) -> str:
    """Return the digest that acknowledges several changes at once."""
    return digest_of("all", *sorted(digests))
