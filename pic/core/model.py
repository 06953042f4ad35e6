"""The values everything else is made of: what was seen, and what should be. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pic.core.errors import PiholeError
from pic.core.notices import Notice

VERSION = "v1alpha1"
API_VERSION = f"tunnel.pangolin.io/{VERSION}"
KIND = "PangolinResource"
FIELD_MANAGER = "pic"

# The type token of a DNS record in Pulumi: the provider's schema and every URN carry it.
RECORD_TYPE = "pihole:index:DnsRecord"


@dataclass(frozen=True, slots=True)
class ServiceBackend:
    """A Service and a port of it; `port` is a number, a name, or None where neither is usable."""

    service: str
    port: int | str | None


@dataclass(frozen=True, slots=True)
class ResourceBackend:
    """A backend that is not a Service; `description` is `kind/name`."""

    description: str


Backend = ServiceBackend | ResourceBackend


class PathType(StrEnum):
    """The path types of networking.k8s.io/v1."""

    EXACT = "Exact"
    PREFIX = "Prefix"
    IMPLEMENTATION_SPECIFIC = "ImplementationSpecific"


@dataclass(frozen=True, slots=True)
class IngressPath:
    """One path of a rule as it was written; an absent path is the empty text."""

    path: str
    kind: PathType
    backend: Backend | None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `paths` is empty where the rule has no `http`."""

    host: str
    paths: tuple[IngressPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Ingress:
    """An Ingress, of whatever class.

    Attributes:
        created: RFC 3339 in UTC, or empty where unknown, which sorts last.
        annotations: Values are None where the manifest has a null.
        class_name: `spec.ingressClassName`, empty where absent.
        foreground: It is being deleted in the foreground: its dependents go first.
    """

    namespace: str
    name: str
    uid: str
    created: str = ""
    class_name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str | None] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    default_backend: Backend | None = None
    foreground: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def age(self) -> tuple[bool, str, str, str]:
        """Sorts the oldest first; what has no timestamp comes last, by namespace and name."""
        return not self.created, self.created, self.namespace, self.name


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object whose shape is wrong; what an Ingress of that kind had stays as it is."""

    kind: str
    namespace: str
    name: str
    problem: str
    uid: str = ""
    created: str = ""


@dataclass(frozen=True, slots=True)
class IngressClass:
    """An IngressClass; `default` tells whether it is marked as the cluster's default."""

    name: str
    default: bool


@dataclass(frozen=True, slots=True)
class ServicePort:
    """A port of a Service; `target` is a number, a name, or None where the port itself is meant."""

    name: str
    port: int
    target: int | str | None = None
    app_protocol: str = ""


@dataclass(frozen=True, slots=True)
class Service:
    """A Service, as far as a backend needs it; `external_name` is empty for other types."""

    namespace: str
    name: str
    ports: tuple[ServicePort, ...] = ()
    headless: bool = False
    external: bool = False
    external_name: str = ""


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A PangolinTunnel; `organization` is (namespace, name) or None where it names none."""

    namespace: str
    name: str
    organization: tuple[str, str] | None = None
    status: str = ""


@dataclass(frozen=True, slots=True)
class Organization:
    """A PangolinOrganization with the base domains that its status calls verified."""

    namespace: str
    name: str
    verified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TunnelRef:
    """`spec.tunnelRef`; `namespace` is None where it is the object's own."""

    name: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class HttpConfig:
    """`spec.httpConfig`; None is an absent field."""

    domain_name: str | None = None
    subdomain: str | None = None
    sso: bool | None = None
    block_access: bool | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One entry of `spec.targets`; `path`, `match` and `priority` are absent for the whole host."""

    ip: str
    port: int
    method: str | None = None
    path: str | None = None
    match: str | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """The fields of a PangolinResource that pic writes, and no others; None is an absent field.

    Attributes:
        single: The targets are the one object of the older CRD's `target`.
    """

    enabled: bool | None = None
    name: str | None = None
    protocol: str | None = None
    tunnel: TunnelRef | None = None
    http: HttpConfig = HttpConfig()
    targets: tuple[Target, ...] = ()
    single: bool = False


@dataclass(frozen=True, slots=True)
class Owner:
    """An Ingress that owns a PangolinResource; it is of the same namespace."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class LiveResource:
    """A PangolinResource that exists, ours or not.

    Attributes:
        host: Its public host, empty where it cannot be told.
        owned: The spec fields that field manager `pic` owns, dotted; None where nothing is known.
        managed: Field manager `pic` is among its managers.
    """

    namespace: str
    name: str
    uid: str
    host: str
    labels: Mapping[str, str] = field(default_factory=dict)
    owners: tuple[Owner, ...] = ()
    spec: Spec = Spec()
    owned: frozenset[str] | None = None
    managed: bool = False
    generation: int = 0
    status: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name


