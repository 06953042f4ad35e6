"""What pic must be allowed to do, and what for. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass

from pic.config import ResourceSchema, Settings, TargetName

PANGOLIN = "tunnel.pangolin.io"
WRITES = ("get", "list", "watch", "create", "patch", "delete")


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
    for place in settings.namespaces or ("",):
        yield Permission("networking.k8s.io", "ingresses", "list", "what is to be exposed", place)
    yield Permission("", "namespaces", "get", "tells clusters apart", name="kube-system")
    if TargetName.PANGOLIN in settings.targets:
        yield from _pangolin(settings)


def _pangolin(settings: Settings) -> Iterator[Permission]:
    for place in settings.namespaces or ("",):
        yield Permission("", "services", "list", "ports of the backends", place)
    if "" in settings.ingress_classes:
        yield Permission("networking.k8s.io", "ingressclasses", "list", "the default class")
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
    for verb in WRITES:
        yield Permission(PANGOLIN, "pangolinresources", verb, "the objects themselves")
    for verb in ("list", "watch"):
        yield Permission("", "events", verb, "the Kubernetes provider follows them")
    if settings.events:
        yield Permission("", "events", "create", "Events at the Ingresses")


def tunnel_places(settings: Settings) -> tuple[str, ...]:
    """Return the namespaces in which tunnels are looked for; the empty one is all."""
    if settings.tunnel_namespace is None:
        return ("",)
    return tuple(dict.fromkeys((settings.tunnel_namespace, *settings.tunnel_namespaces)))
