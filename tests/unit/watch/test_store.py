"""What is known of the cluster, and when it changed."""

from itertools import count

import pytest

from pic.cluster.listing import Listing
from pic.core.json_values import MalformedError
from pic.settings import kinds
from pic.watch import store
from pic.watch.store import Store, UnpackedObjects, Updates

HERE, THERE = (Listing(kinds.BY_NAME[kinds.SERVICE], place) for place in ("a", "b"))
CLASSES = Listing(kinds.BY_NAME[kinds.INGRESS_CLASS])


def raw(name: str, **spec: object) -> dict[str, object]:
    return {"metadata": {"namespace": "a", "name": name}, "spec": spec}


def packed(name: str, **spec: object) -> bytes:
    return store.pack(kinds.SERVICE, raw(name, **spec))


class Ring:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


def made(*reads: Listing) -> tuple[Store, Ring]:
    """A cache whose clock counts how often it is asked."""
    ticks, ring = count(1), Ring()
    return Store(reads, lambda: float(next(ticks)), ring), ring


def test_nothing_is_known_at_first() -> None:
    known, _ = made(HERE, CLASSES)

    news = known.news()

    assert news == Updates(None, 0.0, None, {"Service": False, "IngressClass": False})
    assert not news.complete


def test_a_kind_is_known_once_all_its_places_are() -> None:
    known, ring = made(HERE, THERE)
    known.replace(HERE, {"a/web": packed("web")})

    assert known.news() == Updates(1.0, 1.0, 1.0, {"Service": False})

    known.replace(THERE, {})

    assert known.news() == Updates(2.0, 2.0, 2.0, {"Service": True})
    assert ring.count == 2


def test_news_are_told_once_from_the_first_change_to_the_last() -> None:
    known, _ = made(HERE)
    known.put(HERE, "a/web", packed("web"))
    known.put(HERE, "a/api", packed("api"))
    known.put(HERE, "a/web", None)
    known.heard()

    assert known.news() == Updates(1.0, 3.0, 4.0, {"Service": False})
    assert known.news() == Updates(None, 3.0, 4.0, {"Service": False})
    assert known.objects() == (3, {"Service": UnpackedObjects([packed("api")])})


def test_what_planning_does_not_look_at_is_no_change() -> None:
    known, ring = made(HERE)
    known.put(HERE, "a/web", packed("web", sessionAffinity="None"))
    known.put(HERE, "a/web", packed("web", sessionAffinity="ClientIP"))

    assert (known.changes, ring.count) == (1, 1)


def test_a_listing_of_the_same_is_no_change() -> None:
    known, _ = made(HERE)
    for _ in range(2):
        known.replace(HERE, {"a/web": packed("web")})

    assert known.changes == 1


def test_what_is_lost_and_found_again_is_known() -> None:
    known, ring = made(HERE)
    known.replace(HERE, {})
    known.lost(HERE)
    lost = known.news().complete
    known.found(HERE)
    known.found(HERE)

    assert (lost, known.news().complete) == (False, True)
    assert (known.changes, ring.count) == (1, 3)


def test_objects_are_maps_when_they_are_looked_at() -> None:
    found = UnpackedObjects([packed("a"), packed("b"), packed("c")])

    assert len(found) == 3
    assert [each["metadata"] for each in found] == [raw(name)["metadata"] for name in "abc"]
    assert found[1]["metadata"] == {"namespace": "a", "name": "b"}
    assert found[1:] == UnpackedObjects([packed("b"), packed("c")])


def test_an_object_is_named_by_namespace_and_name() -> None:
    assert store.object_key(raw("web")) == "a/web"
    assert store.object_key({"metadata": {"name": "pangolin"}}) == "/pangolin"
    with pytest.raises(MalformedError):
        store.object_key({"metadata": []})
