"""Shares out what is limited, such as Events and lines of a log, over namespaces.

The namespaces take turns: each gets its first item, then each gets its second one, and so on. So a
namespace that has many items takes nothing away from those that have few.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def in_turns(items: Iterable[T], namespace: Callable[[T], str]) -> Iterator[T]:
    """Yield the items in turns of their namespaces, which are in the order of their names.

    Args:
        items: The items, those of each namespace with the most important first.
        namespace: Returns the namespace of an item.
    """
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(namespace(item), []).append(item)
    # A namespace without items any more leaves the round.
    queues = [iter(groups[name]) for name in sorted(groups)]
    while queues:
        round_, queues = queues, []
        for queue in round_:
            for item in islice(queue, 1):
                yield item
                queues.append(queue)


def shared_out(items: Iterable[T], limit: int, namespace: Callable[[T], str]) -> list[T]:
    """Return at most `limit` items, in their order. The namespaces take turns.

    Args:
        items: The items, those of each namespace with the most important first.
        limit: How many items to return at most.
        namespace: Returns the namespace of an item.
    """
    turns = in_turns(enumerate(items), lambda numbered: namespace(numbered[1]))
    return [item for _, item in sorted(islice(turns, limit), key=lambda numbered: numbered[0])]
