"""Recognises annotations below `pihole.io/` that pic does not know, and those that look like ours.

None of them has an effect. But if one reads like the hosts or the address of the records, pic would
make other records than its author wants. So the Ingress gets none until the annotation is right.
"""

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache

from pic.core.ingress import Ingress
from pic.core.notices import Reason
from pic.planning.annotations import MOST_SHOWN
from pic.planning.look_alikes import LookAlikes, simplified
from pic.planning.notice_log import NoticeLog, Problem

PREFIX = "pihole.io/"
NAMES = ("register", "hosts", "target-ip", "managed-hosts")
# What happens to the records of an Ingress whose annotations cannot be read.
HELD = "live records stay unchanged, new ones are not made"

_LOOK_ALIKES = LookAlikes(PREFIX, NAMES, ("pi.hole", "pihole.ingress.k8s.io"))
_HIDING = frozenset({"hosts", "target-ip"})

# Other words for the address and for the hosts, as `simplified` returns them.
_ADDRESS_WORDS = frozenset({"ip", "ips", "ipv4", "ipv6", "address", "addresses", "addr"})
_HOST_WORDS = ("host", "domain", "name", "dns")


@lru_cache(maxsize=4096)
def meant(key: str) -> str | None:
    """Return the annotation that a key stands for, without the prefix.

    It is empty if the key has our prefix but reads like none of ours. It is None for a key that is
    right, or has nothing to do with pic.
    """
    prefix, slash, name = key.rpartition("/")
    if key.startswith(PREFIX):
        return None if name in NAMES else _nearest(name)
    if name_meant := _LOOK_ALIKES.meant(key):
        return name_meant
    return _nearest(name) or None if slash and _LOOK_ALIKES.is_near(prefix) else None


def label_meant(key: str) -> str | None:
    """Return the annotation that the key of a label stands for; None if it is none of ours."""
    return _LOOK_ALIKES.labelled(key)


def report(ingress: Ingress, notices: NoticeLog, *, registered: bool) -> frozenset[str]:
    """Report what was meant for pic but is none of its annotations.

    Args:
        ingress: The Ingress.
        notices: Gets the notices.
        registered: The Ingress requests records.

    Returns:
        Which of `hosts` and `target-ip` an annotation reads like, so that pic cannot know them.
    """
    hidden: set[str] = set()
    for key, name in _named(ingress.annotations, meant):
        hides = registered and name in _HIDING
        hidden |= {name} if hides else set()
        effect = f" Until it is corrected, {HELD}" if hides else ""
        message = f"{key[:MOST_SHOWN]} is not a known annotation; {_hint(name)}{effect}"
        _report(ingress, notices, message)
    for key, name in _named(ingress.labels, label_meant):
        message = f"label {key[:MOST_SHOWN]} is not read: write the annotation {PREFIX}{name}"
        _report(ingress, notices, message)
    return frozenset(hidden)


def _report(ingress: Ingress, notices: NoticeLog, message: str) -> None:
    notices.add(ingress, Problem(Reason.UNKNOWN_ANNOTATION, message))


def _named(
    keys: Iterable[str], reads_like: Callable[[str], str | None]
) -> Iterator[tuple[str, str]]:
    for key in sorted(keys):
        name = reads_like(key)
        if name is not None:
            yield key, name


def _hint(name: str) -> str:
    return f"did you mean {PREFIX}{name}?" if name else f"known are {', '.join(NAMES)}"


def _nearest(name: str) -> str:
    """Return the annotation that a name reads like; empty for none."""
    word = simplified(name)
    if word in _ADDRESS_WORDS or word.startswith(("target", "ipaddr")):
        return "target-ip"
    if word.startswith(_HOST_WORDS):
        return "hosts"
    near = get_close_matches(word, map(simplified, NAMES), n=1)
    return next((known for known in NAMES if near and simplified(known) == near[0]), "")
