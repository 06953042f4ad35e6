"""Recognises annotations and labels that look like an annotation of pic but are not one.

Such a key has a neighbouring prefix, another case, or is a label. Its author wants what the right
key does. So a look-alike that asks for protection protects, and every look-alike gets a notice.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache


def simplified(text: str) -> str:
    """Return a word in lower case without separators, so that `blockAccess` is `block-access`."""
    return text.lower().translate({ord(separator): None for separator in "-_. "})


def is_one_edit(text: str, other: str) -> bool:
    """Say whether two texts are equal, or become equal by one character more, less or other.

    Two neighbouring characters that changed places count as one edit as well.
    """
    if abs(len(text) - len(other)) > 1:
        return False
    at = next((at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), None)
    if at is None:
        return True
    swapped = text[:at] + text[at : at + 2][::-1] + text[at + 2 :] == other
    rest, other_rest = text[at:], other[at:]
    return swapped or other_rest[1:] in (rest, rest[1:]) or rest[1:] == other_rest


@dataclass(frozen=True, slots=True)
class LookAlike:
    """A key that looks like one of ours.

    Attributes:
        name: The annotation that is meant, without its prefix.
        is_label: Whether the key is a label. The right key does not count there either.
    """

    key: str
    name: str
    value: str | None
    is_label: bool = False


class LookAlikes:
    """Recognises the keys that look like those below one prefix."""

    def __init__(self, prefix: str, names: Iterable[str], neighbours: Iterable[str]) -> None:
        """Recognise other ways to write some annotations.

        Args:
            prefix: The right prefix, with its slash.
            names: The annotations below it.
            neighbours: Prefixes that people write for it, without a slash. A prefix is also near
                if a part of it is almost the first part of the right one.
        """
        self._prefix = prefix.removesuffix("/")
        self._names = {simplified(name): name for name in names}
        self._right = {f"{prefix}{name}": name for name in self._names.values()}
        self._neighbours = (self._prefix, *neighbours)
        self._word = prefix.partition(".")[0]
        self.meant = lru_cache(maxsize=4096)(self._meant)

    def of(
        self, annotations: Mapping[str, str | None], labels: Mapping[str, str]
    ) -> Iterator[LookAlike]:
        """Yield the look-alikes among some annotations and labels, each by key."""
        for key in sorted(annotations):
            if name := self.meant(key):
                yield LookAlike(key, name, annotations[key])
        for key in sorted(labels):
            if name := self.labelled(key):
                yield LookAlike(key, name, labels[key], is_label=True)

    def labelled(self, key: str) -> str | None:
        """Return the name that the key of a label stands for; None if it is none of ours."""
        return self._right.get(key) or self.meant(key)

    def is_near(self, prefix: str) -> bool:
        """Say whether a prefix, without its slash, is ours or may be meant for it."""
        text = prefix.lower().rstrip("/")
        parts = text.split(".")
        return any(is_one_edit(text, near) for near in self._neighbours) or any(
            is_one_edit(part, self._word) for part in parts
        )

    def _meant(self, key: str) -> str | None:
        """Return the name that a key stands for; None if it is right, or is none of ours."""
        if key in self._right:
            return None
        prefix, slash, name = key.strip().rpartition("/")
        if slash:
            meant = self._names.get(simplified(name))
            return meant if meant and self.is_near(prefix) else None
        text = key.lower()
        if not text.startswith(self._prefix):
            return None
        return self._names.get(simplified(text.removeprefix(self._prefix).lstrip(":")))
