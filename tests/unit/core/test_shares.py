"""Tests how namespaces share what is limited."""

from hypothesis import given
from hypothesis import strategies as st

from pic.core.shares import in_turns, shared_out

items = st.lists(st.sampled_from(["a1", "a2", "a3", "b1", "b2", "c1"]), unique=True)


def namespace(item: str) -> str:
    return item[0]


def test_namespaces_take_turns_by_name() -> None:
    assert list(in_turns(["b1", "a1", "a2", "a3", "c1", "b2"], namespace)) == [
        *("a1", "b1", "c1"),
        *("a2", "b2"),
        "a3",
    ]


def test_what_is_shared_out_keeps_its_order() -> None:
    assert shared_out(["b1", "a1", "a2", "a3", "c1", "b2"], 4, namespace) == [
        "b1",
        "a1",
        "a2",
        "c1",
    ]


def test_of_more_namespaces_than_items_the_first_by_name_get_one() -> None:
    assert shared_out(["c1", "b1", "a1", "a2"], 2, namespace) == ["b1", "a1"]


@given(items, st.integers(0, 6))
def test_a_namespace_with_more_items_than_another_gets_at_least_as_many(
    names: list[str], limit: int
) -> None:
    chosen = shared_out(names, limit, namespace)

    assert len(chosen) == min(limit, len(names))
    assert chosen == [name for name in names if name in chosen]
    given_to = {space: sum(namespace(name) == space for name in chosen) for space in "abc"}
    # A namespace with something left over has at most one item less than any other one.
    for name in set(names) - set(chosen):
        assert max(given_to.values()) <= given_to[namespace(name)] + 1
