"""Finds the tunnel of a host, and the verified domains of the tunnel's organisation.

Anybody who can create a tunnel can give it any name. So a name without a namespace means only a
tunnel in the namespaces that the platform team has listed: `pic:tunnelNamespace`, then
`pic:tunnelNamespaces`, in this order. Two cases remain where it lists none. On a cluster, a live
host keeps the tunnel that it has, and a new one has none. A plan from files has no live hosts, so
it takes the tunnel in the namespace of the Ingress, or else the only one of that name.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from pic.core import names
from pic.core.model import LiveResource, Snapshot, TunnelRef
from pic.core.notices import Reason
from pic.core.operator_objects import Organization, Tunnel
from pic.core.variables import not_filled_in
from pic.planning.absences import Absences
from pic.planning.notice_log import Problem, ProblemError
from pic.settings.kinds import ORGANIZATION, TUNNEL, tunnel_search
from pic.settings.parse import Settings

_OWN = ', or list "." in pic:tunnelNamespaces to use the tunnels in the namespace of the Ingress'


class TunnelError(ProblemError):
    """Reports a tunnel that cannot be used now."""


@dataclass(frozen=True, slots=True)
class ResolvedTunnel:
    """A tunnel that exists and may be used.

    Attributes:
        organization: The organisation of the tunnel; None if organisations were not read or the
            tunnel names none.
        waiting: The status of a tunnel that is not ready, `none` without one; else empty.
    """

    ref: TunnelRef
    organization: Organization | None = None
    waiting: str = ""


class Tunnels:
    """Finds tunnels by name, and remembers the answers."""

    def __init__(
        self, snapshot: Snapshot, settings: Settings, absences: Absences | None = None
    ) -> None:
        self._settings = settings
        self._absences = absences or Absences()
        self._checked = snapshot.tunnels is not None
        # A plan from files alone knows no cluster.
        self._on_cluster = bool(snapshot.cluster_id)
        self._namespaced = snapshot.schema.tunnel_namespace
        self._by_key = {
            (tunnel.namespace, tunnel.name): tunnel for tunnel in snapshot.tunnels or ()
        }
        self._by_name: dict[str, list[Tunnel]] = defaultdict(list)
        for tunnel in self._by_key.values():
            self._by_name[tunnel.name].append(tunnel)
        self._organizations = (
            None
            if snapshot.organizations is None
            else {
                (organization.namespace, organization.name): organization
                for organization in snapshot.organizations
            }
        )
        self._answers: dict[tuple[str, str], ResolvedTunnel | Problem] = {}

    def find(self, reference: str, namespace: str) -> ResolvedTunnel | Problem:
        """Find a tunnel, or say why it cannot be used.

        Args:
            reference: What the Ingress calls it: `name` or `namespace/name`.
            namespace: The namespace of the Ingress.
        """
        key = (namespace, reference)
        if key not in self._answers:
            self._answers[key] = _answer(partial(self._find, reference, namespace))
        return self._answers[key]

    @property
    def live_keep(self) -> bool:
        """Whether live hosts keep their tunnels, because `pic:tunnelNamespace` is not set."""
        return self._settings.tunnel_namespace is None and self._checked and self._on_cluster

    def keep(
        self, reference: str, namespace: str, live: TunnelRef
    ) -> ResolvedTunnel | Problem | None:
        """Return the tunnel of a live host, which the Ingress calls by its name alone.

        Args:
            reference: What the Ingress calls its tunnel.
            namespace: The namespace of the Ingress.
            live: The tunnel of the live host.

        Returns:
            The tunnel, or why it cannot be used; None if the Ingress names another one.
        """
        return _answer(partial(self._keep, live, namespace)) if live.name == reference else None

    def _keep(self, ref: TunnelRef, namespace: str) -> ResolvedTunnel:
        tunnel = self._existing(ref.name, [ref.namespace or namespace])
        # The reference stays as it is, also where it names a namespace without need.
        return ResolvedTunnel(ref, self._organization(tunnel), _waiting(tunnel))

    def _find(self, reference: str, namespace: str) -> ResolvedTunnel:
        tunnel_namespace, slash, name = reference.rpartition("/")
        if not names.is_object_name(name) or (slash and not names.is_label_name(tunnel_namespace)):
            remark = f": {variable}" if (variable := not_filled_in(reference)) else ""
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND, f"{reference[:80]!r} is not the name of a tunnel{remark}"
            )
        search = tunnel_search(self._settings, namespace)
        if tunnel_namespace:
            _permit(tunnel_namespace, reference, search)
            search = (tunnel_namespace,)
        tunnel = self._locate(name, search, namespace)
        return ResolvedTunnel(
            self._ref(tunnel, namespace), self._organization(tunnel), _waiting(tunnel)
        )

    def _locate(self, name: str, search: Sequence[str], namespace: str) -> Tunnel:
        place = next(iter(search), namespace)
        # A plan from files need not include the tunnels. Then every name counts as correct.
        if not self._checked or self._may_exist(name, search, place):
            return Tunnel(place, name, status="Ready")
        if search:
            return self._existing(name, search)
        if self._on_cluster:
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND,
                f"PangolinTunnel {name} is not looked for, because pic:tunnelNamespace is not set:"
                f" run pic init --tunnel-namespace NAMESPACE{_OWN}",
            )
        return self._by_key.get((namespace, name)) or self._only(name, namespace)

    def _may_exist(self, name: str, search: Sequence[str], place: str) -> bool:
        """Say whether a tunnel that was not read may exist all the same."""
        read = self._in(name, search) if search else self._by_name[name]
        return not read and self._absences.tolerates(TUNNEL, place, name)

    def _existing(self, name: str, search: Sequence[str]) -> Tunnel:
        """Return the first tunnel of a name in some namespaces, in their order."""
        if tunnel := self._in(name, search):
            return tunnel
        where = f"namespace {search[0]}" if len(search) == 1 else f"namespaces {', '.join(search)}"
        remedy = "create it, or correct the name"
        if self._settings.tunnel_namespace is None:
            remedy = "create it, correct the name, or set pic:tunnelNamespace with pic init"
        raise TunnelError(
            Reason.TUNNEL_NOT_FOUND, f"PangolinTunnel {name} does not exist in {where}: {remedy}"
        )

    def _in(self, name: str, search: Sequence[str]) -> Tunnel | None:
        tunnels = (self._by_key.get((namespace, name)) for namespace in search)
        return next(filter(None, tunnels), None)

    def _only(self, name: str, namespace: str) -> Tunnel:
        candidates = self._by_name[name]
        if len(candidates) == 1:
            return candidates[0]
        if not candidates:
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND,
                f"PangolinTunnel {name} does not exist in namespace {namespace} or elsewhere:"
                " create it, or correct the name",
            )
        places = ", ".join(sorted(f"{tunnel.namespace}/{tunnel.name}" for tunnel in candidates))
        raise TunnelError(
            Reason.TUNNEL_NOT_FOUND,
            f"tunnel {name} is ambiguous, since {places} exist: set pic:tunnelNamespace, or write"
            " namespace/name and list that namespace in pic:tunnelNamespaces",
        )

    def _ref(self, tunnel: Tunnel, namespace: str) -> TunnelRef:
        elsewhere = tunnel.namespace != namespace
        if elsewhere and not self._namespaced:
            crd = crd_name(on_cluster=self._on_cluster)
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND,
                f"tunnel {tunnel.name} is in namespace {tunnel.namespace}, but {crd} allows only"
                f" tunnels in namespace {namespace}: upgrade the Pangolin operator",
            )
        # Without a namespace, the CRD means the namespace of the object.
        named = self._namespaced and (elsewhere or self._settings.tunnel_namespace is not None)
        return TunnelRef(tunnel.name, tunnel.namespace if named else None)

    def _organization(self, tunnel: Tunnel) -> Organization | None:
        if tunnel.organization is None or self._organizations is None:
            return None
        organization = self._organizations.get(tunnel.organization)
        if organization is None and self._absences.tolerates(ORGANIZATION, *tunnel.organization):
            return None
        if organization is None:
            raise TunnelError(
                Reason.ORGANIZATION_NOT_FOUND,
                f"PangolinOrganization {'/'.join(tunnel.organization)} of tunnel"
                f" {tunnel.namespace}/{tunnel.name} does not exist: create it, or correct"
                " organizationRef",
            )
        return organization


def crd_name(*, on_cluster: bool) -> str:
    """Return how a message names the CRD that limits what pic can declare."""
    return "the installed CRD" if on_cluster else "the CRD that pic assumes for files"


def declared_tunnel(live: LiveResource) -> TunnelRef | None:
    """Return the tunnel of a live object as pic has declared it; None if pic has not."""
    owned, tunnel = live.owned, live.spec.tunnel
    # None if the API server recorded no owners, empty for an object that pic takes over.
    if not owned or "tunnelRef.namespace" in owned:
        return tunnel
    return TunnelRef(tunnel.name) if tunnel and "tunnelRef" in owned else None


def _answer(find: Callable[[], ResolvedTunnel]) -> ResolvedTunnel | Problem:
    try:
        return find()
    except TunnelError as error:
        return error.problem


def _permit(tunnel_namespace: str, reference: str, search: Sequence[str]) -> None:
    # The operator does not check whether a namespace may use a tunnel of another one, so without
    # this list an annotation could use any tunnel in the cluster.
    if tunnel_namespace not in search:
        raise TunnelError(
            Reason.TUNNEL_NOT_FOUND,
            f"tunnel {reference} is not allowed: pic:tunnelNamespaces does not list"
            f" {tunnel_namespace}",
        )


def _waiting(tunnel: Tunnel) -> str:
    return "" if tunnel.status == "Ready" else tunnel.status or "none"
