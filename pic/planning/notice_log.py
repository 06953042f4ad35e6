"""Collects notices while a plan is made."""

from pic.core.model import Ingress
from pic.core.notices import Notice, Reason, Ref


class NoticeLog:
    """Collects notices; the same one is kept once, and they leave sorted."""

    def __init__(self) -> None:
        self._found: dict[Notice, None] = {}

    def add(self, reason: Reason, ingress: Ingress, message: str, host: str | None = None) -> None:
        """Add a notice about an Ingress, or about one host of it."""
        self.put(Notice(reason, ref(ingress), message, host))

    def put(self, notice: Notice) -> None:
        """Add a notice about anything."""
        self._found[notice] = None

    def sorted(self) -> tuple[Notice, ...]:
        """Return them by object, host and reason."""
        return tuple(sorted(self._found, key=lambda notice: notice.order))


def ref(ingress: Ingress) -> Ref:
    """Name an Ingress."""
    return Ref("Ingress", ingress.namespace, ingress.name)