class Family(StrEnum):
    """The type of a DNS record that holds an address."""

    A = "A"
    AAAA = "AAAA"

    @classmethod
    def of(cls, ip: str) -> "Family":
        """Return that of an address as it is written."""
        return cls.AAAA if ":" in ip else cls.A


@dataclass(frozen=True, slots=True)
class LiveRecord:
    """A name and an address that Pi-hole has, ours or not.

    Attributes:
        ours: It bears the marker of this cluster or, where there is no room for one, an Ingress is
            annotated with it.
        alone: Its line holds no other name, so it can be changed without touching another's.
    """

    host: str
    ip: str
    ours: bool = False
    alone: bool = True

    @property
    def key(self) -> tuple[str, Family]:
        """Host and family: there is one record of ours for each."""
        return self.host, Family.of(self.ip)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A Pi-hole that was asked for its records, and why it did not tell them.

    Attributes:
        url: Where it should answer, without credentials.
    """

    url: str
    error: PiholeError


@dataclass(frozen=True, slots=True)
class Schema:
    """What the installed CRD of PangolinResource can hold.

    Attributes:
        single_target: `spec.target` instead of the list `spec.targets`.
        subdomain_optional: An apex host can be expressed.
        tunnel_namespace: `spec.tunnelRef.namespace` exists.
        protection: `sso` and `blockAccess` exist.
    """

    single_target: bool = False
    subdomain_optional: bool = False
    tunnel_namespace: bool = True
    protection: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything read for one run: whole, or there is none.

    A kind that is None was not looked at, so nothing is checked against it.

    Attributes:
        records: What Pi-hole has; None where it was not asked, or did not answer.
        unanswered: Why it did not answer; None where it did, or was not asked.
    """

    cluster_id: str = ""
    ingresses: tuple[Ingress, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    classes: tuple[IngressClass, ...] | None = None
    services: tuple[Service, ...] | None = None
    tunnels: tuple[Tunnel, ...] | None = None
    organizations: tuple[Organization, ...] | None = None
    live: tuple[LiveResource, ...] = ()
    schema: Schema = Schema()
    records: tuple[LiveRecord, ...] | None = None
    unanswered: Unanswered | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """One PangolinResource that should exist.

    Attributes:
        host: The public host, which is also the Pulumi name.
        held: Its sources cannot be resolved now, so it is the live form again.
        adopts: A live object of ours, or one that is taken over, has this namespace and name.
        inherits: That object is of the Go controller, whose fields go over to pic.
    """

    host: str
    namespace: str
    name: str
    owners: tuple[Owner, ...]
    labels: Mapping[str, str]
    spec: Spec
    held: bool = False
    adopts: bool = False
    inherits: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name


@dataclass(frozen=True, slots=True)
class Record:
    """One DNS record that should exist in Pi-hole.

    Attributes:
        held: Its sources cannot be understood now, so it is the live form again.
    """

    host: str
    ip: str
    owners: tuple[Owner, ...]
    held: bool = False

    @property
    def key(self) -> tuple[str, Family]:
        """Host and family."""
        return self.host, Family.of(self.ip)


@dataclass(frozen=True, slots=True)
class Plan:
    """What should exist. Same snapshot and settings, same bytes."""

    resources: tuple[Resource, ...] = ()
    records: tuple[Record, ...] = ()
    notices: tuple[Notice, ...] = ()


class _RecordKey(Protocol):
    """Anything that is about one record, such as a `Record`, a `LiveRecord` or an edit of one."""

    @property
    def key(self) -> tuple[str, Family]: ...


def record_id(record: _RecordKey) -> str:
    """Return the Pulumi name of a record, which is also its resource id: `app.example.com/A`."""
    host, family = record.key
    return f"{host}/{family}"
