"""Defines what a setting is, and the words that some settings allow. No I/O."""

import re
from dataclasses import dataclass
from enum import StrEnum

from pic.settings import readers


class Tenants(StrEnum):
    """Whether the people of one namespace are trusted with the hosts of another.

    ONE is a cluster with one team, such as a home lab, where hosts move freely. MANY is any other.
    """

    ONE = "one"
    MANY = "many"


class ResourceSchema(StrEnum):
    """The form of PangolinResource that pic writes; AUTO follows the installed CRD."""

    AUTO = "auto"
    TARGETS = "targets"
    TARGET = "target"


class PathRouting(StrEnum):
    """Whether the operator can send the paths of one host to different backends."""

    WARN = "warn"
    TRUSTED = "trusted"


class ForeignProtection(StrEnum):
    """What to do about a host that only an annotation of another controller would protect."""

    WARN = "warn"
    HOLD = "hold"
    IGNORE = "ignore"


class Unpublish(StrEnum):
    """What happens in Pangolin before pic deletes the object of a host."""

    OFF = "off"
    BLOCK = "block"


class TargetName(StrEnum):
    """The systems in which pic declares a plan."""

    PANGOLIN = "pangolin"
    PANGOLIN_API = "pangolin-api"
    PIHOLE = "pihole"


class LogLevel(StrEnum):
    """How much pic logs."""

    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class PiholeApi(StrEnum):
    """The API through which pic talks to Pi-hole."""

    V6 = "v6"
    DNS_LOCAL = "dns-local"


class TakeOver(StrEnum):
    """Which lines in Pi-hole pic may replace, if this stack did not make them.

    NONE: No line.
    PIC: Those that pic made in another cluster or for another stack.
    ALL: Those that no other stack of this cluster made.
    """

    NONE = "false"
    PIC = "pic"
    ALL = "true"


class Scheme(StrEnum):
    """The protocol that Pangolin speaks to a backend."""

    HTTP = "http"
    HTTPS = "https"


@dataclass(frozen=True, slots=True)
class Field:
    """One setting.

    Attributes:
        key: The name in a stack file, without `pic:`.
        reader: Checks a value and converts it.
        allowed: The allowed values, as error messages name them.
        description: The effect, as docs/settings.md explains it.
        environment: The variables that supply a value when the stack does not set one. The first
            variable that is not empty counts.
    """

    key: str
    reader: readers.Reader[object]
    allowed: str
    description: str
    environment: tuple[str, ...] = ()

    @property
    def attribute(self) -> str:
        """The name of the attribute in Settings."""
        return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", self.key)
