"""Declares planned hosts as resources of pic's own provider for Pangolin."""

from collections.abc import Mapping
from dataclasses import dataclass

from pic.core import names
from pic.core.errors import FailureClass, PangolinError
from pic.core.model import PUBLIC_TYPE, LiveResource, Plan, Resource, Snapshot
from pic.core.published import Published
from pic.pangolin_api import inputs, naming
from pic.pangolin_api.model import Target, Wanted
from pic.planning import publishing
from pic.run.targets.interface import Declaration, Declarations, HookSet, Provider
from pic.settings.parse import Settings
from pic.settings.stack_file import PROJECT

DELETE_TIMEOUT = "5m"
# The provider has four requests in flight. More registrations only wait there.
AT_ONCE = 32
# The object that the register knows a host by, so that the state can say whose it is.
OBJECT = "object"


def declarations(plan: Plan, snapshot: Snapshot, settings: Settings) -> Declarations:
    """Return the declarations of all hosts of a plan. The engine imports those that are live."""
    rows = _Rows.of(snapshot.published or Published())
    live = {it.key: it for it in snapshot.live if it.published}
    return Declarations(
        PUBLIC_TYPE,
        "",  # Pulumi.yaml names the plugin, so no version is needed.
        provider(settings),
        HookSet.PUBLIC,
        DELETE_TIMEOUT,
        [_declaration(it, rows, live.get(it.key)) for it in plan.resources],
        AT_ONCE,
    )


def provider(settings: Settings) -> Provider:
    """Return the only provider, which is bound to this organisation.

    It reads the key from its environment, so no key enters the state.
    """
    configuration = {
        "url": settings.pangolin_url,
        "org": settings.pangolin_org,
        "ca": settings.pangolin_ca,
    }
    given = {key: value for key, value in configuration.items() if value}
    return Provider("pangolin", "pangolin", given)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What an organisation has, and the niceIds of its resources in both directions."""

    published: Published
    ids: Mapping[str, int]
    nice_ids: Mapping[int, str]

    @classmethod
    def of(cls, published: Published) -> "_Rows":
        ids = {row.nice_id: row.id for row in published.resources}
        return cls(published, ids, {number: nice for nice, number in ids.items()})


def _declaration(resource: Resource, rows: _Rows, live: LiveResource | None) -> Declaration:
    if resource.held and live and live.shallow:
        # Its paths are unknown, so declaring it could open more than is open now.
        raise PangolinError(
            f"host {resource.host} has to stay as it is, but pic has not read all of it: run pic"
            " again",
            kind=FailureClass.TEMPORARY,
        )
    wanted = _wanted(resource, rows, live)
    properties = {**inputs.encode(wanted), OBJECT: "/".join(resource.key)}
    import_id = str(live.published) if live and resource.adopts else ""
    return Declaration(resource.host, properties, import_id)


def _wanted(resource: Resource, rows: _Rows, live: LiveResource | None) -> Wanted:
    """Return what should be in Pangolin for a host.

    Raises:
        PangolinError: The base domain or the site does not exist any more.
    """
    http, spec, published = resource.spec.http, resource.spec, rows.published
    base = http.domain_name or ""
    host = f"{http.subdomain}.{base}" if http.subdomain else base
    domain = http.domain_id or getattr(published.domain_named(base), "id", "")
    site = publishing.site_id(published, spec.tunnel.name) if spec.tunnel else None
    if not domain or site is None:
        missing = "site" if domain else "base domain"
        raise PangolinError(
            f"host {host}: its {missing} is not in the organisation any more: run pic again",
            kind=FailureClass.INVALID,
        )
    return Wanted(
        host=host,
        nice_id=_nice_id(resource, host, rows, live),
        domain_id=domain,
        subdomain=http.subdomain,
        targets=tuple(
            Target(
                site,
                target.ip,
                target.port,
                target.method or "http",
                path=target.path,
                match=target.match,
                priority=target.priority,
            )
            for target in spec.targets
        ),
        sso=bool(http.sso),
        block=bool(http.block_access),
        enabled=spec.enabled is not False,
    )


def marker(label: str, stack_id: str) -> str:
    """Return what the niceIds of a stack begin with.

    Args:
        label: The value of its stack label.
        stack_id: Its `pic:stackId`.
    """
    return naming.prefix(label.removeprefix(f"{PROJECT}."), stack_id)


def _nice_id(resource: Resource, host: str, rows: _Rows, live: LiveResource | None) -> str:
    stack = resource.labels.get(names.STACK_LABEL, "").removeprefix(f"{PROJECT}.")
    nice = naming.nice_id(stack, resource.labels.get(names.STACK_ID_LABEL, ""), host)
    own = live.published if live else 0
    # A second resource of the host, which only waits for its deletion, keeps its own.
    return rows.nice_ids[own] if own and rows.ids.get(nice, own) != own else nice
