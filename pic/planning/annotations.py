"""The annotations that people steer us with, read once and fail closed. No I/O."""

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

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


class Switch(StrEnum):
    """A yes-or-no annotation as it was found."""

    ABSENT = "absent"
    ON = "on"
    OFF = "off"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Key:
    """One known annotation, as documentation and the nearest-name hint see it."""

    name: str
    values: str
    meaning: str
    unreadable: str


KEYS = (
    Key(
        "enabled", "true, false", "false takes the Ingress out of our hands", "held, or not exposed"
    ),
    Key("tunnel-name", "a PangolinTunnel", "the tunnel to expose through", "held"),
    Key("domain-name", "a domain", "where the host is split, or moved to", "held"),
    Key("subdomain", "labels", "replaces the subdomain of the only host", "held"),
    Key("sso", "true, false", "true asks for login", "asks for login"),
    Key("block-access", "true, false", "true blocks everybody", "blocks everybody"),
    Key("path-regex", "true, false", "ImplementationSpecific paths are regexes", "held"),
    Key("backend-scheme", "http, https", "how the backend is spoken to", "held"),
)
NAMES = tuple(key.name for key in KEYS)


@dataclass(frozen=True, slots=True)
class IngressOptions:
    """What the annotations of one Ingress ask for.

    Attributes:
        tunnel: As written, with or without a namespace; None where none is named.
        holds: An unreadable value leaves its hosts as they are.
        renames: The public hosts cannot be told, because what names them is unreadable.
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
    renames: bool = False
    problems: tuple[Problem, ...] = field(default=(), compare=False)


NONE = IngressOptions()


def switch(found: Mapping[str, str | None], key: str, *, null: Switch = Switch.ABSENT) -> Switch:
    """Read a yes-or-no annotation: true/false/yes/no/on/off/1/0, any case, trimmed."""
    if key not in found:
        return Switch.ABSENT
    value = found[key]
    if value is None:
        return null
    word = value.strip().lower()
    if word in _TRUE:
        return Switch.ON
    return Switch.OFF if word in _FALSE else Switch.UNREADABLE


def read(found: Mapping[str, str | None]) -> IngressOptions:
    """Read all annotations of ours; what cannot be read protects or holds, and is remarked on."""
    ours = {
        key.removeprefix(PREFIX): value for key, value in found.items() if key.startswith(PREFIX)
    }
    return _Reader(ours).wishes() if ours else NONE


class _Reader:
    """Collects what is wrong while the values are read."""

    def __init__(self, found: Mapping[str, str | None]) -> None:
        self.found = found
        self.problems: list[Problem] = []
        self.broken: set[str] = set()

    def wishes(self) -> IngressOptions:
        self.unknown()
        enabled = switch(self.found, "enabled")
        if enabled is Switch.UNREADABLE:
            self.unreadable("enabled", "true or false")
        read = IngressOptions(
            enabled=enabled,
            tunnel=self.value("tunnel-name", str.strip, "the name of a tunnel"),
            domain=self.value("domain-name", hosts.public, "a domain"),
            subdomain=self.value("subdomain", _labels, "one or more labels"),
            sso=self.protection("sso", "login is asked for"),
            block_access=self.protection("block-access", "access is blocked for everybody"),
            path_regex=self.flag("path-regex"),
            scheme=self.value("backend-scheme", _scheme, "http or https"),
        )
        return replace(
            read,
            holds=bool(self.broken),
            renames=bool(self.broken & {"domain-name", "subdomain"}),
            problems=tuple(self.problems),
        )

    def unknown(self) -> None:
        for name in sorted(set(self.found) - set(NAMES)):
            near = get_close_matches(name, NAMES, n=1)
            hint = f"; did you mean {PREFIX}{near[0]}?" if near else f"; known: {', '.join(NAMES)}"
            self.problems.append(
                Problem(Reason.UNKNOWN_ANNOTATION, f"{PREFIX}{name} does not exist{hint}")
            )

    def unreadable(self, name: str, allowed: str, effect: str = "") -> None:
        if not effect:
            self.broken.add(name)
            effect = "its hosts stay as they are"
        shown = repr(self.found[name])[:80]
        self.problems.append(
            Problem(
                Reason.INVALID_ANNOTATION,
                f"{PREFIX}{name} is {shown}, allowed is {allowed}: {effect}",
                annotation=f"{PREFIX}{name}",
            )
        )

    def protection(self, name: str, effect: str) -> bool:
        """A null counts as unreadable here, and what is unreadable protects."""
        state = switch(self.found, name, null=Switch.UNREADABLE)
        if state is Switch.UNREADABLE:
            self.unreadable(name, "true or false", effect)
        return state in (Switch.ON, Switch.UNREADABLE)

    def flag(self, name: str) -> bool:
        state = switch(self.found, name)
        if state is Switch.UNREADABLE:
            self.unreadable(name, "true or false")
        return state is Switch.ON

    def value(self, name: str, reader: Callable[[str], str], allowed: str) -> str | None:
        value = self.found.get(name)
        if value is None:
            return None
        try:
            read = reader(value.strip())
        except ValueError:
            read = ""
        if not read:
            self.unreadable(name, allowed)
        return read or None


def _labels(value: str) -> str:
    """Normalise what stands before a domain; alone it need be no host name, as v1.2 is none."""
    return hosts.normalise(f"{value}.example").removesuffix(".example")


def _scheme(value: str) -> str:
    word = value.lower()
    return word if word in ("http", "https") else ""
