"""Stores the parts of each object that planning reads, as the followers receive them.

The objects are packed as JSON, which takes a third of the memory of their maps and lists. A change
of any other part does not count as a change. The class is thread-safe.
"""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from pic.cluster.listing import Listing
from pic.core.json_values import Raw, mapping, text
from pic.snapshot import projection

Objects = dict[str, bytes]
"""Packed objects by namespace and name."""


def pack(kind: str, raw: Raw) -> bytes:
    """Return the parts of an object that planning reads, as JSON."""
    # Sorted keys, so that equal objects have equal bytes.
    projected = projection.PROJECTIONS[kind](raw)
    return json.dumps(projected, separators=(",", ":"), sort_keys=True).encode()


def object_key(raw: Raw) -> str:
    """Return the namespace and name of an object, as `namespace/name`.

    Raises:
        MalformedError: The object has no metadata, or they are not a map.
    """
    metadata = mapping(raw.get("metadata"), "metadata")
    return f"{text(metadata.get('namespace'))}/{text(metadata.get('name'))}"


@dataclass(frozen=True, slots=True)
class UnpackedObjects(Sequence[Raw]):
    """Unpacks objects one at a time, while a caller iterates over them."""

    packed: Sequence[bytes]

    def __len__(self) -> int:
        """Return the number of objects."""
        return len(self.packed)

    @overload
    def __getitem__(self, index: int) -> Raw: ...
    @overload
    def __getitem__(self, index: slice) -> "UnpackedObjects": ...
    def __getitem__(self, index: int | slice) -> "Raw | UnpackedObjects":
        """Return one object, or a part of the sequence."""
        if isinstance(index, slice):
            return UnpackedObjects(self.packed[index])
        return mapping(json.loads(self.packed[index]), "object")

    def __iter__(self) -> Iterator[Raw]:
        """Yield each object."""
        return (mapping(json.loads(packed), "object") for packed in self.packed)


@dataclass(frozen=True, slots=True)
class Updates:
    """What has changed in the store since the last call of `Store.take_updates`.

    Attributes:
        first_change: When the oldest of these changes came; None without a change.
        last_change: When the newest change of all came.
        contact_at: When the API server last answered; None if it never has.
        synced: For each kind, whether all its collections are complete and followed.
    """

    first_change: float | None
    last_change: float
    contact_at: float | None
    synced: Mapping[str, bool]

    @property
    def complete(self) -> bool:
        """Every kind is synced."""
        return all(self.synced.values())


class Store:
    """Holds the objects of all followed collections.

    Args:
        listings: The collections that are followed.
        clock: Seconds that never go back.
        wake: Called after each change of the store.
    """

    def __init__(
        self, listings: Iterable[Listing], clock: Callable[[], float], wake: Callable[[], None]
    ) -> None:
        self._clock, self._wake = clock, wake
        self._lock = threading.Lock()
        self._objects: dict[Listing, Objects] = {listing: {} for listing in listings}
        self._synced = dict.fromkeys(self._objects, False)
        self._change_count = 0
        self._first_change: float | None = None
        self._last_change = 0.0
        self._contact_at: float | None = None

    def replace(self, listing: Listing, objects: Objects) -> None:
        """Replace a whole collection."""
        with self._lock:
            changed = not self._synced[listing] or self._objects[listing] != objects
            self._objects[listing] = objects
            self._synced[listing] = True
            self._record(changed=changed)
        # Also without a change, because the store may be complete now.
        self._wake()

    def put(self, listing: Listing, key: str, packed: bytes | None) -> None:
        """Set one object, or remove it if `packed` is None."""
        with self._lock:
            changed = self._objects[listing].get(key) != packed
            if packed is None:
                self._objects[listing].pop(key, None)
            else:
                self._objects[listing][key] = packed
            self._record(changed=changed)
        if changed:
            self._wake()

    def record_contact(self) -> None:
        """Record that the API server has answered."""
        with self._lock:
            self._contact_at = self._clock()

    def mark_unsynced(self, listing: Listing) -> None:
        """Record that a collection may have changed unseen."""
        with self._lock:
            self._synced[listing] = False
        self._wake()

    def mark_synced(self, listing: Listing) -> None:
        """Record that a complete collection is watched again, with no change missed."""
        with self._lock:
            was_synced = self._synced[listing]
            self._synced[listing] = True
            self._record(changed=False)
        if not was_synced:
            self._wake()

    def take_updates(self) -> Updates:
        """Return what has changed since the last call."""
        with self._lock:
            first, self._first_change = self._first_change, None
            synced: dict[str, bool] = {}
            # A kind has a collection for each namespace, if the settings name namespaces.
            for listing, is_synced in self._synced.items():
                synced[listing.kind.name] = synced.get(listing.kind.name, True) and is_synced
            return Updates(first, self._last_change, self._contact_at, synced)

    @property
    def change_count(self) -> int:
        """The number of changes so far; while it stays equal, no object has changed."""
        with self._lock:
            return self._change_count

    def objects(self) -> tuple[int, Mapping[str, Sequence[Raw]]]:
        """Return the number of changes so far, and all objects by kind."""
        with self._lock:
            kinds: dict[str, list[bytes]] = {}
            for listing, objects in self._objects.items():
                kinds.setdefault(listing.kind.name, []).extend(objects.values())
            # Packed objects never change, so the result needs no lock.
            unpacked = {kind: UnpackedObjects(packed) for kind, packed in kinds.items()}
            return self._change_count, unpacked

    def _record(self, *, changed: bool) -> None:
        self._contact_at = now = self._clock()
        if changed:
            self._change_count += 1
            self._first_change = now if self._first_change is None else self._first_change
            self._last_change = now
