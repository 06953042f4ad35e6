"""Says which classes are ours, and why another one is not, with the class that it may mean."""

from fnmatch import fnmatchcase
from functools import cache

from pic.core.ingress import IngressClass
from pic.core.sources import Ignored, Stop
from pic.planning.look_alikes import is_one_edit
from pic.settings.parse import Settings

OWN_CLASS = "pangolin"
_ANY = "*"
# A shorter class is one edit from too many words.
_SHORTEST = 5


def is_ours(name: str, settings: Settings) -> bool:
    """Say whether a class is one of those whose Ingresses pic exposes."""
    # The suffix names the tunnel, so a class without one cannot be meant.
    if name == f"{OWN_CLASS}-":
        return False
    return any(fnmatchcase(name, pattern) for pattern in settings.ingress_classes if pattern)


class ForeignClasses:
    """Explains the classes that are not ours, each of them once."""

    def __init__(self, classes: tuple[IngressClass, ...] | None, settings: Settings) -> None:
        self._settings = settings
        self._existing = frozenset(it.name for it in classes or ())
        self.stop = cache(self._stop)

    def _stop(self, name: str) -> Stop:
        """Return why Ingresses of a class do not count; an empty name stands for no class."""
        ours = ", ".join(filter(None, self._settings.ingress_classes)) or "none"
        if not name:
            message = f"it has no class, and pic exposes only the classes {ours}"
            return Stop(Ignored.NO_CLASS, message)
        if near := self.near(name):
            return Stop(Ignored.MISSPELT_CLASS, f"class {name}: did you mean {near}?")
        return Stop(
            Ignored.OTHER_CLASS,
            f"its class is {name}, and pic exposes only the classes {ours}",
        )

    def near(self, name: str) -> str:
        """Return the class of ours that a class seems to mean; empty for none."""
        # The cluster has this class, so it is not misspelt.
        if name in self._existing:
            return ""
        patterns = filter(None, self._settings.ingress_classes)
        return next(filter(None, (_meant(name, pattern) for pattern in patterns)), "")


def _meant(name: str, pattern: str) -> str:
    """Return what a class would be with the right spelling of a pattern; empty for another one."""
    # Only a pattern that begins with text can be misspelt.
    stem, star, _ = pattern.partition(_ANY)
    if len(stem) < _SHORTEST:
        return ""
    text = name.strip().lower()
    if not star:
        return pattern if is_one_edit(text.rstrip("-"), pattern.lower()) else ""
    head, rest = text[: len(stem)], text[len(stem) :]
    return f"{stem}{rest}" if rest and is_one_edit(head, stem.lower()) else ""
