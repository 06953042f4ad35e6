"""Defines what a Pangolin organisation has, as planning needs it. No I/O.

`pic.pangolin_api` reads it over the Integration API, and `pic.planning.publishing` makes live
resources of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Site:
    """A site: the tunnel of `pic:defaultTunnel`, the classes and the annotations.

    Attributes:
        online: Whether it is connected; always true for a kind that does not report it.
    """

    id: int
    nice_id: str
    name: str
    online: bool = True


@dataclass(frozen=True, slots=True)
class BaseDomain:
    """A base domain of the organisation.

    Attributes:
        exact: Whether it covers only itself, and no host below it.
    """

    id: str
    base: str
    verified: bool = True
    exact: bool = False


@dataclass(frozen=True, slots=True)
class PublicTarget:
    """What the list says of a target.

    Attributes:
        site: The id of its site.
        health: `healthy`, `unhealthy` or `unknown`.
    """

    ip: str
    port: int
    site: int
    enabled: bool = True
    health: str = "unknown"


@dataclass(frozen=True, slots=True)
class PublicResource:
    """What the list says of a resource; neither its block nor its paths are in it.

    Attributes:
        nice_id: Marks ours: `pic.pangolin_api.naming` makes it.
        host: Its public host in small letters.
    """

    id: int
    nice_id: str
    name: str
    host: str
    enabled: bool = True
    sso: bool = True
    targets: tuple[PublicTarget, ...] = ()


@dataclass(frozen=True, slots=True)
class DetailedTarget:
    """A target that was read on its own; `path`, `match` and `priority` are as in a plan."""

    ip: str
    port: int
    site: int
    method: str = "http"
    enabled: bool = True
    path: str | None = None
    match: str | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class Detail:
    """What only a reading of the one resource shows.

    Attributes:
        domain_id: The id of its base domain.
        block: Whether Pangolin blocks all access.
    """

    enabled: bool
    sso: bool
    block: bool
    domain_id: str
    targets: tuple[DetailedTarget, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """What one organisation has.

    Attributes:
        url: The Integration API that was asked, for messages.
        resources: All that have a host, ours or not.
        details: What was read of single resources, by their id.
    """

    url: str = ""
    org: str = ""
    sites: tuple[Site, ...] = ()
    domains: tuple[BaseDomain, ...] = ()
    resources: tuple[PublicResource, ...] = ()
    details: Mapping[int, Detail] = field(default_factory=dict)

    def site_named(self, text: str) -> tuple[Site, ...]:
        """Return the sites with a niceId, or else with a name: one, none, or an ambiguity."""
        by_id = tuple(site for site in self.sites if site.nice_id == text)
        return by_id or tuple(site for site in self.sites if site.name == text)

    def domain_named(self, base: str) -> BaseDomain | None:
        """Return the verified base domain with a name, or None."""
        return next((it for it in self.domains if it.verified and it.base == base), None)
