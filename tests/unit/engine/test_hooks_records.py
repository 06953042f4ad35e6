"""What the hooks of DNS records tell, and when a delete is stopped."""

from dataclasses import replace

import pytest

from pic.core.model import Owner
from pic.engine.hooks import Hooks, RunContext
from pic.planning.ownership import Ownership
from tests.support import engine
from tests.unit.engine.test_hooks import STACK, Cluster, args


def record(hook: str, surroundings: RunContext | None) -> Exception | None:
    """Call a hook of a record of app.lan, and return its error."""
    values = {"host": "app.lan", "ip": "10.0.0.1"}
    error: list[Exception] = []

    async def program() -> None:
        hooks = Hooks()
        if surroundings:
            hooks.bind(surroundings)
        try:
            await getattr(hooks, hook)(args(old_inputs=values, new_inputs=values))
        except RuntimeError as caught:
            error.append(caught)

    engine.run(program)
    return error[0] if error else None


OWNERS = {"app.lan": (Owner("prod", "web", "uid-1"), Owner("team", "api", "uid-2"))}


@pytest.mark.parametrize(
    ("hook", "reason", "text"),
    [
        ("registered", "Created", "Pi-hole answers app.lan with 10.0.0.1"),
        ("readdressed", "Updated", "Pi-hole answers app.lan with a new address, 10.0.0.1"),
        ("gone", "Deleted", "Pi-hole no longer answers app.lan with 10.0.0.1"),
    ],
)
def test_each_ingress_of_a_record_is_told_of_it(hook: str, reason: str, text: str) -> None:
    cluster = Cluster()

    assert record(hook, RunContext(cluster, Ownership(STACK), events=True, owners=OWNERS)) is None
    assert record(hook, RunContext(cluster, Ownership(STACK), events=False, owners=OWNERS)) is None
    assert record(hook, RunContext(cluster, Ownership(STACK), events=True)) is None
    assert record(hook, None) is None

    told = [(b["involvedObject"]["name"], b["reason"], b["message"]) for _, _, b in cluster.posted]
    assert told == [("web", reason, text), ("api", reason, text)]


def test_no_record_is_deleted_where_pihole_was_not_read() -> None:
    unread = {"pihole": "it is away [temporary]"}
    read = RunContext(Cluster(), Ownership(STACK), events=True)

    assert record("check_read", read) is None
    assert str(record("check_read", replace(read, unread=unread))) == (
        "not deleted: this run could not read pihole: it is away [temporary]"
    )
    assert str(record("check_read", None)) == (
        "pic does not know its Pi-hole yet, so nothing is deleted"
    )
