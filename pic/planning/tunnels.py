"""Which tunnel a host goes through, and whose verified domains that brings. No I/O."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pic.core import names
from pic.core.model import (
    Organization,
    Snapshot,
    Tunnel,
    TunnelRef,
)
from pic.core.notices import Reason
from pic.planning.notice_log import Problem, ProblemError
from pic.settings.parse import Settings


class TunnelError(ProblemError):
    """A tunnel that cannot be used now."""


@dataclass(frozen=True, slots=True)
class ResolvedTunnel:
    """A tunnel that was found.

    Attributes:
        organization: The tunnel's, where organisations are known and it names one.
        waiting: Its status, where that is not Ready; empty otherwise.
    """

    ref: TunnelRef
    organization: Organization | None = None
    waiting: str = ""


class Tunnels:
    """Finds tunnels by name; every answer is the same for the same namespace and name."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._settings = settings
        self._checked = snapshot.tunnels is not None
        self._namespaced = snapshot.schema.tunnel_namespace
        self._by_key = {(each.namespace, each.name): each for each in snapshot.tunnels or ()}
        self._by_name: dict[str, list[Tunnel]] = defaultdict(list)
        for tunnel in self._by_key.values():
            self._by_name[tunnel.name].append(tunnel)
        self._organizations = (
            None
            if snapshot.organizations is None
            else {(each.namespace, each.name): each for each in snapshot.organizations}
        )
        self._known: dict[tuple[str, str], ResolvedTunnel | Problem] = {}

    def find(self, written: str, namespace: str) -> ResolvedTunnel | Problem:
        """Find what an Ingress of that namespace calls its tunnel: `name` or `namespace/name`."""
        key = (namespace, written)
        if key not in self._known:
            try:
                self._known[key] = self._find(written, namespace)
            except TunnelError as error:
                self._known[key] = error.problem
        return self._known[key]

    def _find(self, written: str, namespace: str) -> ResolvedTunnel:
        place, slash, name = written.rpartition("/")
        if not names.is_object_name(name) or (slash and not names.is_label_name(place)):
            raise TunnelError(Reason.TUNNEL_NOT_FOUND, f"{written[:80]!r} names no tunnel")
        if place:
            self._permit(place, written)
        tunnel = self._locate(place or self._settings.tunnel_namespace, name, namespace)
        return ResolvedTunnel(
            self._ref(tunnel, namespace), self._organization(tunnel), _waiting(tunnel)
        )

    def _permit(self, place: str, written: str) -> None:
        allowed = {*self._settings.tunnel_namespaces, self._settings.tunnel_namespace}
        if place not in allowed:
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND,
                f"tunnel {written}: pic:tunnelNamespaces does not list {place}",
            )

    def _locate(self, place: str | None, name: str, namespace: str) -> Tunnel:
        if not self._checked:
            return Tunnel(place or namespace, name, status="Ready")
        if found := self._by_key.get((place or namespace, name)):
            return found
        if place:
            raise TunnelError(Reason.TUNNEL_NOT_FOUND, f"there is no tunnel {name} in {place}")
        return self._only(name, self._elsewhere(name), namespace)

    def _elsewhere(self, name: str) -> list[Tunnel]:
        allowed = self._settings.tunnel_namespaces
        return [each for each in self._by_name[name] if not allowed or each.namespace in allowed]

    def _only(self, name: str, candidates: Sequence[Tunnel], namespace: str) -> Tunnel:
        if len(candidates) == 1:
            return candidates[0]
        if not candidates:
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND, f"there is no tunnel {name} in {namespace} or elsewhere"
            )
        places = ", ".join(sorted(f"{each.namespace}/{each.name}" for each in candidates))
        raise TunnelError(
            Reason.TUNNEL_NOT_FOUND,
            f"tunnel {name} is ambiguous: {places}; set pic:tunnelNamespace, or name it with its"
            " namespace and list that in pic:tunnelNamespaces",
        )

    def _ref(self, tunnel: Tunnel, namespace: str) -> TunnelRef:
        abroad = tunnel.namespace != namespace
        if abroad and not self._namespaced:
            raise TunnelError(
                Reason.TUNNEL_NOT_FOUND,
                f"tunnel {tunnel.name} is in {tunnel.namespace}, and the installed CRD knows only"
                " tunnels of the object's own namespace",
            )
        named = self._namespaced and (abroad or self._settings.tunnel_namespace is not None)
        return TunnelRef(tunnel.name, tunnel.namespace if named else None)

    def _organization(self, tunnel: Tunnel) -> Organization | None:
        if tunnel.organization is None or self._organizations is None:
            return None
        found = self._organizations.get(tunnel.organization)
        if found is None:
            raise TunnelError(
                Reason.ORGANIZATION_NOT_FOUND,
                f"tunnel {tunnel.namespace}/{tunnel.name} belongs to organisation"
                f" {'/'.join(tunnel.organization)}, which does not exist",
            )
        return found


def _waiting(tunnel: Tunnel) -> str:
    return "" if tunnel.status == "Ready" else tunnel.status or "without a status"
