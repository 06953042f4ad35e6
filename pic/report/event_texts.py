"""Decides which warnings of a plan their Ingresses get as Events.

All warnings of one Ingress with the same reason become one text. A digest names each text, and the
outputs of the stack record the digests, so that a later run reports only what is new (ADR 15).
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pic.core import shares
from pic.core.ingress import Ingress
from pic.core.model import Owner
from pic.core.notices import Level, Notice
from pic.core.visible import visible

# A plain `pulumi up` sends a request to the API server for each of these in every run.
WARNINGS_A_RUN = 100
DIGEST_LENGTH = 16
# The API server rejects an Event whose message is longer than 1,024 characters.
MAX_MESSAGE = 1000


@dataclass(frozen=True, slots=True)
class EventText:
    """The warning that one Ingress gets for one reason."""

    ingress: Owner
    reason: str
    message: str

    @property
    def digest(self) -> str:
        """Names this text for exactly this Ingress, so that it is reported only once."""
        # The uid and not the name: an Ingress that was created again has no Events yet.
        text = json.dumps([self.ingress.uid, self.reason, self.message])
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def warnings(notices: Iterable[Notice], ingresses: Iterable[Ingress]) -> tuple[EventText, ...]:
    """Return the warnings about Ingresses of the cluster, sorted, at most `WARNINGS_A_RUN`.

    If there are more, the namespaces share them, so that none takes the Events of another one. An
    Ingress from a manifest file has no uid and cannot have Events.
    """
    uids = {(ingress.namespace, ingress.name): ingress.uid for ingress in ingresses if ingress.uid}
    messages: dict[tuple[Owner, str], set[str]] = {}
    for notice in notices:
        about = notice.about
        uid = uids.get((about.namespace, about.name))
        if notice.level is Level.WARNING and about.kind == "Ingress" and uid:
            owner = Owner(about.namespace, about.name, uid)
            messages.setdefault((owner, notice.reason.value), set()).add(notice.text)
    # Sorted before the limit, so that every run picks the same warnings.
    ordered = sorted(messages, key=lambda key: (key[0].namespace, key[0].name, key[1]))
    chosen = shares.shared_out(ordered, WARNINGS_A_RUN, lambda key: key[0].namespace)
    return tuple(
        EventText(owner, reason, _text(sorted(messages[owner, reason]))) for owner, reason in chosen
    )


def digests(texts: Iterable[EventText]) -> list[str]:
    """Return the digests of the texts, sorted, as a run stores them."""
    return sorted(text.digest for text in texts)


def unreported(texts: Iterable[EventText], reported: Iterable[str]) -> tuple[EventText, ...]:
    """Return the texts whose digests an earlier run has not stored."""
    stored = frozenset(reported)
    return tuple(text for text in texts if text.digest not in stored)


def _text(messages: Sequence[str]) -> str:
    rest = f" … and {len(messages) - 1} more: run pic plan" if len(messages) > 1 else ""
    return f"{visible(messages[0])[: MAX_MESSAGE - len(rest)]}{rest}"
