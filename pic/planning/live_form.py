"""Declares a live object as it is, for a host that pic holds."""

from dataclasses import replace

from pic.core.model import LiveResource, Resource, Spec, Target
from pic.planning.tunnels import declared_tunnel


def live_form(live: LiveResource) -> Resource:
    """Return the resource that declares a live object exactly as it is."""
    return Resource(
        host=live.host,
        namespace=live.namespace,
        name=live.name,
        owners=live.owners,
        labels=live.labels,
        spec=held_spec(live),
        held=True,
        adopts=True,
    )


def held_spec(live: LiveResource) -> Spec:
    """Return what a held object declares: the live fields that pic owns.

    Defaults of the CRD are left out, and so is what other field managers wrote. To declare those
    would make pic their owner.
    """
    spec, owned = live.spec, live.owned
    spec = replace(spec, targets=tuple(map(_without_default, spec.targets)))
    # None if the API server recorded no owners, empty for an object that pic takes over. In both
    # cases pic declares all fields.
    if not owned:
        return spec
    http = spec.http
    return Spec(
        enabled=spec.enabled if "enabled" in owned else None,
        name=spec.name if "name" in owned else None,
        protocol=spec.protocol if "protocol" in owned else None,
        tunnel=declared_tunnel(live),
        http=replace(
            http,
            domain_name=http.domain_name if "httpConfig.domainName" in owned else None,
            subdomain=http.subdomain if "httpConfig.subdomain" in owned else None,
            domain_id=http.domain_id if "httpConfig.domainId" in owned else None,
        ),
        targets=spec.targets if owned & {"targets", "target"} else (),
        single=spec.single,
    )


def _without_default(target: Target) -> Target:
    # The CRD sets a default priority on every target, also on the one of the whole host.
    return target if target.path is not None else replace(target, priority=None, match=None)
