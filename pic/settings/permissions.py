"""What pic must be allowed to do, and what for. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass

from pic.settings.kinds import needed_kinds, watched_namespaces
from pic.settings.parse import ResourceSchema, Settings, TargetName

OBJECTS = "pangolinresources"
LEASES = "coordination.k8s.io"
# A watcher alone lists and watches what a run lists.
WATCHED = "follows its changes"


@dataclass(frozen=True, slots=True)
class Permission:
    """One verb on one resource; an empty namespace is all of them, or none where it has none."""

    group: str
    resource: str
    verb: str
    why: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        full = f"{self.resource}.{self.group}" if self.group else self.resource
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {full}{where}"


def reading(settings: Settings) -> Iterator[Permission]:
    """Yield what every verb that reads needs: `diff`, `preview`, `drift`, `status`."""
    for kind in needed_kinds(settings):
        for namespace in kind.namespaces(settings):
            yield Permission(kind.group, kind.plural, "list", kind.why, namespace)
    yield Permission("", "namespaces", "get", "tells clusters apart", name="kube-system")
    if _needs_crd(settings):
        yield Permission(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "get",
            "what the installed CRD can hold",
            name="pangolinresources.tunnel.pangolin.io",
        )


def _needs_crd(settings: Settings) -> bool:
    exposes = TargetName.PANGOLIN in settings.targets
    return exposes and settings.resource_schema is ResourceSchema.AUTO


def telling(settings: Settings) -> Iterator[Permission]:
    """Yield what Events at the Ingresses need."""
    if settings.events:
        for namespace in watched_namespaces(settings):
            yield Permission("", "events", "create", "Events at the Ingresses", namespace)


def watching(settings: Settings, namespace: str) -> Iterator[Permission]:
    """Yield what `watch` needs beyond `up`.

    Args:
        settings: Those of the stack.
        namespace: Where its Lease is.
    """
    for each in reading(settings):
        if each.verb == "list":
            yield Permission(each.group, each.resource, "watch", WATCHED, each.namespace)
    for verb in ("get", "create", "update"):
        yield Permission(LEASES, "leases", verb, "which of several watchers acts", namespace)
