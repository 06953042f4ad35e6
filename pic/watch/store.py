"""What is known of the cluster: of each object what planning looks at, packed. Thread-safe.

Packed as JSON, an object takes a third of the memory of its maps and lists, and a change of
something that planning does not look at is no change.
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


def pack(kind: str, raw: Raw) -> bytes:
    """Return what planning looks at of an object."""
    found = projection.PROJECTIONS[kind](raw)
    return json.dumps(found, separators=(",", ":"), sort_keys=True).encode()


def object_key(raw: Raw) -> str:
    """Return namespace and name.

    Raises:
        MalformedError: It has no map of metadata.
    """
    metadata = mapping(raw.get("metadata"), "metadata")
    return f"{text(metadata.get('namespace'))}/{text(metadata.get('name'))}"


@dataclass(frozen=True, slots=True)
class UnpackedObjects(Sequence[Raw]):
    """Objects that are maps only while they are looked at, one after the other."""

    packed: Sequence[bytes]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.packed)

    @overload
    def __getitem__(self, at: int) -> Raw: ...
    @overload
    def __getitem__(self, at: slice) -> "UnpackedObjects": ...
    def __getitem__(self, at: int | slice) -> "Raw | UnpackedObjects":
        """Return one of them, or a part."""
        if isinstance(at, slice):
            return UnpackedObjects(self.packed[at])
        return mapping(json.loads(self.packed[at]), "object")

    def __iter__(self) -> Iterator[Raw]:
        """Yield each."""
        return (mapping(json.loads(each), "object") for each in self.packed)


@dataclass(frozen=True, slots=True)
class Updates:
    """What came since it was asked last.

    Attributes:
        first: When the oldest change came; None where there was none.
        last: When the newest one came.
        contact: When the API server has answered last; None where it never has.
        synced: Of each kind, whether everything is known.
    """

    first: float | None
    last: float
    contact: float | None
    synced: Mapping[str, bool]

    @property
    def complete(self) -> bool:
        """Everything of every kind is known."""
        return all(self.synced.values())


class Store:
    """What the feeds know of the cluster.

    Args:
        reads: The collections that are followed.
        clock: Seconds that only grow.
        ring: Called after each change of what is known.
    """

    def __init__(
        self, reads: Iterable[Listing], clock: Callable[[], float], ring: Callable[[], None]
    ) -> None:
        self._clock, self._ring = clock, ring
        self._lock = threading.Lock()
        self._objects: dict[Listing, Objects] = {each: {} for each in reads}
        self._synced = dict.fromkeys(self._objects, False)
        self._changes = 0
        self._first: float | None = None
        self._last = 0.0
        self._contact: float | None = None

    def replace(self, read: Listing, objects: Objects) -> None:
        """Take in a whole listing."""
        with self._lock:
            fresh = not self._synced[read] or self._objects[read] != objects
            self._objects[read] = objects
            self._synced[read] = True
            self._note(changed=fresh)
        self._ring()

    def put(self, read: Listing, name: str, found: bytes | None) -> None:
        """Take in one object; None is one that is gone."""
        with self._lock:
            changed = self._objects[read].get(name) != found
            if found is None:
                self._objects[read].pop(name, None)
            else:
                self._objects[read][name] = found
            self._note(changed=changed)
        if changed:
            self._ring()

    def heard(self) -> None:
        """Note that the API server has answered."""
        with self._lock:
            self._contact = self._clock()

    def lost(self, read: Listing) -> None:
        """Note that nobody knows what is there any more."""
        with self._lock:
            self._synced[read] = False
        self._ring()

    def found(self, read: Listing) -> None:
        """Note that changes are followed, on top of a whole listing."""
        with self._lock:
            fresh = not self._synced[read]
            self._synced[read] = True
            self._note(changed=False)
        if fresh:
            self._ring()

    def news(self) -> Updates:
        """Return what came since the last call."""
        with self._lock:
            first, self._first = self._first, None
            synced: dict[str, bool] = {}
            for read, known in self._synced.items():
                synced[read.kind.name] = synced.get(read.kind.name, True) and known
            return Updates(first, self._last, self._contact, synced)

    @property
    def changes(self) -> int:
        """How many changes there were; the same number means that all is the same."""
        with self._lock:
            return self._changes

    def objects(self) -> tuple[int, Mapping[str, Sequence[Raw]]]:
        """Return the number of changes, and everything by kind."""
        with self._lock:
            found: dict[str, list[bytes]] = {}
            for read, objects in self._objects.items():
                found.setdefault(read.kind.name, []).extend(objects.values())
            return self._changes, {kind: UnpackedObjects(each) for kind, each in found.items()}

    def _note(self, *, changed: bool) -> None:
        self._contact = now = self._clock()
        if changed:
            self._changes += 1
            self._first = now if self._first is None else self._first
            self._last = now
