"""Defines a controller with its annotations, and what replaces each of them here.

A table is text, one annotation on a line: its name without the prefix, what happens to it here, and
what it does there. A name that ends in `*` stands for every name that begins like it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

_SSO = 'set `pangolin.ingress.k8s.io/sso: "true"` to require a login'


class Effect(StrEnum):
    """What it means that pic does not read an annotation.

    Attributes:
        PROTECTS: The annotation limits who may open a host. Without it the host is public.
        LOST: What it asks for does not happen.
        NONE: Nothing: it is so here anyway, or only adds to another annotation.
    """

    PROTECTS = "protects"
    LOST = "lost"
    NONE = "none"


class Topic(StrEnum):
    """What happens here to what an annotation asks for."""

    LOGIN = "login"
    ALLOWED = "allowed"
    DENIED = "denied"
    CERTIFICATE = "certificate"
    FIREWALL = "firewall"
    PLUGINS = "plugins"
    INTERNAL = "internal"
    SNIPPET = "snippet"
    SCHEME = "scheme"
    REGEX = "regex"
    REWRITE = "rewrite"
    HOST = "host"
    REDIRECT = "redirect"
    PASSTHROUGH = "passthrough"
    HEADERS = "headers"
    LIMITS = "limits"
    ROUTING = "routing"
    TUNING = "tuning"
    STICKY = "sticky"
    CANARY = "canary"
    UNKNOWN = "unknown"
    TLS = "tls"
    HTTPS = "https"
    WEBSOCKET = "websocket"
    DETAIL = "detail"
    SETUP = "setup"
    CLASS = "class"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a topic means.

    Attributes:
        effect: What an annotation of this topic loses.
        here: What happens here in its place, and what to use.
    """

    effect: Effect
    here: str


REMEDIES: Mapping[Topic, Remedy] = {
    Topic.LOGIN: Remedy(Effect.PROTECTS, _SSO),
    Topic.ALLOWED: Remedy(Effect.PROTECTS, f"no limit by address; {_SSO}"),
    Topic.DENIED: Remedy(Effect.PROTECTS, f"no limit by address; {_SSO}"),
    Topic.CERTIFICATE: Remedy(Effect.PROTECTS, f"no client certificates; {_SSO}"),
    Topic.FIREWALL: Remedy(Effect.PROTECTS, f"no request is filtered; {_SSO}"),
    Topic.PLUGINS: Remedy(Effect.PROTECTS, f"none of them runs; if one checks visitors, {_SSO}"),
    Topic.INTERNAL: Remedy(
        Effect.PROTECTS, f"the host is on the internet; {_SSO}, or change class"
    ),
    Topic.SNIPPET: Remedy(Effect.LOST, "it is not run; if it checks visitors, use sso"),
    Topic.SCHEME: Remedy(
        Effect.LOST,
        "set `pangolin.ingress.k8s.io/backend-scheme`, or appProtocol of the Service port",
    ),
    Topic.REGEX: Remedy(
        Effect.LOST, 'paths are plain text; set `pangolin.ingress.k8s.io/path-regex: "true"`'
    ),
    Topic.REWRITE: Remedy(Effect.LOST, "the backend gets the path as the visitor sent it"),
    Topic.HOST: Remedy(Effect.LOST, "write each host as a rule of its own"),
    Topic.REDIRECT: Remedy(Effect.LOST, "no redirect; let the application do it"),
    Topic.PASSTHROUGH: Remedy(
        Effect.LOST,
        'Pangolin ends TLS; with `pangolin.ingress.k8s.io/backend-scheme: "https"` the way to the'
        " backend is encrypted again",
    ),
    Topic.HEADERS: Remedy(Effect.LOST, "headers stay unchanged; let the application set them"),
    Topic.LIMITS: Remedy(Effect.LOST, "no limit on requests"),
    Topic.ROUTING: Remedy(Effect.LOST, "requests are routed by host and path only"),
    Topic.TUNING: Remedy(Effect.LOST, "Pangolin's own limits and timeouts"),
    Topic.STICKY: Remedy(Effect.LOST, "no sticky sessions"),
    Topic.CANARY: Remedy(Effect.LOST, "pic ignores a canary, and exposes the main Ingress"),
    Topic.UNKNOWN: Remedy(Effect.LOST, "pic does not read it"),
    Topic.TLS: Remedy(Effect.NONE, "Pangolin has the certificates and ends TLS"),
    Topic.HTTPS: Remedy(Effect.NONE, "Pangolin always sends visitors to HTTPS"),
    Topic.WEBSOCKET: Remedy(Effect.NONE, "WebSockets always work"),
    Topic.DETAIL: Remedy(Effect.NONE, "it only adds to another annotation"),
    Topic.SETUP: Remedy(Effect.NONE, "there is no such proxy or load balancer to set up"),
    Topic.CLASS: Remedy(Effect.NONE, "set `spec.ingressClassName` to pangolin"),
}


@dataclass(frozen=True, slots=True)
class Word:
    """An annotation of a controller.

    Attributes:
        key: With its prefix; a `*` at the end stands for any end.
        there: What it does under its controller.
    """

    key: str
    topic: Topic
    there: str

    @property
    def effect(self) -> Effect:
        """What is lost without it."""
        return REMEDIES[self.topic].effect

    @property
    def here(self) -> str:
        """What happens here in its place, in Markdown."""
        return REMEDIES[self.topic].here

    @property
    def here_in_text(self) -> str:
        """What happens here in its place, without markup."""
        return self.here.replace("`", "")


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller with its annotations.

    Attributes:
        name: What `pic plan --from` calls it.
        title: What people call it.
        source: The address of its documentation.
        prefixes: The prefixes of its annotations, each with the slash.
        classes: Patterns of the class names that its installation uses.
        table: The annotations with the first of the prefixes, as text.
        others: More annotations, with their whole key.
    """

    name: str
    title: str
    source: str
    prefixes: tuple[str, ...]
    classes: tuple[str, ...]
    table: str = field(repr=False)
    others: str = field(default="", repr=False)

    @property
    def words(self) -> tuple[Word, ...]:
        """Its annotations in the order of the table."""
        return (*_words(self.table, self.prefixes[0]), *_words(self.others, ""))


def _words(table: str, prefix: str) -> tuple[Word, ...]:
    rows = (re.split(r"\s*\|\s*", line.strip(), maxsplit=2) for line in table.strip().splitlines())
    return tuple(Word(f"{prefix}{name}", Topic(topic), there) for name, topic, there in rows)
