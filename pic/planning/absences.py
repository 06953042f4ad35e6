"""Decides what it means that manifest files lack an object that an Ingress names.

A plan from files alone knows no cluster. Files that have some Services need not have all of them,
so a Service that is not in the files may exist all the same. It counts as unknown, like an object
of a kind that was not read at all, unless the user says that the files hold everything.
"""

from collections.abc import Iterator, Mapping, Sequence

from pic.core.files import FilesRead
from pic.core.notices import Notice, Reason, Ref
from pic.settings.kinds import INGRESS_CLASS, ORGANIZATION, SERVICE, TUNNEL

# What pic does where it cannot look at an object.
_ASSUMED: Mapping[str, str] = {
    INGRESS_CLASS: "so Ingresses without a class count as those of pic",
    SERVICE: "so pic takes their port numbers as they are",
    TUNNEL: "so pic takes their names as they are",
    ORGANIZATION: "so pic does not know which domains are verified",
}
# The name in a notice about a class that no Ingress names.
DEFAULT_CLASS = "(default)"
_NAMED = 3


class Absences:
    """Collects the objects that the files lack.

    Attributes:
        tolerated: Whether an object may exist although it was not read.
    """

    def __init__(self, files: FilesRead | None = None) -> None:
        self.tolerated = files is not None and files.partial
        self._absent: dict[str, set[Ref]] = {}

    def tolerates(self, kind: str, namespace: str, name: str) -> bool:
        """Say whether planning goes on without an object, and remember that it was absent."""
        if self.tolerated:
            self._absent.setdefault(kind, set()).add(Ref(kind, namespace, name))
        return self.tolerated

    def notices(self) -> Iterator[Notice]:
        """Yield one notice for each kind, about the first absent object of that kind."""
        for kind, absent in sorted(self._absent.items()):
            names = sorted(absent)
            message = (
                f"{_many(kind, names)} not in the files, which have others of this kind,"
                f" {_ASSUMED[kind]}: pass --complete if the files hold everything"
            )
            yield Notice(Reason.NOT_IN_FILES, names[0], message)


def _many(kind: str, names: Sequence[Ref]) -> str:
    if kind == INGRESS_CLASS:
        return "the default class is"
    if len(names) == 1:
        return f"1 {kind} that an Ingress needs is"
    listed = ", ".join(map(str, names[:_NAMED]))
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} {kind}s that Ingresses need ({listed}{rest}) are"
