"""Finds the annotations of other controllers on an Ingress, and what is lost with each of them.

An annotation that the table does not have counts by its prefix and its name. Its value counts only
where it plainly asks for nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from pic.planning.foreign import clouds, nginx, proxies
from pic.planning.foreign.words import Controller, Effect, Topic, Word

CONTROLLERS = (
    nginx.INGRESS_NGINX,
    proxies.TRAEFIK,
    proxies.HAPROXY,
    proxies.HAPROXY_INGRESS,
    proxies.KONG,
    proxies.CONTOUR,
    nginx.F5_NGINX,
    proxies.APISIX,
    proxies.SKIPPER,
    clouds.ALB,
    clouds.GCE,
    clouds.AZURE,
    clouds.CILIUM,
    clouds.OPENSHIFT,
)

_OFF = frozenset({"", "false", "no", "off", "n", "0", "none", "null", "disabled"})
# Values that ask for no more than what happens here anyway.
_DEFAULTS: Mapping[Topic, frozenset[str]] = {
    Topic.SCHEME: frozenset({"http", "http1", "h1", "auto_http"}),
    Topic.CERTIFICATE: frozenset({"optional", "optional_no_ca"}),
    Topic.REGEX: frozenset({"prefix", "exact", "begin", "path", "pathprefix"}),
    Topic.PASSTHROUGH: frozenset({"edge"}),
}
_INTERNAL = frozenset({"internal", "true"})
_EVERYBODY = frozenset({"0.0.0.0/0", "::/0", "*"})
_CHECKS_VISITORS = re.compile(
    r"(^|[\s;{])(deny|allow|auth_basic|auth_request|auth_jwt|ssl_verify_client)\s"
    r"|return\s+40[13]\b|http-request\s+(auth|deny|reject)\b"
)
_PROTECTING = re.compile(
    r"\b(authn?|authz|authenticat\w*|authoriz\w*|oauth2?|oidc|saml|ldap|jwt|m?tls-client|mtls|"
    r"client-ca|white-?list|allow-?list|deny-?list|black-?list|block-?list|acl|waf|modsecurity|"
    r"firewall|middlewares?|plugins?|login|password|captcha|crowdsec|iap)\b"
)
_GUESSED = "its name says that it limits who may enter"


@dataclass(frozen=True, slots=True)
class Found:
    """An annotation of another controller on an Ingress.

    Attributes:
        word: Its row in the table, or one that is guessed from its name.
        effect: What is lost, with its present value.
    """

    controller: Controller
    word: Word
    effect: Effect

    @property
    def key(self) -> str:
        """The annotation."""
        return self.word.key


def read(annotations: Mapping[str, str | None]) -> tuple[Found, ...]:
    """Return the annotations of other controllers, by key, also those that ask for nothing."""
    return tuple(_found(annotations))


def _found(annotations: Mapping[str, str | None]) -> Iterator[Found]:
    for key in sorted(annotations):
        if match := find(key):
            controller, word = match
            yield Found(controller, word, effect(word, annotations[key]))


def kept(key: str, value: object) -> str | None:
    """Return what a snapshot keeps of a value; None if it need not keep the annotation.

    The value may name a Secret, so only what planning makes of it is kept.
    """
    match = find(key)
    # What another tool wrote cannot be a map, except in a file, where it asks for something.
    text = value if isinstance(value, str) or value is None else "true"
    if match is None or effect(match[1], text) is Effect.NONE:
        return None
    topic = match[1].topic
    protects = topic is Topic.SNIPPET and effect(match[1], text) is Effect.PROTECTS
    return "deny all" if protects else "true"


def effect(word: Word, value: str | None) -> Effect:
    """Return what is lost without an annotation of this value."""
    text = (value or "").strip().lower()
    if not _asks(word.topic, text):
        return Effect.NONE
    if word.topic is Topic.SNIPPET and _CHECKS_VISITORS.search(text):
        return Effect.PROTECTS
    return word.effect


def _asks(topic: Topic, text: str) -> bool:
    if topic is Topic.INTERNAL:
        return text in _INTERNAL
    if topic is Topic.ALLOWED:
        parts = {part.strip() for part in re.split(r"[,\s]+", text)} - {""}
        return bool(parts) and not parts & _EVERYBODY and text not in _OFF
    return text not in _OFF and text not in _DEFAULTS.get(topic, ())


@lru_cache(maxsize=4096)
def find(key: str) -> tuple[Controller, Word] | None:
    """Return the controller and the row of an annotation; None if no controller has its prefix."""
    index = _index()
    if exact := index.exact.get(key):
        return exact
    prefix, slash, name = key.partition("/")
    prefix += slash
    for begin, match in index.open_ended.get(prefix, ()):
        if key.startswith(begin):
            controller, word = match
            return controller, Word(key, word.topic, word.there)
    owner = index.prefixes.get(prefix)
    if owner is None:
        return None
    # A boundary is where the name has a dot, a dash or an underscore.
    protects = _PROTECTING.search(name.lower().replace("_", "-"))
    topic, there = (Topic.LOGIN, _GUESSED) if protects else (Topic.UNKNOWN, "")
    return owner, Word(key, topic, there)


_Match = tuple[Controller, Word]


@dataclass(frozen=True, slots=True)
class _Index:
    """The table, for finding a row.

    Attributes:
        exact: The rows by key.
        open_ended: By prefix, the rows whose key ends in `*`, the longest first.
        prefixes: The controller of each prefix.
    """

    exact: dict[str, _Match]
    open_ended: dict[str, list[tuple[str, _Match]]]
    prefixes: dict[str, Controller]


@cache
def _index() -> _Index:
    index = _Index({}, {}, {})
    for controller in CONTROLLERS:
        for prefix in controller.prefixes:
            index.prefixes.setdefault(prefix, controller)
        for word in _everywhere(controller):
            if word.key.endswith("*"):
                begin = word.key.removesuffix("*")
                prefix = begin[: begin.find("/") + 1]
                index.open_ended.setdefault(prefix, []).append((begin, (controller, word)))
            else:
                index.exact.setdefault(word.key, (controller, word))
    for rows in index.open_ended.values():
        rows.sort(key=lambda row: -len(row[0]))
    return index


def _everywhere(controller: Controller) -> Iterator[Word]:
    """Yield the rows of a controller with each of its prefixes."""
    first, *others = controller.prefixes
    yield from controller.words
    for word in controller.words:
        if word.key.startswith(first):
            name = word.key.removeprefix(first)
            yield from (Word(f"{prefix}{name}", word.topic, word.there) for prefix in others)
