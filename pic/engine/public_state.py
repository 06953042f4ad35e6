"""Reads from the engine's state what a deployment declared in Pangolin itself. No I/O."""

from pic.core.model import HttpConfig, Resource, Spec, Target, TunnelRef
from pic.core.published import Published
from pic.core.register import HostEntry
from pic.engine.backend.state import StateResource
from pic.pangolin_api import inputs
from pic.pangolin_api.model import Wanted
from pic.planning import publishing, routes


def entry(host: str, resource: StateResource) -> HostEntry:
    """Return what the state remembers of a host."""
    wanted = inputs.decode(resource.inputs)
    return HostEntry(host, *resource.key, sso=wanted.sso, block_access=wanted.block)


def declared(host: str, resource: StateResource, published: Published) -> Resource:
    """Return the resource that the last deployment declared."""
    wanted = inputs.decode(resource.inputs)
    return Resource(host, *resource.key, (), {}, _spec(wanted, published), held=True)


def _spec(wanted: Wanted, published: Published) -> Spec:
    sites = {target.site_id for target in wanted.targets}
    targets = (
        Target(it.ip, it.port, it.method, it.path, it.match, it.priority) for it in wanted.targets
    )
    return Spec(
        enabled=wanted.enabled,
        name=wanted.host,
        tunnel=TunnelRef(publishing.site_name(published, sites.pop())) if sites else None,
        http=HttpConfig(sso=wanted.sso, block_access=wanted.block),
        targets=tuple(sorted(targets, key=routes.order)),
    )
