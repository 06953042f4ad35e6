"""Which warnings of a plan their Ingresses are told of as Events. No I/O."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pic.core.model import Ingress, Owner
from pic.core.notices import Level, Notice
from pic.core.visible import visible

# Each is a request to the API server in every run of a plain `pulumi up`.
WARNINGS_A_RUN = 100
DIGEST_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Warned:
    """What one Ingress is told for one reason."""

    ingress: Owner
    reason: str
    message: str

    @property
    def digest(self) -> str:
        """Names this text at this very Ingress: the same one is told once."""
        text = json.dumps([self.ingress.uid, self.reason, self.message])
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def warnings(notices: Iterable[Notice], ingresses: Iterable[Ingress]) -> tuple[Warned, ...]:
    """Return the warnings about Ingresses that the cluster has, sorted, not more than it can bear.

    Those of one Ingress with the same reason are one, which says how many they are.
    """
    uids = {(each.namespace, each.name): each.uid for each in ingresses if each.uid}
    found: dict[tuple[Owner, str], set[str]] = {}
    for each in notices:
        uid = uids.get((each.about.namespace, each.about.name))
        if each.level is Level.WARNING and each.about.kind == "Ingress" and uid:
            owner = Owner(each.about.namespace, each.about.name, uid)
            found.setdefault((owner, each.reason.value), set()).add(each.message)
    ordered = sorted(found, key=lambda key: (key[0].namespace, key[0].name, key[1]))
    return tuple(
        Warned(owner, reason, _text(sorted(found[owner, reason])))
        for owner, reason in ordered[:WARNINGS_A_RUN]
    )


def digests(warned: Iterable[Warned]) -> list[str]:
    """Return what a run remembers of what was told, sorted."""
    return sorted(each.digest for each in warned)


def news(warned: Iterable[Warned], told: Iterable[str]) -> tuple[Warned, ...]:
    """Return what the last run has not told."""
    known = frozenset(told)
    return tuple(each for each in warned if each.digest not in known)


def _text(messages: Sequence[str]) -> str:
    rest = f" … and {len(messages) - 1} more: see pic plan" if len(messages) > 1 else ""
    return f"{visible(messages[0])[: 1000 - len(rest)]}{rest}"
