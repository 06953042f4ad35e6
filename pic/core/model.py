"""Defines the values that every layer works with: the dictionary of the project. No I/O.

Three groups of values follow each other, as in a run:

- what the cluster and Pi-hole contain: `LiveResource`, `LiveRecord`, the Ingresses of
  `pic.core.ingress` and the kinds of `pic.core.operator_objects`, together in a `Snapshot`;
- what should exist: `Resource` and `Record`, together in a `Plan`;
- what both are made of: `Spec`, `Target`, `Owner`, `Family`.

Every value is frozen and equal to another one with equal fields, so plans can be compared. Parsing
has checked the types, and each docstring says what stands for an absent field.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pic.core.files import FilesRead
from pic.core.held import Held
from pic.core.ingress import Deletion, Ingress, IngressClass, Service
from pic.core.notices import Notice
from pic.core.operator_objects import CURRENT_CRD, Organization, Schema, Tunnel
from pic.core.published import Published
from pic.core.register import Register, StateMemory
from pic.core.sources import Source
from pic.core.unread import Silent, Unanswered, Unreadable

# The kind that pic declares, in the API group of the Pangolin operator.
VERSION = "v1alpha1"
API_VERSION = f"tunnel.pangolin.io/{VERSION}"
KIND = "PangolinResource"
# The name under which the API server tracks the fields that pic applies. With another name, pic
# could no longer remove the fields that it has applied so far.
FIELD_MANAGER = "pic"
# The field managers of kubectl begin with it, such as `kubectl-edit` and `kubectl-patch`.
KUBECTL = "kubectl"

# The type token of a DNS record in Pulumi. Every URN contains it, so with another token the engine
# would delete all records and create them again.
RECORD_TYPE = "pihole:index:DnsRecord"
# The same for a resource in Pangolin itself.
PUBLIC_TYPE = "pangolin:index:PublicResource"


def is_host(urn: str) -> bool:
    """Say whether the URN of a resource of the engine is that of a public host."""
    return KIND in urn or PUBLIC_TYPE in urn


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace of the cluster.

    Attributes:
        exists: False for a namespace of `pic:namespaces` that the cluster does not have.
        going: Its deletion; None if it is not being deleted.
    """

    name: str
    exists: bool = True
    going: Deletion | None = None


@dataclass(frozen=True, slots=True)
class TunnelRef:
    """`spec.tunnelRef`; a `namespace` of None means the namespace of the PangolinResource."""

    name: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class HttpConfig:
    """`spec.httpConfig`; None is an absent field.

    Attributes:
        domain_name: The base domain, which the organization has verified.
        domain_id: The id of the base domain in Pangolin. There are operators that take another
            domain if it is absent.
        subdomain: The rest of the public host before the base domain.
        sso: Whether Pangolin asks for a login.
        block_access: Whether Pangolin blocks all access.
    """

    domain_name: str | None = None
    subdomain: str | None = None
    sso: bool | None = None
    block_access: bool | None = None
    domain_id: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One entry of `spec.targets`: where Pangolin sends the requests for a path.

    Attributes:
        ip: An address or a DNS name inside the cluster, in spite of the name of the field.
        method: `http` or `https`.
        path: None, like `match` and `priority`, for a target of the whole host.
        match: `pathMatchType`: `exact`, `prefix` or `regex`.
        priority: From 1 to 1000; the highest wins.
    """

    ip: str
    port: int
    method: str | None = None
    path: str | None = None
    match: str | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """The fields of `spec` that pic writes; None is an absent field.

    Fields of other managers are not part of it, so pic neither compares nor removes them.

    Attributes:
        http: `httpConfig`; all its fields are None if it is absent.
        single: Whether the object has the older field `target` with one target, not `targets`.
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
    """An Ingress that a resource or a record comes from.

    A resource has an owner reference to it, so it is always of the same namespace. A record may
    have owners in several namespaces.
    """

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class LiveResource:
    """A PangolinResource in the cluster, ours or not, or a resource in Pangolin itself.

    `pic.planning.ownership` tells apart whose it is. A resource in Pangolin has no labels and no
    owners: `pic.planning.publishing` gives it those of its host in the register.

    Attributes:
        host: Its public host; empty if the object does not determine one.
        owners: The Ingresses in its owner references.
        spec: Only the fields that pic could have written.
        owned: The spec fields that field manager `pic` owns, as dotted paths; None if unknown,
            because the object has no `managedFields`.
        managed: Whether `pic` is among its field managers.
        edits: The spec fields that a user wrote with kubectl, as dotted paths by field manager.
        generation: Counts the changes of the spec; 0 if absent.
        status: `status.status`; empty before the operator has written it.
        going: The deletion of the object or of its namespace; None if neither is being deleted.
        published: The id of a resource in Pangolin itself; 0 for an object in the cluster.
        shallow: Whether only what the list of Pangolin shows is known: of the targets, the address.
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
    edits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    generation: int = 0
    status: str = ""
    going: Deletion | None = None
    published: int = 0
    shallow: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def identity(self) -> int | tuple[str, str]:
        """What the engine's state knows it by: its id in Pangolin, or namespace and name."""
        return self.published or self.key


class Family(StrEnum):
    """The type of a DNS record with an address, one for each version of IP."""

    A = "A"
    AAAA = "AAAA"

    @classmethod
    def of(cls, ip: str) -> "Family":
        """Return the family of a valid address."""
        # The address is valid, so a colon is enough to recognise IPv6.
        return cls.AAAA if ":" in ip else cls.A


