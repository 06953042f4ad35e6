"""Reads the annotations by which an Ingress controls how pic exposes it.

An unreadable value never makes a host more open. An unreadable sso or block-access protects the
host. Any other unreadable value leaves the hosts of the Ingress as they are. docs/annotations.md is
generated from the table `KEYS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum

from pic.core.notices import Reason
from pic.planning import hosts
from pic.planning.notice_log import Problem

PREFIX = "pangolin.ingress.k8s.io/"
LEGACY_CLASS = "kubernetes.io/ingress.class"
CANARY = "nginx.ingress.kubernetes.io/canary"

# What an unreadable value does to the hosts of its Ingress, as messages and documentation say it.
HOLDS = "live hosts stay unchanged, new hosts are not exposed"

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


@dataclass(frozen=True, slots=True)
class IngressOptions:
    """What the annotations of one Ingress ask for.

    Attributes:
        tunnel: As written, with or without a namespace; None if no annotation names one.
        holds: A value is unreadable, so the hosts of the Ingress stay as they are.
        hosts_unknown: The unreadable value is one that decides the public hosts.
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
    problems: tuple[Problem, ...] = field(default=(), compare=False)


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


def read(values: Mapping[str, str | None]) -> IngressOptions:
    """Read all annotations with our prefix, and report the ones that cannot be used."""
    ours = {
        key.removeprefix(PREFIX): value for key, value in values.items() if key.startswith(PREFIX)
    }
    return _Reader(ours).options() if ours else NO_OPTIONS


class _Reader:
    """Collects problems while it reads the values."""

    def __init__(self, values: Mapping[str, str | None]) -> None:
        self.values = values
        self.problems: list[Problem] = []
        self.unreadable: set[str] = set()

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
        return replace(
            options,
            holds=bool(self.unreadable),
            hosts_unknown=bool(self.unreadable & {"domain-name", "subdomain"}),
            problems=tuple(self.problems),
        )

    def report_unknown(self) -> None:
        for name in sorted(set(self.values) - set(NAMES)):
            near = get_close_matches(name, NAMES, n=1)
            hint = f"did you mean {PREFIX}{near[0]}?" if near else f"known are {', '.join(NAMES)}"
            message = f"{PREFIX}{name} is not a known annotation; {hint}"
            self.problems.append(Problem(Reason.UNKNOWN_ANNOTATION, message))

    def report(self, name: str, allowed: str, effect: str = "") -> None:
        """Report an unreadable value; without an effect of its own it holds the hosts."""
        if not effect:
            self.unreadable.add(name)
            effect = HOLDS
        value = self.values[name]
        # Kubernetes allows 256 KiB of annotations on an object. A message needs only the beginning.
        shown = "null" if value is None else repr(value)[:80]
        message = f"{PREFIX}{name} is {shown}, but must be {allowed}: {effect}"
        self.problems.append(
            Problem(Reason.INVALID_ANNOTATION, message, annotation=f"{PREFIX}{name}")
        )

    def protection(self, name: str, effect: str) -> bool:
        # Only a manifest file can have a null: `sso:` without a value. Its author seems to want
        # protection, so the null counts as unreadable, and an unreadable value protects.
        state = switch(self.values, name, null=Switch.UNREADABLE)
        if state is Switch.UNREADABLE:
            self.report(name, "true or false", effect)
        return state in (Switch.ON, Switch.UNREADABLE)

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


def _labels(value: str) -> str:
    # A subdomain need not be a host name of its own: "v1.2" would count as an address.
    return hosts.normalise(f"{value}.example").removesuffix(".example")


def _scheme(value: str) -> str:
    # The CRD also allows tcp and udp, but pic declares HTTP resources only. It does not allow h2c.
    word = value.lower()
    return word if word in ("http", "https") else ""
