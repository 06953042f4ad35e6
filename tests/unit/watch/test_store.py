"""Tests what the store holds, and how it reports changes."""

from itertools import count

import pytest

from pic.cluster.listing import Listing
from pic.core.json_values import MalformedError
from pic.settings import kinds
from pic.watch.store import Store, UnpackedObjects, Updates, object_key, pack

SERVICES_A, SERVICES_B = (
    Listing(kinds.BY_NAME[kinds.SERVICE], namespace) for namespace in ("a", "b")
)
INGRESS_CLASSES = Listing(kinds.BY_NAME[kinds.INGRESS_CLASS])


def raw_service(name: str, **spec: object) -> dict[str, object]:
    return {"metadata": {"namespace": "a", "name": name}, "spec": spec}


def packed(name: str, **spec: object) -> bytes:
    return pack(kinds.SERVICE, raw_service(name, **spec))


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


def new_store(*listings: Listing) -> tuple[Store, Counter]:
    """Return a store whose clock counts its calls, and the counter of its wakeups."""
    ticks, wakeups = count(1), Counter()
    return Store(listings, lambda: float(next(ticks)), wakeups), wakeups


def test_no_kind_is_synced_at_first() -> None:
    store, _ = new_store(SERVICES_A, INGRESS_CLASSES)

    updates = store.take_updates()

    assert updates == Updates(None, 0.0, None, {"Service": False, "IngressClass": False})
    assert not updates.complete


def test_a_kind_is_synced_once_all_its_namespaces_are() -> None:
    store, wakeups = new_store(SERVICES_A, SERVICES_B)
    store.replace(SERVICES_A, {"a/web": packed("web")})

    assert store.take_updates() == Updates(1.0, 1.0, 1.0, {"Service": False})

    store.replace(SERVICES_B, {})

    assert store.take_updates() == Updates(2.0, 2.0, 2.0, {"Service": True})
    assert wakeups.count == 2


def test_updates_are_returned_once_from_the_first_change_to_the_last() -> None:
    store, _ = new_store(SERVICES_A)
    store.put(SERVICES_A, "a/web", packed("web"))
    store.put(SERVICES_A, "a/api", packed("api"))
    store.put(SERVICES_A, "a/web", None)
    store.record_contact()

    assert store.take_updates() == Updates(1.0, 3.0, 4.0, {"Service": False})
    assert store.take_updates() == Updates(None, 3.0, 4.0, {"Service": False})
    assert store.objects() == (3, {"Service": UnpackedObjects([packed("api")])})


def test_a_field_that_planning_does_not_read_does_not_count_as_a_change() -> None:
    store, wakeups = new_store(SERVICES_A)
    store.put(SERVICES_A, "a/web", packed("web", sessionAffinity="None"))
    store.put(SERVICES_A, "a/web", packed("web", sessionAffinity="ClientIP"))

    assert (store.change_count, wakeups.count) == (1, 1)


def test_a_list_with_the_same_objects_does_not_count_as_a_change() -> None:
    store, _ = new_store(SERVICES_A)
    for _ in range(2):
        store.replace(SERVICES_A, {"a/web": packed("web")})

    assert store.change_count == 1


def test_a_collection_that_is_watched_again_is_synced() -> None:
    store, wakeups = new_store(SERVICES_A)
    store.replace(SERVICES_A, {})
    store.mark_unsynced(SERVICES_A)
    lost = store.take_updates().complete
    store.mark_synced(SERVICES_A)
    store.mark_synced(SERVICES_A)

    assert (lost, store.take_updates().complete) == (False, True)
    assert (store.change_count, wakeups.count) == (1, 3)


def test_objects_are_unpacked_when_they_are_read() -> None:
    objects = UnpackedObjects([packed("a"), packed("b"), packed("c")])

    assert len(objects) == 3
    assert [raw["metadata"] for raw in objects] == [raw_service(name)["metadata"] for name in "abc"]
    assert objects[1]["metadata"] == {"namespace": "a", "name": "b"}
    assert objects[1:] == UnpackedObjects([packed("b"), packed("c")])


def test_the_key_of_an_object_is_its_namespace_and_name() -> None:
    assert object_key(raw_service("web")) == "a/web"
    assert object_key({"metadata": {"name": "pangolin"}}) == "/pangolin"
    with pytest.raises(MalformedError):
        object_key({"metadata": []})
