"""Describes PangolinResources that a branch writes by itself, so that no plan of pic has them."""

from dataclasses import dataclass
from enum import StrEnum

from pic.core.model import LiveResource


class OutsideChange(StrEnum):
    """What a branch does to such an object."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class OutsideExposure:
    """A PangolinResource in the files of a branch.

    Attributes:
        namespace: Its namespace as text, also if that is not a legal name.
        name: Its name, likewise.
        resource: The object with the branch, or without it if the branch removes it; None if it
            cannot be read.
        before: The object without the branch; None if there is none, or it cannot be read.
        remark: What a reviewer should know about the object; empty if there is nothing.
    """

    change: OutsideChange
    namespace: str
    name: str
    resource: LiveResource | None
    before: LiveResource | None = None
    remark: str = ""

    @property
    def host(self) -> str:
        """Its public host; empty if the object does not determine one."""
        return self.resource.host if self.resource else ""

    @property
    def order(self) -> tuple[str, str, str]:
        """The key that reports sort by."""
        return self.host, self.namespace, self.name