class Maker(StrEnum):
    """Who made a line in Pi-hole that is not of this stack, as far as its comment shows."""

    UNKNOWN = ""
    OTHER_STACK = "stack"
    OTHER_CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class LiveRecord:
    """A DNS record in Pi-hole, ours or not.

    Attributes:
        ours: Whether this stack made it. It carries the marker of the stack; with an interface of
            Pi-hole that has no markers, the register or the state has it.
        alone: Whether its line has no other name, so that pic could take it over.
        legacy: Whether it carries the marker of earlier versions, which all stacks of a cluster
            share, and nothing has shown that this stack made it. `pic.planning.record_ownership`
            decides. Until then `ours` is true.
        maker: Which other pic made it; always unknown if it is ours.
    """

    host: str
    ip: str
    ours: bool = False
    alone: bool = True
    legacy: bool = False
    maker: Maker = Maker.UNKNOWN

    @property
    def key(self) -> tuple[str, Family]:
        """Host and family. pic keeps one record for each."""
        return self.host, Family.of(self.ip)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that was read for one run. A kind is complete or the run ends.

    The settings decide which kinds a run needs. A kind that it did not read is None, and planning
    then skips the checks that need it.

    Attributes:
        cluster_id: The uid of namespace kube-system; empty for a plan from files alone.
        unreadable: The objects of any kind that could not be parsed.
        namespaces: Those that pic may read: all of them, or those of `pic:namespaces`.
        live: The PangolinResources in the cluster.
        schema: What the CRD of PangolinResource can hold.
        records: The records in Pi-hole; None if the run did not read them, or could not.
        unanswered: Why Pi-hole did not return its records; None if it did, or was not asked.
        shadows: What Pi-hole answers for a host instead of its record, such as a CNAME, by host.
        registers: The register of each stack, by the value of its label; None if they were not
            read.
        now: The time of the API server, in RFC 3339; empty if it is unknown.
        state: What the engine's state knows; None if the run did not need it.
        files: What pic read from manifest files; None without such files.
        published: What Pangolin has; None if the run did not read it, or could not.
        silent: Why Pangolin did not say what it has; None if it did, or was not asked.
    """

    cluster_id: str = ""
    ingresses: tuple[Ingress, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    classes: tuple[IngressClass, ...] | None = None
    services: tuple[Service, ...] | None = None
    tunnels: tuple[Tunnel, ...] | None = None
    organizations: tuple[Organization, ...] | None = None
    namespaces: tuple[Namespace, ...] | None = None
    live: tuple[LiveResource, ...] = ()
    schema: Schema = CURRENT_CRD
    records: tuple[LiveRecord, ...] | None = None
    unanswered: Unanswered | None = None
    registers: Mapping[str, Register] | None = None
    now: str = ""
    state: StateMemory | None = None
    files: FilesRead | None = None
    shadows: Mapping[str, str] = field(default_factory=dict)
    published: Published | None = None
    silent: Silent | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """One host that should be exposed: a PangolinResource, or a resource in Pangolin itself.

    Attributes:
        host: The public host, which is also the name of the resource in Pulumi.
        owners: The Ingresses that it comes from; they become its owner references.
        held: Its sources cannot be resolved at the moment, so pic declares its live form again.
        adopts: A live object has this namespace and name: one of ours, or one to take over.
        inherits: This live object belongs to the Go controller, whose fields pic takes over.
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
        ip: An IPv4 or IPv6 address in its canonical form.
        owners: The Ingresses that it comes from.
        held: Its sources cannot be resolved at the moment, so pic declares its live form again.
    """

    host: str
    ip: str
    owners: tuple[Owner, ...]
    held: bool = False

    @property
    def key(self) -> tuple[str, Family]:
        """Host and family, as in `LiveRecord.key`."""
        return self.host, Family.of(self.ip)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that should exist, and what the user should know about it.

    It depends on the snapshot and the settings alone, so equal inputs give an equal plan.

    Attributes:
        resources: Sorted by host.
        records: Sorted by host and family.
        notices: Sorted by the object that they are about.
        held: The changes that wait for an acknowledgement, sorted by host. What they would change
            is planned as it is.
        register: What the register should be; None if this plan keeps no register.
        no_host_survives: Whether pic would remove every host. Such a plan is refused as a whole,
            so it holds no removal.
        no_record_survives: The same for the DNS records.
        next_change: When time alone next changes the plan, in RFC 3339; empty for never.
        sources: What became of each Ingress, whatever its class is; empty if planning kept no full
            trail.
        departures: Why live objects of ours are not planned, by namespace and name, and live DNS
            records, by host and family.
        weakenings: Why hosts lose login or block, by host.
    """

    resources: tuple[Resource, ...] = ()
    records: tuple[Record, ...] = ()
    notices: tuple[Notice, ...] = ()
    held: tuple[Held, ...] = ()
    register: Register | None = None
    no_host_survives: bool = False
    no_record_survives: bool = False
    next_change: str = ""
    # These say why and not what, so two plans do not differ by them.
    sources: tuple[Source, ...] = field(default=(), compare=False)
    departures: Mapping[tuple[str, str], str] = field(default_factory=dict, compare=False)
    weakenings: Mapping[str, str] = field(default_factory=dict, compare=False)


class _RecordKey(Protocol):
    """Anything that is about one record, such as a `Record`, a `LiveRecord` or an edit of one."""

    @property
    def key(self) -> tuple[str, Family]: ...


def record_id(record: _RecordKey) -> str:
    """Return the Pulumi name of a record, which is also its resource id: `app.example.com/A`."""
    host, family = record.key
    return f"{host}/{family}"
