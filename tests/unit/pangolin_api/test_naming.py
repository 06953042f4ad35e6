"""Our niceIds, and which resources are ours."""

import re

import pytest

from pic.pangolin_api.model import ListedResource, ListedTarget
from pic.pangolin_api.naming import is_ours, is_unfinished, nice_id, prefix

HOST = "a.example.com"


def listed(nice: str, name: str = HOST, targets: tuple[ListedTarget, ...] = ()) -> ListedResource:
    flags = {"enabled": True, "sso": True, "whitelist": False, "locks": False}
    return ListedResource(1, nice, name, HOST, **flags, targets=targets)


@pytest.mark.parametrize(
    ("stack", "stack_id", "start"),
    [
        ("prod", "0123456789", "pic-prod-01234567-"),
        ("team/prod_1", "0123-4567-89", "pic-team-prod-1-01234567-"),
        ("ä", "", "pic-stack-x-"),
        ("x" * 300, "1", f"pic-{'x' * 60}-1-"),
    ],
)
def test_the_prefix_is_legal_in_pangolin(stack: str, stack_id: str, start: str) -> None:
    assert prefix(stack, stack_id) == start
    assert re.fullmatch(r"[a-zA-Z0-9-]{1,255}", nice_id(stack, stack_id, HOST))


def test_hosts_and_stacks_have_names_of_their_own() -> None:
    names = [nice_id("a", "1", HOST), nice_id("a", "2", HOST), nice_id("a", "1", "b.example.com")]
    assert len(set(names)) == 3
    assert nice_id("a", "1", HOST.upper()) == names[0]


def test_a_marked_resource_is_ours() -> None:
    nice = nice_id("a", "1", HOST)
    assert is_ours(listed(nice, name="renamed"), nice)
    assert not is_ours(listed(nice_id("a", "2", HOST)), nice)


def test_only_an_unmarked_resource_with_our_name_and_no_target_is_unfinished() -> None:
    target = ListedTarget(1, 1, "10.0.0.1", 80, enabled=True, health="unknown")
    assert is_unfinished(listed("calm-otter-7"))
    assert not is_unfinished(listed("calm-otter-7", name="mine"))
    assert not is_unfinished(listed("calm-otter-7", targets=(target,)))
