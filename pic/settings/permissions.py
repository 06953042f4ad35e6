"""Lists the Kubernetes permissions that a run needs with given settings, and why. No I/O.

The permissions to read come from `pic.settings.kinds`. Those to write come from the targets, in
`pic.run.targets`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pic.settings.kinds import (
    NAMESPACE_KIND,
    needed_kinds,
    register_namespace,
    watched_namespaces,
)
from pic.settings.parse import ResourceSchema, Settings, TargetName

LEASES = "coordination.k8s.io"


@dataclass(frozen=True, slots=True)
class Permission:
    """One verb on one resource.

    Attributes:
        group: The API group; empty for the core group.
        resource: The plural name of the resource.
        verb: The verb in RBAC, such as list.
        why: What pic needs it for, such as "to find the tunnels".
        namespace: Empty means all namespaces, or a resource without a namespace.
        name: Empty means every object.
        optional: Whether a run works without it, and only knows less.
    """

    group: str
    resource: str
    verb: str
    why: str
    namespace: str = ""
    name: str = ""
    optional: bool = False

    def __str__(self) -> str:
        full = f"{self.resource}.{self.group}" if self.group else self.resource
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {full}{where}"


def read_permissions(settings: Settings) -> Iterator[Permission]:
    """Yield what every verb needs that reads the cluster, such as `diff` and `status`."""
    for kind in needed_kinds(settings):
        for namespace in kind.namespaces(settings):
            yield Permission(kind.group, kind.plural, "list", kind.why, namespace)
    if namespace := register_namespace(settings):
        yield Permission("", "configmaps", "list", "to read the register", namespace)
    yield from _namespace_permissions(settings)
    # The uid of kube-system identifies the cluster: it exists in every cluster and never changes.
    yield Permission("", "namespaces", "get", "to identify the cluster", name="kube-system")
    # With a fixed pic:resourceSchema, pic works without this permission for the whole cluster.
    if _needs_crd(settings):
        yield Permission(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "get",
            "to adapt to the installed CRD",
            name="pangolinresources.tunnel.pangolin.io",
        )


def _namespace_permissions(settings: Settings) -> Iterator[Permission]:
    kind = NAMESPACE_KIND
    why = f"optional, {kind.why}"
    if not settings.namespaces:
        yield Permission(kind.group, kind.plural, "list", why, optional=True)
    for namespace in settings.namespaces:
        yield Permission(kind.group, kind.plural, "get", why, namespace, optional=True)


def _needs_crd(settings: Settings) -> bool:
    exposes = TargetName.PANGOLIN in settings.targets
    return exposes and settings.resource_schema is ResourceSchema.AUTO


def register_permissions(settings: Settings) -> Iterator[Permission]:
    """Yield what pic needs to write the register."""
    if namespace := register_namespace(settings):
        for verb in ("get", "create", "patch", "delete"):
            yield Permission("", "configmaps", verb, "to write the register", namespace)


def event_permissions(settings: Settings) -> Iterator[Permission]:
    """Yield what pic needs to create Events."""
    if settings.events:
        for namespace in watched_namespaces(settings):
            yield Permission("", "events", "create", "to create Events on Ingresses", namespace)


def watch_permissions(settings: Settings, namespace: str) -> Iterator[Permission]:
    """Yield what `pic watch` needs in addition to `pic up`.

    Args:
        settings: The settings of the stack.
        namespace: The namespace of the watcher's Lease.
    """
    # A watch begins with a list, so pic needs both verbs for the same collections.
    for permission in read_permissions(settings):
        # The watcher reads the register whenever it plans, so it does not watch it.
        followed = not permission.optional and permission.resource != "configmaps"
        if permission.verb == "list" and followed:
            yield Permission(
                permission.group,
                permission.resource,
                "watch",
                "to follow changes",
                permission.namespace,
            )
    # A Lease has to exist before it can be updated, and RBAC cannot limit a create to one name.
    for verb in ("get", "create", "update"):
        yield Permission(LEASES, "leases", verb, "to let only one watcher act", namespace)
