"""Builds small clusters in which namespaces compete for hosts, and plans them with a register."""

from collections.abc import Iterable

from pic.core.held import Held, Verdict, digest_of
from pic.core.ingress import Ingress, IngressPath, PathType, Rule, ServiceBackend
from pic.core.model import (
    HttpConfig,
    LiveRecord,
    LiveResource,
    Owner,
    Plan,
    Snapshot,
    Spec,
    Target,
    TunnelRef,
)
from pic.core.names import labels, object_name
from pic.core.register import HostEntry, RecordEntry, Register
from pic.planning.annotations import PREFIX
from pic.planning.ownership import Ownership
from pic.planning.trail import Trail
from pic.run.targets import build_plan
from pic.settings.parse import Settings, TargetName
from tests.support.memories import CLUSTER, NOW, OURS, STACK_ID, register

STACK = "pic.prod"
SINCE = "2025-01-01T00:00:00Z"
RECENTLY = "2026-01-01T12:00:00Z"
PIHOLE = (TargetName.PIHOLE,)
DEFAULT = TunnelRef("default")


def ingress(
    *hosts: str, namespace: str = "prod", name: str = "web", created: str = SINCE, **options: str
) -> Ingress:
    """Return an Ingress; `_` in the name of an annotation means `-`."""
    path = IngressPath("/", PathType.PREFIX, ServiceBackend("web", 80))
    return Ingress(
        namespace,
        name,
        f"uid-{namespace}-{name}",
        created,
        class_name="pangolin",
        annotations={f"{PREFIX}{key.replace('_', '-')}": value for key, value in options.items()},
        rules=tuple(Rule(host, (path,)) for host in hosts),
    )


def live(  # noqa: PLR0913 - one argument for each thing that tests vary
    host: str,
    namespace: str = "prod",
    ingress_name: str = "web",
    *,
    sso: bool = False,
    block: bool = False,
    owned: bool = True,
    stack_id: str = STACK_ID,
    tunnel: TunnelRef | None = DEFAULT,
) -> LiveResource:
    """Return the live object that pic has made for the host of an Ingress."""
    subdomain, _, domain = host.partition(".")
    uid = f"uid-{namespace}-{ingress_name}"
    return LiveResource(
        namespace,
        object_name(namespace, ingress_name, host),
        f"uid-of-{host}",
        host,
        labels(STACK, namespace, ingress_name, uid, stack_id),
        (Owner(namespace, ingress_name, uid),) if owned else (),
        Spec(
            enabled=True,
            name=host,
            protocol="http",
            tunnel=tunnel,
            http=HttpConfig(domain, subdomain, sso=sso, block_access=block),
            targets=(Target(f"web.{namespace}.svc.cluster.local", 80, "http"),),
        ),
    )


def cluster(
    ingresses: Iterable[Ingress] = (),
    objects: Iterable[LiveResource] = (),
    remembered: Register | Iterable[HostEntry] | None = None,
    *,
    records: Iterable[LiveRecord] | None = None,
    now: str = NOW,
) -> Snapshot:
    """Return a cluster with a register; None for one whose register does not exist yet."""
    if not isinstance(remembered, Register | None):
        remembered = register(remembered)
    return Snapshot(
        CLUSTER,
        ingresses=tuple(ingresses),
        live=tuple(objects),
        records=None if records is None else tuple(records),
        registers={} if remembered is None else {STACK: remembered},
        now=now,
    )


def plan(
    snapshot: Snapshot,
    settings: Settings | None = None,
    ownership: Ownership = OURS,
    trail: Trail | None = None,
) -> Plan:
    """Plan a cluster with a stack that has an id and a register."""
    return build_plan(snapshot, settings or settled(), STACK, ownership, trail)


def settled(**fields: object) -> Settings:
    """Return settings with which no notice is about the register."""
    return Settings(stack_id=STACK_ID, register_namespace="pic", **fields)  # type: ignore[arg-type]


def held(
    verdict: Verdict,
    entry: HostEntry | RecordEntry,
    change: tuple[str, str],
    reason: str,
    namespace: str | None = None,
) -> Held:
    """Return a held change of what an entry remembers."""
    name = entry.host if isinstance(entry, HostEntry) else entry.record
    digest = digest_of(CLUSTER, STACK, name, verdict, *change, entry.serial, entry.since)
    place = entry.namespace if namespace is None else namespace
    return Held(name, verdict, place, *change, reason, digest)


def places(plan: Plan) -> dict[str, str]:
    """Return the namespace of each planned host."""
    return {resource.host: resource.namespace for resource in plan.resources}
