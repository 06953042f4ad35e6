"""Defines what a run knows of what it could not read: an object, or a target. No I/O."""

from dataclasses import dataclass

from pic.core.errors import PangolinError, PiholeError


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object that could not be parsed.

    pic does not know what such an Ingress asks for, so its live resources are held.

    Attributes:
        problem: The field that is wrong, and why.
        uid: As in `Ingress`, like `created`.
    """

    kind: str
    namespace: str
    name: str
    problem: str
    uid: str = ""
    created: str = ""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A Pi-hole that did not return its records, and the reason.

    Attributes:
        url: Its address, without credentials.
    """

    url: str
    error: PiholeError


@dataclass(frozen=True, slots=True)
class Silent:
    """A Pangolin that did not say what it has, and the reason.

    Attributes:
        url: The URL of its Integration API.
    """

    url: str
    error: PangolinError
