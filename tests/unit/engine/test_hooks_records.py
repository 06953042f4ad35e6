"""Tests the Events that the hooks of DNS records post, and when they stop a deletion."""

from dataclasses import replace

import pytest

from pic.core.model import Owner
from pic.engine.hooks import Hooks, RunContext
from pic.planning.ownership import Ownership
from tests.support import engine
from tests.support.hooks import STACK, OneObjectTransport, hook_args


def call_record_hook(hook: str, context: RunContext | None) -> Exception | None:
    """Call a hook of a record of app.lan, and return its error."""
    values = {"host": "app.lan", "ip": "10.0.0.1"}
    error: list[Exception] = []

    async def program() -> None:
        hooks = Hooks()
        if context:
            hooks.bind(context)
        try:
            await getattr(hooks, hook)(hook_args(old_inputs=values, new_inputs=values))
        except RuntimeError as caught:
            error.append(caught)

    engine.run(program)
    return error[0] if error else None


OWNERS = {"app.lan": (Owner("prod", "web", "uid-1"), Owner("team", "api", "uid-2"))}


@pytest.mark.parametrize(
    ("hook", "reason", "text"),
    [
        ("post_record_created", "Created", "Pi-hole answers app.lan with 10.0.0.1"),
        ("post_record_updated", "Updated", "Pi-hole answers app.lan with a new address, 10.0.0.1"),
        ("post_record_deleted", "Deleted", "Pi-hole no longer answers app.lan with 10.0.0.1"),
    ],
)
def test_a_changed_record_is_reported_at_each_of_its_ingresses(
    hook: str, reason: str, text: str
) -> None:
    transport = OneObjectTransport()

    assert (
        call_record_hook(hook, RunContext(transport, Ownership(STACK), events=True, owners=OWNERS))
        is None
    )
    assert (
        call_record_hook(hook, RunContext(transport, Ownership(STACK), events=False, owners=OWNERS))
        is None
    )
    assert call_record_hook(hook, RunContext(transport, Ownership(STACK), events=True)) is None
    assert call_record_hook(hook, None) is None

    events = [
        (b["involvedObject"]["name"], b["reason"], b["message"]) for _, _, b in transport.requests
    ]
    assert events == [("web", reason, text), ("api", reason, text)]


def test_no_record_is_deleted_if_pihole_was_not_read() -> None:
    unread = {"pihole": "no answer [temporary]"}
    read = RunContext(OneObjectTransport(), Ownership(STACK), events=True)

    assert call_record_hook("check_read", read) is None
    assert str(call_record_hook("check_read", replace(read, unread_reasons=unread))) == (
        "not deleted: this run could not read pihole: no answer [temporary]"
    )
    assert str(call_record_hook("check_read", None)) == (
        "pic does not know its Pi-hole yet, so nothing is deleted"
    )
