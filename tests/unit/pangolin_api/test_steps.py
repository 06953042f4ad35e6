"""The requests of an update, in their order, as values."""

from dataclasses import replace
from typing import Any

import pytest

from dev.pangolin_api import V1_18
from dev.pangolin_api.schema import document
from pic.core.errors import FailureClass
from pic.pangolin_api import openapi
from pic.pangolin_api.model import Live, LiveTarget, Rule, Target, Wanted
from pic.pangolin_api.steps import Step, plan, problems
from tests.support.pangolin_api import HOST
from tests.support.pangolin_client import OTHER, TARGET, fails, wanted

DIALECT = openapi.read(document(V1_18), "")
OLD = LiveTarget(
    1,
    {"siteId": 1, "ip": "10.0.0.1", "port": 80, "method": "http", "enabled": True, "priority": 100},
)
ACCEPT, DROP, PASS = (
    Rule(at, action, "IP", "192.0.2.1") for at, action in enumerate(("ACCEPT", "DROP", "PASS"))
)
SWAP = ["PUT /target", "DELETE /target/1"]


def live(fields: dict[str, object] | None = None, **parts: Any) -> Live:
    own = {"niceId": wanted().nice_id, "name": HOST, "sso": True, "enabled": True}
    return replace(Live(1, HOST, {**own, **(fields or {})}, (OLD,)), **parts)


def short(step: Step) -> str:
    if step.action in {"updateResource", "setResourceWhitelist", "setResourceRoles"}:
        body = ", ".join(f"{name}={value}" for name, value in (step.body or {}).items())
        return f"{step.method} {step.path} {body}".replace("  ", " ")
    if step.action == "createResourceRule":
        return f"{step.method} {step.path} {(step.body or {})['action']}"
    return f"{step.method} {step.path}"


def order(before: Live, after: Wanted) -> list[str]:
    """Return the requests of a change that also replaces the target."""
    return [short(step) for step in plan(before, replace(after, targets=(OTHER,)), DIALECT).all]


def test_nothing_differs() -> None:
    assert plan(live(), wanted(), DIALECT).all == ()


@pytest.mark.parametrize(
    ("before", "after", "requests"),
    [
        ({"sso": False}, {}, ["POST sso=True", *SWAP]),
        ({}, {"sso": False}, [*SWAP, "POST sso=False"]),
        ({}, {"block": True}, ["POST blockAccess=True", *SWAP]),
        ({"blockAccess": True}, {}, [*SWAP, "POST blockAccess=False"]),
        ({}, {"enabled": False}, ["POST enabled=False", *SWAP]),
        ({"enabled": False}, {}, [*SWAP, "POST enabled=True"]),
        (
            {"sso": False},
            {"sso": True, "sticky": True},
            ["POST stickySession=True, sso=True", *SWAP],
        ),
        ({}, {"sso": False, "ssl": True}, [*SWAP, "POST ssl=True, sso=False"]),
        ({}, {"host_header": "x"}, ["POST setHostHeader=x", *SWAP]),
        ({"tlsServerName": "x"}, {"tls_server_name": ""}, ["POST tlsServerName=None", *SWAP]),
    ],
)
def test_what_tightens_comes_first_and_what_loosens_last(
    before: dict[str, object], after: dict[str, Any], requests: list[str]
) -> None:
    assert order(live(before), wanted(**after)) == requests


def test_a_login_is_replaced_without_a_moment_for_anyone_else() -> None:
    emails = frozenset(["a"])
    to_emails = order(live(), wanted(sso=False, emails=emails))
    before = live({"sso": False, "emailWhitelistEnabled": True}, emails=emails)
    to_sso = order(before, wanted(emails=frozenset()))
    assert to_emails == [
        "POST sso=False, emailWhitelistEnabled=True",
        *SWAP,
        "POST /whitelist emails=['a']",
    ]
    assert to_sso == [
        "POST /whitelist emails=[]",
        *SWAP,
        "POST sso=True, emailWhitelistEnabled=False",
    ]


def test_old_emails_are_blocked_until_they_are_replaced() -> None:
    before = live(emails=frozenset(["old"]))
    assert order(before, wanted(emails=frozenset(["a"]))) == [
        *SWAP,
        "POST emailWhitelistEnabled=True, blockAccess=True",
        "POST /whitelist emails=['a']",
        "POST blockAccess=False",
    ]


def test_emails_that_are_not_managed_stay() -> None:
    before = live({"emailWhitelistEnabled": True, "sso": False}, emails=frozenset(["a"]))
    assert order(before, wanted(emails=None)) == [*SWAP, "POST sso=True"]


