"""Lists the kinds that pic reads, one row each: where it looks for them, when, and why.

The listings of a run, its permissions, the objects that manifest files may hold, and the namespaces
that a branch is confined to all come from these rows. A new kind needs a row here, a parser in
`pic.snapshot.parse`, a projection in `pic.snapshot.projection`, and planning that uses it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pic.core.model import VERSION
from pic.settings.fields import OWN_NAMESPACE
from pic.settings.parse import Settings, TargetName

NETWORKING, PANGOLIN = "networking.k8s.io", "tunnel.pangolin.io"
INGRESS, INGRESS_CLASS, SERVICE = "Ingress", "IngressClass", "Service"
TUNNEL, ORGANIZATION, RESOURCE = "PangolinTunnel", "PangolinOrganization", "PangolinResource"
NAMESPACE = "Namespace"
# The register is made of them. pic reads them by a label, so they are no row of the table below.
CONFIG_MAP = "ConfigMap"


def everywhere(_: Settings) -> Sequence[str]:
    """Return all namespaces, whatever the settings are; an empty string stands for all."""
    return ("",)


def watched_namespaces(settings: Settings) -> Sequence[str]:
    """Return the namespaces in `pic:namespaces`, or all."""
    return settings.namespaces or ("",)


def register_namespace(settings: Settings) -> str:
    """Return the namespace of the register; empty if no setting names one."""
    return settings.register_namespace or settings.tunnel_namespace or ""


def tunnel_search(settings: Settings, namespace: str) -> tuple[str, ...]:
    """Return the namespaces whose tunnels an Ingress may use, in the order of the search.

    Args:
        settings: The settings of the stack. Without any namespace of tunnels, nothing is returned.
        namespace: The namespace of the Ingress.
    """
    listed = settings.tunnel_namespaces
    search = [settings.tunnel_namespace] if settings.tunnel_namespace else []
    search += [place for place in listed if place != OWN_NAMESPACE]
    # Last, so that a tunnel of the platform team wins over one of the same name that a tenant made.
    search += [namespace] if OWN_NAMESPACE in listed else []
    return tuple(dict.fromkeys(search))


def tunnel_namespaces(settings: Settings) -> Sequence[str]:
    """Return the namespaces in which pic reads tunnels, or all."""
    # Without pic:tunnelNamespace, live hosts keep their tunnels, wherever these are. The base
    # domain of such a host depends on the organisation of its tunnel.
    if settings.tunnel_namespace is None:
        return ("",)
    watched = watched_namespaces(settings)
    searches = (tunnel_search(settings, namespace) for namespace in watched)
    places = tuple(dict.fromkeys(place for search in searches for place in search))
    return ("",) if "" in places else places


def _always(_: Settings) -> bool:
    return True


def _exposes(settings: Settings) -> bool:
    return settings.exposes


def _has_operator(settings: Settings) -> bool:
    return TargetName.PANGOLIN in settings.targets


def _has_default_class(settings: Settings) -> bool:
    return _exposes(settings) and "" in settings.ingress_classes


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind that pic lists.

    Attributes:
        group: The API group; empty for the core group.
        plural: The name of the resource in RBAC rules.
        why: What pic needs it for, as docs/permissions.md explains it.
        namespaces: Returns the namespaces in which a run with these settings reads it.
        needed: Returns whether a run with these settings reads it at all.
        remedy: What to change in the settings if RBAC forbids to list it.
        namespaced: Whether its objects live in namespaces.
        earlier_groups: API groups under which old manifest files still declare it.
    """

    name: str
    group: str
    plural: str
    why: str
    version: str = "v1"
    namespaces: Callable[[Settings], Sequence[str]] = everywhere
    needed: Callable[[Settings], bool] = _exposes
    remedy: str = ""
    namespaced: bool = True
    earlier_groups: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The path of its API group and version on the API server."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def is_in(self, group: str) -> bool:
        """Return whether an API group is the current one or an earlier one of this kind."""
        return group in (self.group, *self.earlier_groups)


KINDS = (
    Kind(
        INGRESS,
        NETWORKING,
        "ingresses",
        "to find the hosts to expose",
        namespaces=watched_namespaces,
        needed=_always,
        remedy="narrow pic:namespaces",
        # Kubernetes 1.22 removed extensions/v1beta1, but old files still declare it.
        earlier_groups=("extensions",),
    ),
    Kind(
        INGRESS_CLASS,
        NETWORKING,
        "ingressclasses",
        "to find the default class",
        needed=_has_default_class,
        remedy='remove "" from pic:ingressClasses',
        namespaced=False,
        earlier_groups=("extensions",),
    ),
    Kind(
        SERVICE,
        "",
        "services",
        "to look up the ports of backends",
        namespaces=watched_namespaces,
        remedy="narrow pic:namespaces",
    ),
    Kind(
        TUNNEL,
        PANGOLIN,
        "pangolintunnels",
        "to find the tunnels",
        version=VERSION,
        namespaces=tunnel_namespaces,
        needed=_has_operator,
        remedy="set pic:tunnelNamespace",
    ),
    # In the same namespaces as the tunnels, which refer to them.
    Kind(
        ORGANIZATION,
        PANGOLIN,
        "pangolinorganizations",
        "to find the verified domains",
        version=VERSION,
        namespaces=tunnel_namespaces,
        needed=_has_operator,
        remedy="set pic:tunnelNamespace",
    ),
    # In all namespaces: our objects remain where pic read Ingresses before pic:namespaces changed.
    Kind(
        RESOURCE,
        PANGOLIN,
        "pangolinresources",
        "to find the objects of pic",
        version=VERSION,
        needed=_has_operator,
    ),
)
# Not in KINDS, because a run needs no permission to read it, and files do not say what is deleted.
NAMESPACE_KIND = Kind(
    NAMESPACE,
    "",
    "namespaces",
    "to see which namespaces are being deleted",
    needed=_always,
    namespaced=False,
)
BY_NAME = {kind.name: kind for kind in (*KINDS, NAMESPACE_KIND)}


def needed_kinds(settings: Settings) -> list[Kind]:
    """Return the kinds that a run with these settings reads."""
    return [kind for kind in KINDS if kind.needed(settings)]
