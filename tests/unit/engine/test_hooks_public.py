"""Tests the Events of hosts in Pangolin itself, and what stops their deletion."""

from dataclasses import replace

import pytest

from pic.core.model import Owner
from pic.engine.hooks import Hooks, RunContext
from pic.planning.ownership import Ownership
from tests.support import engine
from tests.support.hooks import STACK, OneObjectTransport, hook_args

HOST = "app.example.com"
OWNERS = {HOST: (Owner("prod", "web", "uid-1"),)}


def call(hook: str, context: RunContext | None) -> str:
    """Call a hook of a host, and return the text of its error."""
    values = {"host": HOST}
    errors: list[str] = []

    async def program() -> None:
        hooks = Hooks()
        if context:
            hooks.bind(context)
        try:
            await getattr(hooks, hook)(hook_args(old_inputs=values, new_inputs=values))
        except RuntimeError as caught:
            errors.append(str(caught))

    engine.run(program)
    return "".join(errors)


@pytest.mark.parametrize(
    ("hook", "reason", "text"),
    [
        ("post_published", "Created", "is published by Pangolin"),
        ("post_republished", "Updated", "is changed in Pangolin"),
        (
            "post_unpublished",
            "Deleted",
            "is no longer published: its resource in Pangolin is deleted",
        ),
    ],
)
def test_a_changed_host_is_reported_at_its_ingress(hook: str, reason: str, text: str) -> None:
    transport = OneObjectTransport()
    context = RunContext(transport, Ownership(STACK), events=True, publishers=OWNERS)

    assert call(hook, context) == ""
    assert call(hook, replace(context, publishers={})) == ""
    assert call(hook, None) == ""

    events = [
        (b["involvedObject"]["name"], b["reason"], b["message"]) for _, _, b in transport.requests
    ]
    assert events == [("web", reason, f"{HOST} {text}")]


def test_no_host_is_deleted_if_pangolin_was_not_read() -> None:
    context = RunContext(OneObjectTransport(), Ownership(STACK), events=True)
    unread = replace(context, unread_reasons={"pangolin-api": "no answer [temporary]"})

    assert call("check_published", context) == ""
    assert call("check_published", unread) == (
        "not deleted: this run could not read pangolin-api: no answer [temporary]"
    )
    assert call("check_published", None) == (
        "pic does not know its Pangolin yet, so nothing is deleted"
    )
