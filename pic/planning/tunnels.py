"""Finds the tunnel of a host, and the verified domains of the tunnel's organisation.

Without a namespace a name means the tunnel in the Ingress's own namespace, else the only tunnel of
that name elsewhere. `pic:tunnelNamespace` replaces this search by one namespace.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pic.core import names
from pic.core.model import Organization, Snapshot, Tunnel, TunnelRef
from pic.core.notices import Reason
from pic.planning.notice_log import Problem, ProblemError
from pic.settings.parse import Settings


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

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._settings = settings
        self._checked = snapshot.tunnels is not None
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
            try:
                self._answers[key] = self._find(reference, namespace)
            except TunnelError as error:
                self._answers[key] = error.problem
        return self._answers[key]

    def _find(self, reference: str, namespace: str) -> ResolvedTunnel:
        tunnel_namespace, slash, name = reference.rpartition("/")
        if not names.is_object_name(name) or (slash and not names.is_label_name(tunnel_namespace)):
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND, f"{reference[:80]!r} is not the name of a tunnel"
            )
        if tunnel_namespace:
            self._permit(tunnel_namespace, reference)
        tunnel = self._locate(tunnel_namespace or self._settings.tunnel_namespace, name, namespace)
        return ResolvedTunnel(
            self._ref(tunnel, namespace), self._organization(tunnel), _waiting(tunnel)
        )

    def _permit(self, tunnel_namespace: str, reference: str) -> None:
        # The operator does not check whether a namespace may use a tunnel of another one, so
        # without this list an annotation could use any tunnel in the cluster.
        allowed = {*self._settings.tunnel_namespaces, self._settings.tunnel_namespace}
        if tunnel_namespace not in allowed:
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND,
                f"tunnel {reference} is not allowed: pic:tunnelNamespaces does not list"
                f" {tunnel_namespace}",
            )

    def _locate(self, tunnel_namespace: str | None, name: str, namespace: str) -> Tunnel:
        # A plan from files need not include the tunnels. Then every name counts as correct.
        if not self._checked:
            return Tunnel(tunnel_namespace or namespace, name, status="Ready")
        if tunnel := self._by_key.get((tunnel_namespace or namespace, name)):
            return tunnel
        if tunnel_namespace:
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND,
                f"PangolinTunnel {name} does not exist in namespace {tunnel_namespace}: create it,"
                " or correct the name",
            )
        return self._only(name, self._elsewhere(name), namespace)

    def _elsewhere(self, name: str) -> list[Tunnel]:
        allowed = self._settings.tunnel_namespaces
        return [
            tunnel for tunnel in self._by_name[name] if not allowed or tunnel.namespace in allowed
        ]

    def _only(self, name: str, candidates: Sequence[Tunnel], namespace: str) -> Tunnel:
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
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND,
                f"tunnel {tunnel.name} is in namespace {tunnel.namespace}, but the installed CRD"
                f" allows only tunnels in namespace {namespace}: upgrade the Pangolin operator",
            )
        # Without a namespace, the CRD means the namespace of the object.
        named = self._namespaced and (elsewhere or self._settings.tunnel_namespace is not None)
        return TunnelRef(tunnel.name, tunnel.namespace if named else None)

    def _organization(self, tunnel: Tunnel) -> Organization | None:
        if tunnel.organization is None or self._organizations is None:
            return None
        organization = self._organizations.get(tunnel.organization)
        if organization is None:
            raise TunnelError(
                Reason.ORGANIZATION_NOT_FOUND,
                f"PangolinOrganization {'/'.join(tunnel.organization)} of tunnel"
                f" {tunnel.namespace}/{tunnel.name} does not exist: create it, or correct"
                " organizationRef",
            )
        return organization


def _waiting(tunnel: Tunnel) -> str:
    return "" if tunnel.status == "Ready" else tunnel.status or "none"
