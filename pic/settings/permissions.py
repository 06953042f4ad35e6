"""What pic must be allowed to do, and what for. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass

from pic.settings.parse import ResourceSchema, Settings, TargetName

PANGOLIN = "tunnel.pangolin.io"
NETWORKING = "networking.k8s.io"
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


def needed(settings: Settings) -> Iterator[Permission]:
    """Yield what a run of `up` needs with these settings."""
    yield from reading(settings)
    yield from writing(settings)


def reading(settings: Settings) -> Iterator[Permission]:
    """Yield what every verb that reads needs: `diff`, `preview`, `drift`, `status`."""
    for place in _places(settings):
        yield Permission(NETWORKING, "ingresses", "list", "what is to be exposed", place)
    yield Permission("", "namespaces", "get", "tells clusters apart", name="kube-system")
    if TargetName.PANGOLIN in settings.targets:
        yield from _reading_pangolin(settings)


def _reading_pangolin(settings: Settings) -> Iterator[Permission]:
    for place in _places(settings):
        yield Permission("", "services", "list", "ports of the backends", place)
    if "" in settings.ingress_classes:
        yield Permission(NETWORKING, "ingressclasses", "list", "the default class")
    for place in tunnel_places(settings):
        yield Permission(PANGOLIN, "pangolintunnels", "list", "the tunnels", place)
        yield Permission(PANGOLIN, "pangolinorganizations", "list", "verified domains", place)
    if settings.resource_schema is ResourceSchema.AUTO:
        yield Permission(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "get",
            "what the installed CRD can hold",
            name="pangolinresources.tunnel.pangolin.io",
        )
    # Everywhere, whatever pic:namespaces says: ours may be where Ingresses were read before.
    yield Permission(PANGOLIN, OBJECTS, "list", "what is live and ours")


def writing(settings: Settings) -> Iterator[Permission]:
    """Yield what `up` and `destroy` need beyond that."""
    if TargetName.PANGOLIN in settings.targets:
        for place in _places(settings):
            yield from _objects(place)
    if settings.events:
        for place in _places(settings):
            yield Permission("", "events", "create", "Events at the Ingresses", place)
    if TargetName.PIHOLE in settings.targets and settings.pihole_annotate:
        for place in _places(settings):
            yield Permission(NETWORKING, "ingresses", "patch", "tells what Pi-hole has", place)


def _objects(place: str) -> Iterator[Permission]:
    yield Permission(PANGOLIN, OBJECTS, "get", "updates, deletes and imports it", place)
    yield Permission(PANGOLIN, OBJECTS, "watch", "sees that a delete is done", place)
    for verb in ("create", "patch", "delete"):
        yield Permission(PANGOLIN, OBJECTS, verb, "the objects themselves", place)


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


def _places(settings: Settings) -> tuple[str, ...]:
    return settings.namespaces or ("",)


def tunnel_places(settings: Settings) -> tuple[str, ...]:
    """Return the namespaces in which tunnels are looked for; the empty one is all."""
    if settings.tunnel_namespace is None:
        return ("",)
    return tuple(dict.fromkeys((settings.tunnel_namespace, *settings.tunnel_namespaces)))
