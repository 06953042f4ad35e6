"""Decides which requests bring a resource about, and in which order. No I/O.

The order is safety: at no moment may more visitors pass than either before or after.

    tighten  →  new targets  →  changed targets  →  old targets go  →  loosen

A resource without targets is not public, so a new one gets everything else before its first target.
Pangolin asks for a login, by `sso` or by a whitelist of emails, and a visitor passes with either of
them. So one that replaces another is switched on before the other is switched off. Rules come
before the login: `ACCEPT` opens, `DROP` closes, `PASS` asks for the login.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import TypeVar

from pic.core.errors import FailureClass, PangolinError
from pic.core.json_values import Raw
from pic.pangolin_api import targets
from pic.pangolin_api.model import Live, Rule, Target, Wanted
from pic.pangolin_api.openapi import Dialect
from pic.pangolin_api.targets import TargetChanges

METHODS = ("http", "https", "h2c")
# The two kinds of login that pic manages, by their fields.
SSO, WHITELIST = "sso", "emailWhitelistEnabled"
_LAST_PRIORITY = 1000
Member = TypeVar("Member", int, str)


@dataclass(frozen=True, slots=True)
class Step:
    """One request.

    Attributes:
        path: The path below the one of the resource, or a whole one if it begins with `/target`.
        action: The action of the key that it wants.
    """

    method: str
    path: str
    action: str
    body: Raw | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """All requests of an update, in this order.

    Attributes:
        wait_for_health: Whether the new targets must be healthy before `old` is sent.
    """

    tighten: tuple[Step, ...] = ()
    new: tuple[Step, ...] = ()
    old: tuple[Step, ...] = ()
    loosen: tuple[Step, ...] = ()
    wait_for_health: bool = False

    @property
    def all(self) -> tuple[Step, ...]:
        """All requests in their order."""
        return (*self.tighten, *self.new, *self.old, *self.loosen)


def problems(wanted: Wanted) -> tuple[str, ...]:
    """Return why a resource must not be sent: Pangolin would accept it, and serve something else.

    Pangolin does not escape a path, so a backtick in one ends the rule and can add another host. It
    builds a wrong URL of an IPv6 address, and takes any method.
    """
    return tuple(problem for target in wanted.targets for problem in _target_problems(target))


def _target_problems(target: Target) -> Iterator[str]:
    where = f"target {target.ip}:{target.port}"
    for name, value in (("path", target.path), ("rewrite path", target.rewrite)):
        if value and "`" in value:
            yield f"{where}: the {name} {value!r} has a backtick, which would end the rule"
    if _is_ipv6(target.ip):
        yield f"{where}: Pangolin cannot reach an IPv6 address; use a name or an IPv4 address"
    if target.method not in METHODS:
        yield f"{where}: the method is {target.method!r}; use one of {', '.join(METHODS)}"
    if (target.path is None) != (target.match is None):
        yield f"{where}: a path and its match type belong together"
    if target.rewrite_type and not target.rewrite:
        yield f"{where}: a rewrite type has no effect without a rewrite path"
    if target.priority is not None and not 1 <= target.priority <= _LAST_PRIORITY:
        yield f"{where}: the priority {target.priority} is not from 1 to {_LAST_PRIORITY}"


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text.strip("[]"))
    except ValueError:
        return False
    return True


def plan(live: Live, wanted: Wanted, dialect: Dialect) -> Steps:
    """Return the requests that make a live resource the wanted one; none if nothing differs.

    Raises:
        PangolinError: This Pangolin does not have a field that is needed.
    """
    change = targets.compare(live.targets, wanted.targets, dialect.target)
    access = _Access(live, wanted)
    tighten, loosen = access.tighten(), access.loosen()
    if not live.targets:
        tighten, loosen = _merged([*tighten, *loosen]), []
    tighten, loosen = _with_neutral(tighten, loosen, _neutral(live, wanted))
    for body in [*_updates(tighten), *_updates(loosen)]:
        _check(body, dialect.update, "a resource")
    for body in [*change.creates, *(body for _, body in change.updates)]:
        _check(body, dialect.target, "a target")
    return Steps(
        tuple(tighten),
        tuple(_new_targets(change)),
        tuple(Step("DELETE", f"/target/{target}", "deleteTarget") for target in change.deletes),
        tuple(loosen),
        change.wait_for_health,
    )


def _new_targets(change: TargetChanges) -> Iterator[Step]:
    for body in change.creates:
        yield Step("PUT", "/target", "createTarget", body)
    for target, body in change.updates:
        yield Step("POST", f"/target/{target}", "updateTarget", body)


def _update(fields: Raw) -> list[Step]:
    return [Step("POST", "", "updateResource", fields)] if fields else []


def _updates(steps: Iterable[Step]) -> list[Raw]:
    return [step.body or {} for step in steps if step.action == "updateResource"]


def _merged(steps: list[Step]) -> list[Step]:
    """Make one update of all those that nothing has to come between: there is no route yet.

    The whitelist must be on before its emails are set, so it stays the first.
    """
    fields: dict[str, object] = {}
    for body in _updates(steps):
        fields.update(body)
    return [*_update(fields), *(step for step in steps if step.action != "updateResource")]


def _with_neutral(
    tighten: list[Step], loosen: list[Step], neutral: Raw
) -> tuple[list[Step], list[Step]]:
    """Put fields that neither tighten nor loosen into an update that is sent anyway."""
    if not neutral:
        return tighten, loosen
    is_in_loosen = not _updates(tighten) and bool(_updates(loosen))
    if is_in_loosen:
        return tighten, _joined(loosen, neutral)
    return _joined(tighten, neutral), loosen


def _joined(steps: list[Step], fields: Raw) -> list[Step]:
    """Add fields to the first update, or begin with one."""
    bodies = _updates(steps)
    if not bodies:
        return [*_update(fields), *steps]
    at = next(at for at, step in enumerate(steps) if step.action == "updateResource")
    return [*steps[:at], *_update({**fields, **bodies[0]}), *steps[at + 1 :]]


def _neutral(live: Live, wanted: Wanted) -> Raw:
    flags = {"ssl": wanted.ssl, "stickySession": wanted.sticky}
    headers = {"setHostHeader": wanted.host_header, "tlsServerName": wanted.tls_server_name}
    fields: dict[str, object] = {
        "niceId": wanted.nice_id,
        "name": wanted.host,
        **{name: flag for name, flag in flags.items() if flag is not None},
        **{name: header or None for name, header in headers.items() if header is not None},
    }
    changed = _changed(live, fields)
    if live.host != wanted.host:
        # A subdomain without its domain changes nothing, without an error.
        changed |= {"subdomain": wanted.subdomain, "domainId": wanted.domain_id}
    return changed


def _changed(live: Live, fields: Mapping[str, object]) -> dict[str, object]:
    # An empty text and null are the same for Pangolin.
    return {
        name: value
        for name, value in fields.items()
        if (live.fields.get(name) or None) != (value or None)
    }


def _check(body: Raw, fields: frozenset[str], what: str) -> None:
    unknown = sorted(body.keys() - fields)
    if unknown:
        raise PangolinError(
            f"this Pangolin does not have {', '.join(unknown)} of {what}: update Pangolin, or"
            " remove the annotation that needs it",
            kind=FailureClass.INVALID,
        )


def _kinds(*, sso: bool, whitelist: bool) -> set[str]:
    return ({SSO} if sso else set()) | ({WHITELIST} if whitelist else set())


class _Access:
    """Decides which part of a change of access comes before the targets change, and which after.

    Between the two, only those pass who pass before and after.
    """

    def __init__(self, live: Live, wanted: Wanted) -> None:
        self._live = live
        self._wanted = wanted
        self._is_ruled = live.fields.get("applyRules") is True
        has_whitelist = live.fields.get(WHITELIST) is True
        wants_whitelist = has_whitelist if wanted.emails is None else bool(wanted.emails)
        self._before = _kinds(sso=live.fields.get(SSO) is True, whitelist=has_whitelist)
        self._after = _kinds(sso=wanted.sso, whitelist=wants_whitelist)
        self._between = self._before or self._after
        if self._before and self._after:
            # A whitelist without emails asks for a login that no visitor has.
            self._between = self._before & self._after or {WHITELIST}

    def tighten(self) -> list[Step]:
        """Return what lets fewer visitors pass."""
        fields = self._switched(self._before, self._between)
        if self._wanted.block or (WHITELIST in fields and self._has_old_emails()):
            fields |= _changed(self._live, {"blockAccess": True})
        if not self._wanted.enabled and self._live.fields.get("enabled") is True:
            fields["enabled"] = False
        if self._starts_rules() and self._has_closing_rule():
            fields["applyRules"] = True
        return [
            *self._rules_closing(),
            *_update(fields),
            *self._emails(self._live.emails, self._emails_between()),
            *self._members(before=True),
        ]

    def loosen(self) -> list[Step]:
        """Return what lets more visitors pass."""
        first: dict[str, object] = {}
        if WHITELIST in self._after - self._between:
            first = {WHITELIST: True}
            first |= {"blockAccess": True} if self._has_old_emails() else {}
        fields = self._switched(self._between | first.keys(), self._after)
        was_blocked = self._live.fields.get("blockAccess") is True or self._has_old_emails()
        if was_blocked and not self._wanted.block:
            fields["blockAccess"] = False
        if self._wanted.enabled and self._live.fields.get("enabled") is False:
            fields["enabled"] = True
        if self._starts_rules() and not self._has_closing_rule():
            fields["applyRules"] = True
        if self._is_ruled and self._wanted.rules == ():
            fields["applyRules"] = False
        return [
            *self._members(before=False),
            *_update(first),
            *self._emails(self._emails_between(), self._emails_after()),
            *self._rules_opening(),
            *_update(fields),
            *(self._deleted("DROP") if self._is_ruled else []),
        ]

    def _switched(self, start: set[str], end: set[str]) -> dict[str, object]:
        return {name: name in end for name in (SSO, WHITELIST) if (name in start) != (name in end)}

    # Emails. Pangolin accepts them only while the whitelist is on, and keeps them while it is off.

    def _has_old_emails(self) -> bool:
        """Say whether the whitelist begins with emails that must not pass, so a block is needed.

        Where all visitors pass before, the emails are replaced before the targets change.
        """
        begins = WHITELIST in self._after - self._before and bool(self._before)
        allowed = self._emails_wanted() if SSO in self._after else frozenset()
        return begins and bool(self._live.emails - allowed)

    def _emails_between(self) -> frozenset[str]:
        live = self._live.emails
        if WHITELIST not in self._between or not self._after:
            return live
        if WHITELIST in self._before:
            return live & self._emails_wanted()
        return live if self._before else self._emails_wanted()

    def _emails_after(self) -> frozenset[str]:
        return self._emails_wanted() if WHITELIST in self._after else self._emails_between()

    def _emails_wanted(self) -> frozenset[str]:
        """Return whom the whitelist lets pass in the end."""
        if WHITELIST not in self._after:
            return frozenset()
        return self._live.emails if self._wanted.emails is None else self._wanted.emails

    def _emails(self, start: frozenset[str], end: frozenset[str]) -> list[Step]:
        if start == end:
            return []
        return [Step("POST", "/whitelist", "setResourceWhitelist", {"emails": sorted(end)})]

    # Roles and users

    def _members(self, *, before: bool) -> list[Step]:
        roles = _replaced(self._live.roles, self._wanted.roles, before=before)
        users = _replaced(self._live.users, self._wanted.users, before=before)
        steps = []
        if roles is not None:
            steps.append(Step("POST", "/roles", "setResourceRoles", {"roleIds": sorted(roles)}))
        if users is not None:
            steps.append(Step("POST", "/users", "setResourceUsers", {"userIds": sorted(users)}))
        return steps

    # Rules

    def _starts_rules(self) -> bool:
        return bool(self._wanted.rules) and not self._is_ruled

    def _has_closing_rule(self) -> bool:
        return any(rule.action != "ACCEPT" for rule in self._wanted.rules or ())

    def _rules_closing(self) -> list[Step]:
        if not self._is_ruled:
            # Rules that are left over have no effect yet, and must not get one.
            return [*self._deleted("ACCEPT", "PASS", "DROP"), *self._created("DROP", "PASS")]
        passing = self._created("PASS") if self._pass_closes() else self._deleted("PASS")
        return [*self._deleted("ACCEPT"), *self._created("DROP"), *passing]

    def _rules_opening(self) -> list[Step]:
        if not self._is_ruled:
            return self._created("ACCEPT")
        if self._pass_closes():
            return [*self._created("ACCEPT"), *self._deleted("PASS")]
        return self._created("PASS", "ACCEPT")

    def _pass_closes(self) -> bool:
        """Say whether PASS closes: it keeps visitors from a rule below that opens."""
        return any(
            rule.action == "ACCEPT" and rule in (self._wanted.rules or ())
            for _, rule in self._live.rules
        )

    def _created(self, *actions: str) -> list[Step]:
        live = {rule for _, rule in self._live.rules}
        wanted = [rule for rule in sorted(set(self._wanted.rules or ())) if rule not in live]
        return [_rule_step(rule) for action in actions for rule in wanted if rule.action == action]

    def _deleted(self, *actions: str) -> list[Step]:
        if self._wanted.rules is None:
            return []
        kept: set[Rule] = set()
        surplus: list[tuple[int, Rule]] = []
        for number, rule in self._live.rules:
            # Of two equal rules, one goes.
            if rule in self._wanted.rules and rule not in kept:
                kept.add(rule)
            else:
                surplus.append((number, rule))
        return [
            Step("DELETE", f"/rule/{number}", "deleteResourceRule")
            for number, rule in surplus
            if rule.action in actions
        ]


def _replaced(
    live: frozenset[Member], wanted: frozenset[Member] | None, *, before: bool
) -> frozenset[Member] | None:
    if wanted is None:
        return None
    between = live & wanted
    if before:
        return between if between != live else None
    return wanted if wanted != between else None


def _rule_step(rule: Rule) -> Step:
    body = {
        "action": rule.action,
        "match": rule.match,
        "value": rule.value,
        "priority": rule.priority,
        "enabled": rule.enabled,
    }
    return Step("PUT", "/rule", "createResourceRule", body)
