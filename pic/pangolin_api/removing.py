"""Unpublishes hosts, and looks that their resources are gone.

Each request costs Pangolin the same, so many removals share one look: the list, as soon as enough
deletes are done or no other one is on its way.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from threading import Lock

from pic.core.errors import PangolinError
from pic.pangolin_api.client import Client

_FEW = 2  # so many are looked at one by one
_MANY = 16  # so many removals do not wait for more

Looks = Mapping[int, Future[None]]


class Removals:
    """Removes resources for many threads."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = Lock()
        self._sending = 0
        self._waiting: dict[int, Future[None]] = {}

    def remove(self, resource: int) -> None:
        """Delete a resource, if it exists, and look that it is gone.

        Raises:
            PangolinError: The resource still exists, as far as pic knows.
        """
        look: Future[None] = Future()
        with self._lock:
            self._sending += 1
        try:
            self._client.delete(resource)
            with self._lock:
                self._waiting[resource] = look
        finally:
            # Whoever is the last one looks for all, also if its own delete has failed.
            self._look(self._due())
        look.result()

    def _due(self) -> Looks:
        """Return the removals that are to be looked at now."""
        with self._lock:
            self._sending -= 1
            if self._sending and len(self._waiting) < _MANY:
                return {}
            due, self._waiting = self._waiting, {}
            return due

    def _look(self, due: Looks) -> None:
        """Look which resources are left, and tell all that wait for it."""
        try:
            left = self._left(due)
        except PangolinError as error:
            for look in due.values():
                look.set_exception(error)
            return
        for resource, look in due.items():
            if resource in left:
                look.set_exception(_still_there(resource))
            else:
                look.set_result(None)

    def _left(self, due: Looks) -> set[int]:
        reader = self._client.reader
        if len(due) <= _FEW:
            return {resource for resource in due if reader.exists(resource)}
        return {row.id for row in reader.resources()}


def _still_there(resource: int) -> PangolinError:
    return PangolinError(
        f"Pangolin still has resource {resource}, although it has accepted its deletion: run pic"
        " again"
    )
