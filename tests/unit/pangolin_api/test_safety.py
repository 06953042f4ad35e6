"""Every change of access together with a change of targets: who passes at each moment, and where.

At no moment may a visitor pass to a backend who passes to it neither before nor after. A host that
is reachable before and after is reachable at every moment. Both hold, too, if pic is killed after
any request and begins again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest

from dev.pangolin_api import Pangolin, Visitor
from pic.core.json_values import Raw
from pic.pangolin_api import openapi, parse, steps
from pic.pangolin_api.model import Live, Rule, Wanted
from tests.support.pangolin_api import HOST
from tests.support.pangolin_client import OTHER, wanted

A, B = "a@example.com", "b@example.com"
EMAILS: tuple[frozenset[str], ...] = (frozenset(), frozenset([A]), frozenset([A, B]))
IP = "203.0.113.7"
ACCEPT, DROP = Rule(1, "ACCEPT", "IP", IP), Rule(1, "DROP", "IP", IP)
RULES: tuple[tuple[Rule, ...], ...] = (
    (),
    (ACCEPT,),
    (DROP,),
    (DROP, Rule(2, "ACCEPT", "CIDR", "0.0.0.0/0")),
    (Rule(0, "PASS", "IP", IP), DROP),
)
VISITORS = [Visitor(ip) for ip in (IP, "192.0.2.9")]
# Whether someone is a member of the organisation, or has an email address.
IDENTITIES = ("", "member", A, B)

Passage = tuple[str, str, str]  # address, identity, backend


@dataclass
class Bench:
    """A server without a network, whose only resource is changed again and again."""

    server: Pangolin
    dialect: openapi.Dialect
    resource: int = 1

    def live(self) -> Live:
        store = self.server.store
        emails = frozenset(email for email, _ in store.whitelist)
        rules = tuple(parse.rule(row) for row in store.rules.values())
        targets = tuple(parse.target(dict(row)) for row in store.targets.values())
        live = parse.live(dict(store.resources[self.resource]))
        return replace(live, targets=targets, rules=rules, emails=emails)

    def send(self, step: steps.Step) -> None:
        own = "" if step.path.startswith("/target/") else f"/resource/{self.resource}"
        answer = self.server.ask(step.method, f"{own}{step.path}", step.body)
        assert answer.status < 300, (step, answer)

    def plan(self, want: Wanted) -> tuple[steps.Step, ...]:
        return steps.plan(self.live(), want, self.dialect).all

    def bring(self, want: Wanted) -> None:
        for step in self.plan(want):
            self.send(step)

    def passages(self) -> frozenset[Passage]:
        return frozenset(self._passages())

    def _passages(self) -> Iterator[Passage]:
        row = self.server.store.resources[self.resource]
        emails = {email for email, _ in self.server.store.whitelist}
        for route, visitor in product(self.server.routes, VISITORS):
            reach = route.reach("/", visitor)
            for identity in IDENTITIES:
                is_known = (identity == "member" and row["sso"]) or (
                    identity in emails and row["emailWhitelistEnabled"]
                )
                if reach == "open" or (reach == "login" and is_known):
                    for backend in route.backends:
                        yield visitor.ip, identity, backend

    def is_reachable(self) -> bool:
        return self.server.reach(HOST, visitor=VISITORS[1]) not in {"nothing", "blocked"}


def bench() -> Bench:
    server = Pangolin()
    body = {"name": HOST, "http": True, "protocol": "tcp", "domainId": "domain1"}
    server.ask("PUT", "/org/home/resource", {**body, "subdomain": "app"})
    document: Raw = server.ask("GET", "/openapi.json").body  # type: ignore[assignment]
    return Bench(server, openapi.read(document, ""))


def states(rules: tuple[tuple[Rule, ...], ...], **fields: tuple[object, ...]) -> list[Wanted]:
    names = ("sso", "emails", "rules", *fields)
    values = product((True, False), EMAILS, rules, *fields.values())
    chosen: list[dict[str, Any]] = [dict(zip(names, choice, strict=True)) for choice in values]
    return [wanted(**choice) for choice in chosen]


def hides(before: Wanted, after: Wanted, stale: frozenset[str]) -> bool:
    """Say whether old emails would pass, so that the host is blocked for a moment."""
    return not before.emails and bool(after.emails) and bool(stale - (after.emails or frozenset()))


def check(table: Bench, before: Wanted, after: Wanted) -> None:
    after = replace(after, targets=(OTHER,))
    table.bring(before)
    start, reachable = table.passages(), table.is_reachable()
    stale = table.live().emails
    plan = table.plan(after)
    moments = []
    for step in plan:
        table.send(step)
        moments.append((step, table.passages(), table.is_reachable()))
    assert table.plan(after) == ()
    end = table.passages()
    for step, passages, is_reachable in moments:
        assert passages <= start | end, (before, after, step)
        must_be = reachable and table.is_reachable() and not hides(before, after, stale)
        assert is_reachable or not must_be, (before, after, step)


def check_killed(table: Bench, before: Wanted, after: Wanted, sent: int) -> bool:
    """Kill pic after some requests and begin again; return whether there were so many."""
    after = replace(after, targets=(OTHER,))
    table.bring(after)
    end = table.passages()
    table.bring(before)
    start = table.passages()
    plan = table.plan(after)
    for step in plan[:sent]:
        table.send(step)
    for step in table.plan(after):
        table.send(step)
        assert table.passages() <= start | end, (before, after, sent, step)
    assert table.passages() == end
    return len(plan) > sent


@pytest.mark.parametrize("sso", [True, False])
@pytest.mark.parametrize("emails", EMAILS)
def test_no_change_of_login_and_rules_lets_anyone_else_pass(
    sso: bool,  # noqa: FBT001 - a parameter of the test
    emails: frozenset[str],
) -> None:
    table = bench()
    for rules, after in product(RULES, states(RULES)):
        check(table, wanted(sso=sso, emails=emails, rules=rules), after)


def test_no_change_of_block_and_state_lets_anyone_else_pass() -> None:
    table = bench()
    flags: dict[str, tuple[object, ...]] = {"block": (True, False), "enabled": (True, False)}
    for before, after in product(states(RULES[:1], **flags), repeat=2):
        check(table, before, after)


@pytest.mark.parametrize("sent", range(1, 6))
def test_no_one_else_passes_if_pic_is_killed_and_begins_again(sent: int) -> None:
    table = bench()
    pairs = product(states(RULES[:3]), repeat=2)
    cut = [check_killed(table, before, after, sent) for before, after in pairs]
    assert any(cut)
