"""Reads the annotations by which an Ingress controls how pic exposes it.

An unreadable value never makes a host more open. An unreadable sso or block-access protects the
host. Any other unreadable value leaves the hosts of the Ingress as they are. docs/annotations.md is
generated from the table `KEYS`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum

from pic.core.ingress import Ingress
from pic.core.notices import Reason
from pic.core.variables import not_filled_in
from pic.planning import hosts
from pic.planning.look_alikes import LookAlike, LookAlikes
from pic.planning.notice_log import Problem

PREFIX = "pangolin.ingress.k8s.io/"
LEGACY_CLASS = "kubernetes.io/ingress.class"
CANARY = "nginx.ingress.kubernetes.io/canary"

# What an unreadable value does to the hosts of its Ingress, as messages and documentation say it.
HOLDS = "live hosts stay unchanged, new hosts are not exposed"

# How much of a key, and how many keys, a message shows.
MOST_SHOWN = 120
MOST_KEYS = 10

# The API server stores annotations as text and does not check them, so each spelling that YAML
# authors use for a boolean counts.
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


class Switch(StrEnum):
    """The value of a yes-or-no annotation."""

    ABSENT = "absent"
    ON = "on"
    OFF = "off"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Key:
    """A known annotation, as the documentation shows it.

    Attributes:
        name: Without the prefix.
        values: What is allowed.
        meaning: What it does.
        unreadable: What happens while the value cannot be read.
    """

    name: str
    values: str
    meaning: str
    unreadable: str


KEYS = (
    Key("enabled", "true, false", "false makes pic ignore the Ingress", HOLDS),
    Key("tunnel-name", "a PangolinTunnel", "sets the tunnel that exposes the hosts", HOLDS),
    Key(
        "domain-name",
        "a domain",
        "sets the base domain; a host outside of it moves below it",
        HOLDS,
    ),
    Key("subdomain", "DNS labels", "replaces the subdomain of the only host", HOLDS),
    Key("sso", "true, false", "true requires a login", "a login is required"),
    Key("block-access", "true, false", "true blocks all access", "all access is blocked"),
    Key(
        "path-regex",
        "true, false",
        "true treats ImplementationSpecific paths as regular expressions",
        HOLDS,
    ),
    Key("backend-scheme", "http, https", "sets the scheme of the backends", HOLDS),
)
NAMES = tuple(key.name for key in KEYS)
# Other prefixes that people write for ours. The last one is that of the labels of our objects.
LOOK_ALIKES = LookAlikes(
    PREFIX, NAMES, ("pangolin.kubernetes.io", "pangolin.io", "pic.ingress.k8s.io")
)

# Keys that may take protection away from a host if a file has them twice.
_SENSITIVE = frozenset({"enabled", "sso", "block-access"})
_PROTECTING = frozenset({"sso", "block-access"})
# Keys that decide the public hosts.
_MOVING = frozenset({"domain-name", "subdomain"})


@dataclass(frozen=True, slots=True)
class IngressOptions:
    """What the annotations of one Ingress ask for.

    Attributes:
        tunnel: As written, with or without a namespace; None if no annotation names one.
        holds: A value is unreadable, so the hosts of the Ingress stay as they are.
        hosts_unknown: The unreadable value is one that decides the public hosts.
        unguarded: Annotations of another controller that limit who may open the hosts, if none of
            ours says it.
        unusable: The first value for which the hosts stay as they are; None if `holds` is false.
    """

    enabled: Switch = Switch.ABSENT
    tunnel: str | None = None
    domain: str | None = None
    subdomain: str | None = None
    sso: bool = False
    block_access: bool = False
    path_regex: bool = False
    scheme: str | None = None
    holds: bool = False
    hosts_unknown: bool = False
    unguarded: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    unusable: Problem | None = field(default=None, compare=False)


NO_OPTIONS = IngressOptions()


def switch(values: Mapping[str, str | None], key: str, *, null: Switch = Switch.ABSENT) -> Switch:
    """Read a yes-or-no annotation: true/false/yes/no/on/off/1/0, any case, trimmed.

    Args:
        values: The annotations of an Ingress.
        key: The annotation to read.
        null: What a null counts as.
    """
    if key not in values:
        return Switch.ABSENT
    value = values[key]
    if value is None:
        return null
    word = value.strip().lower()
    if word in _TRUE:
        return Switch.ON
    return Switch.OFF if word in _FALSE else Switch.UNREADABLE


def read(
    values: Mapping[str, str | None], labels: Mapping[str, str] | None = None
) -> IngressOptions:
    """Read all annotations with our prefix, and report the ones that cannot be used.

    Args:
        values: The annotations of an Ingress.
        labels: Its labels. An annotation of ours among them has no effect, but may protect.
    """
    ours = {
        key.removeprefix(PREFIX): value for key, value in values.items() if key.startswith(PREFIX)
    }
    alikes = tuple(LOOK_ALIKES.of(values, labels or {}))
    return _Reader(ours, alikes).options() if ours or alikes else NO_OPTIONS


def slips(ingress: Ingress) -> Iterator[Problem]:
    """Yield what is wrong with the way in which a file writes the annotations of an Ingress."""
    if not_text := ingress.slips.not_text:
        keys = ", ".join(key[:MOST_SHOWN] for key in not_text[:MOST_KEYS])
        message = f"the API server takes only text: put the value of {keys} in quotes"
        yield Problem(Reason.ANNOTATION_NOT_TEXT, message)
    for key in ingress.slips.repeated:
        if key == "annotations":
            message = "annotations occurs twice: all annotations of the first one are lost"
            yield Problem(Reason.DUPLICATE_KEY, message)
        elif LOOK_ALIKES.labelled(key) in _SENSITIVE:
            message = f"{key} occurs twice: the last value counts"
            yield Problem(Reason.DUPLICATE_KEY, message)


class _Reader:
    """Collects problems while it reads the values."""

    def __init__(self, values: Mapping[str, str | None], alikes: Sequence[LookAlike]) -> None:
        self.values = values
        self.alikes = alikes
        self.problems: list[Problem] = []
        self.unreadable: dict[str, Problem] = {}

    def options(self) -> IngressOptions:
        self.report_unknown()
        enabled = switch(self.values, "enabled")
        if enabled is Switch.UNREADABLE:
            self.report("enabled", "true or false")
        options = IngressOptions(
            enabled=enabled,
            tunnel=self.value("tunnel-name", str.strip, "the name of a tunnel"),
            domain=self.value("domain-name", hosts.public, "a domain"),
            subdomain=self.value("subdomain", _labels, "one or more DNS labels"),
            sso=self.protection("sso", "pic requires a login"),
            block_access=self.protection("block-access", "pic blocks all access"),
            path_regex=self.flag("path-regex"),
            scheme=self.value("backend-scheme", _scheme, "http or https"),
        )
        moving = [it for name, it in self.unreadable.items() if name in _MOVING]
        return replace(
            options,
            holds=bool(self.unreadable),
            hosts_unknown=bool(moving),
            unusable=next(iter([*moving, *self.unreadable.values()]), None),
            problems=tuple(self.problems),
        )

    def report_unknown(self) -> None:
        for alike in self.alikes:
            self.problems.append(Problem(Reason.UNKNOWN_ANNOTATION, _alike_message(alike)))
        alike_keys = {alike.key.removeprefix(PREFIX) for alike in self.alikes}
        for name in sorted(self.values.keys() - set(NAMES) - alike_keys):
            near = get_close_matches(name, NAMES, n=1)
            hint = f"did you mean {PREFIX}{near[0]}?" if near else f"known are {', '.join(NAMES)}"
            message = f"{PREFIX}{name} is not a known annotation; {hint}"
            self.problems.append(Problem(Reason.UNKNOWN_ANNOTATION, message))

    def report(self, name: str, allowed: str, effect: str = "") -> None:
        """Report an unreadable value; without an effect of its own it holds the hosts."""
        holds = not effect
        effect = effect or HOLDS
        value = self.values[name]
        # Kubernetes allows 256 KiB of annotations on an object. A message needs only the beginning.
        shown = "null" if value is None else repr(value)[:80]
        if variable := not_filled_in(value or ""):
            shown = f"{shown} ({variable})"
        message = f"{PREFIX}{name} is {shown}, but must be {allowed}: {effect}"
        problem = Problem(Reason.INVALID_ANNOTATION, message, annotation=f"{PREFIX}{name}")
        self.problems.append(problem)
        if holds:
            self.unreadable[name] = problem

    def protection(self, name: str, effect: str) -> bool:
        # Only a manifest file can have a null: `sso:` without a value. Its author seems to want
        # protection, so the null counts as unreadable, and an unreadable value protects.
        state = switch(self.values, name, null=Switch.UNREADABLE)
        if state is Switch.UNREADABLE:
            self.report(name, "true or false", effect)
        return state in (Switch.ON, Switch.UNREADABLE) or any(
            alike.name == name and _asks(alike) for alike in self.alikes
        )

    def flag(self, name: str) -> bool:
        state = switch(self.values, name)
        if state is Switch.UNREADABLE:
            self.report(name, "true or false")
        return state is Switch.ON

    def value(self, name: str, parse: Callable[[str], str], allowed: str) -> str | None:
        text = self.values.get(name)
        if text is None:
            return None
        try:
            value = parse(text.strip())
        except ValueError:
            value = ""
        if not value:
            self.report(name, allowed)
        return value or None


def _asks(alike: LookAlike) -> bool:
    """Say whether a look-alike does not plainly say false."""
    return switch({alike.key: alike.value}, alike.key, null=Switch.UNREADABLE) is not Switch.OFF


def _alike_message(alike: LookAlike) -> str:
    key, right = alike.key[:MOST_SHOWN], f"{PREFIX}{alike.name}"
    message = f"{key} is not a known annotation; did you mean {right}?"
    if alike.is_label:
        message = f"label {key} is not read: write the annotation {right}."
    if alike.name not in _PROTECTING or not _asks(alike):
        return message
    effect = "a login is required" if alike.name == "sso" else "all access is blocked"
    return f"{message} Until then it counts, and {effect}"


def _labels(value: str) -> str:
    # A subdomain need not be a host name of its own: "v1.2" would count as an address.
    return hosts.normalise(f"{value}.example").removesuffix(".example")


def _scheme(value: str) -> str:
    # The CRD also allows tcp and udp, but pic declares HTTP resources only. It does not allow h2c.
    word = value.lower()
    return word if word in ("http", "https") else ""
