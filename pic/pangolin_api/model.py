"""Defines the values of this package: what an organisation has, what is live and what is wanted."""

from dataclasses import dataclass, field

from pic.core.json_values import Raw


@dataclass(frozen=True, slots=True)
class Site:
    """A site: the tunnel of `pic:defaultTunnel`."""

    id: int
    nice_id: str
    name: str
    kind: str
    online: bool


@dataclass(frozen=True, slots=True)
class Domain:
    """A base domain; only a host itself, and none below it, is possible for the kind `cname`."""

    id: str
    base: str
    kind: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Role:
    """A role; the one of administrators has access to everything and cannot be named."""

    id: int
    name: str
    is_admin: bool


@dataclass(frozen=True, slots=True)
class User:
    """A user of the organisation."""

    id: str
    email: str
    username: str


@dataclass(frozen=True, slots=True)
class ListedTarget:
    """What the list says of a target.

    Attributes:
        health: `healthy`, `unhealthy` or `unknown`.
    """

    id: int
    site_id: int
    ip: str
    port: int
    enabled: bool
    health: str


@dataclass(frozen=True, slots=True)
class ListedResource:
    """What the list says of a resource; neither block nor paths are in it.

    Attributes:
        host: `fullDomain` in small letters; empty for resources without one.
        sso: Since 1.22, the login that policies result in.
        whitelist: Whether a list of emails opens the login.
        locks: Whether it has a password, a PIN or header authentication.
    """

    id: int
    nice_id: str
    name: str
    host: str
    enabled: bool
    sso: bool
    whitelist: bool
    locks: bool
    targets: tuple[ListedTarget, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """A health check over HTTP; only sites of the type newt check.

    Attributes:
        port: None checks the port of the target.
        interval: Seconds; None leaves it to Pangolin.
    """

    enabled: bool = True
    path: str = "/"
    port: int | None = None
    interval: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A target as it should be.

    Attributes:
        method: `http`, `https` or `h2c`.
        path: None, like `match`, for the whole host.
        match: `exact`, `prefix` or `regex`.
        rewrite: The new path; `/` where the type is `stripPrefix`.
        rewrite_type: `exact`, `prefix`, `regex` or `stripPrefix`.
        priority: From 1 to 1000; None leaves it to Pangolin.
        health: None leaves the health check as it is.
    """

    site_id: int
    ip: str
    port: int
    method: str = "http"
    enabled: bool = True
    path: str | None = None
    match: str | None = None
    rewrite: str | None = None
    rewrite_type: str | None = None
    priority: int | None = None
    health: Health | None = None


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """A rule that comes before the login; the lowest priority counts first.

    Attributes:
        action: `ACCEPT`, `DROP` or `PASS`.
        match: `CIDR`, `IP`, `PATH`, `COUNTRY` or `ASN`.
    """

    priority: int
    action: str
    match: str
    value: str
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Wanted:
    """A resource as it should be. What is None stays as it is in Pangolin.

    Attributes:
        host: The public host in small letters; also the name of the resource.
        nice_id: The marker, from `naming.nice_id`.
        domain_id: The base domain, like `subdomain` from `organisation.split`.
        subdomain: None for the base domain itself.
        host_header: An empty text removes it, like `tls_server_name`.
        rules: None leaves them; none at all switches rules off.
        roles: The ids of roles, without the one of administrators.
        emails: The whitelist; an empty one switches it off.
    """

    host: str
    nice_id: str
    domain_id: str
    subdomain: str | None
    targets: tuple[Target, ...]
    sso: bool = True
    block: bool = False
    enabled: bool = True
    ssl: bool | None = None
    sticky: bool | None = None
    host_header: str | None = None
    tls_server_name: str | None = None
    rules: tuple[Rule, ...] | None = None
    roles: frozenset[int] | None = None
    users: frozenset[str] | None = None
    emails: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class LiveTarget:
    """A target in Pangolin; `fields` are all that it has."""

    id: int
    fields: Raw


@dataclass(frozen=True, slots=True)
class Live:
    """A resource in Pangolin, read deeply.

    Attributes:
        host: `fullDomain` in small letters.
        fields: All that the resource itself has.
        rules: With their ids. Empty, like the next three, if they were not read.
        roles: Without the one of administrators.
        emails: Kept while the whitelist is off.
    """

    id: int
    host: str
    fields: Raw
    targets: tuple[LiveTarget, ...] = ()
    rules: tuple[tuple[int, Rule], ...] = ()
    roles: frozenset[int] = frozenset()
    users: frozenset[str] = frozenset()
    emails: frozenset[str] = field(default_factory=frozenset)