def test_emails_go_before_and_come_after() -> None:
    before = live({"emailWhitelistEnabled": True}, emails=frozenset(["a", "b"]))
    assert order(before, wanted(emails=frozenset(["b", "c"]))) == [
        "POST /whitelist emails=['b']",
        *SWAP,
        "POST /whitelist emails=['b', 'c']",
    ]


def test_roles_and_users_go_before_and_come_after() -> None:
    before = live(roles=frozenset([2, 3]), users=frozenset(["u"]))
    assert order(before, wanted(roles=frozenset([3, 4]), users=frozenset())) == [
        "POST /roles roleIds=[3]",
        "POST /users",
        *SWAP,
        "POST /roles roleIds=[3, 4]",
    ]


@pytest.mark.parametrize(
    ("before", "after", "requests"),
    [
        ((), (ACCEPT,), [*SWAP, "PUT /rule ACCEPT"]),
        ((), (DROP,), ["PUT /rule DROP", *SWAP]),
        ((), (PASS,), [*SWAP, "PUT /rule PASS"]),
        ((ACCEPT,), (), ["DELETE /rule/0", *SWAP, "POST applyRules=False"]),
        ((DROP,), (), [*SWAP, "POST applyRules=False", "DELETE /rule/0"]),
        ((DROP, PASS), (DROP,), ["DELETE /rule/1", *SWAP]),
        ((ACCEPT,), (ACCEPT, PASS), ["PUT /rule PASS", *SWAP]),
        ((ACCEPT, PASS), (ACCEPT,), [*SWAP, "DELETE /rule/1"]),
        ((DROP, DROP), (DROP,), [*SWAP, "DELETE /rule/1"]),
    ],
)
def test_rules_that_close_come_before_those_that_open(
    before: tuple[Rule, ...], after: tuple[Rule, ...], requests: list[str]
) -> None:
    resource = live({"applyRules": True}, rules=tuple(enumerate(before)))
    assert order(resource, wanted(rules=after)) == requests


def test_rules_get_their_effect_only_when_all_that_close_exist() -> None:
    resource = live(rules=((7, ACCEPT),))
    both = order(resource, wanted(rules=(DROP, Rule(9, "ACCEPT", "IP", "192.0.2.9"))))
    opening = order(live(), wanted(rules=(ACCEPT,)))
    assert both == [
        "DELETE /rule/7",
        "PUT /rule DROP",
        "POST applyRules=True",
        *SWAP,
        "PUT /rule ACCEPT",
    ]
    assert opening == [*SWAP, "PUT /rule ACCEPT", "POST applyRules=True"]


def test_a_resource_without_targets_gets_one_update_before_its_first_target() -> None:
    new = Live(1, HOST, {"sso": True, "enabled": True, "name": HOST, "niceId": "calm-otter"})
    emails = frozenset(["a"])
    want = wanted(sso=False, block=True, emails=emails, rules=(ACCEPT,))
    assert [short(step) for step in plan(new, want, DIALECT).all] == [
        f"POST niceId={want.nice_id}, sso=False, emailWhitelistEnabled=True, blockAccess=True,"
        " applyRules=True",
        "POST /whitelist emails=['a']",
        "PUT /rule ACCEPT",
        "PUT /target",
    ]


def test_a_host_moves_with_its_domain() -> None:
    before = live(host="old.example.com")
    assert order(before, wanted()) == ["POST subdomain=app, domainId=domain1", *SWAP]


def test_a_field_that_this_pangolin_does_not_have_is_never_sent() -> None:
    old = replace(DIALECT, update=DIALECT.update - {"stickySession"})
    assert plan(live(), wanted(sticky=False), old).all == ()
    with fails(FailureClass.INVALID, "does not have stickySession of a resource"):
        plan(live(), wanted(sticky=True), old)
    old = replace(DIALECT, target=DIALECT.target - {"priority"})
    with fails(FailureClass.INVALID, "does not have priority of a target"):
        plan(live(), wanted(targets=(OTHER,)), old)


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (replace(TARGET, path="/`", match="exact"), "the path '/`' has a backtick"),
        (replace(TARGET, rewrite="`"), "the rewrite path '`' has a backtick"),
        (replace(TARGET, ip="2001:db8::1"), "Pangolin cannot reach an IPv6 address"),
        (replace(TARGET, ip="[::1]"), "Pangolin cannot reach an IPv6 address"),
        (replace(TARGET, method="ftp"), "the method is 'ftp'; use one of http, https, h2c"),
        (replace(TARGET, path="/x"), "a path and its match type belong together"),
        (replace(TARGET, rewrite_type="stripPrefix"), "a rewrite type has no effect without"),
        (replace(TARGET, priority=0), "the priority 0 is not from 1 to 1000"),
    ],
)
def test_what_pangolin_would_serve_wrongly_is_a_problem(target: Target, problem: str) -> None:
    assert [problem in text for text in problems(wanted(targets=(TARGET, target)))] == [True]
