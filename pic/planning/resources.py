"""Plans the PangolinResources: one for each public host that a selected Ingress claims.

Each step is a module of this package. `selection` decides which Ingresses count. `claims` finds the
public hosts that they claim, and decides who gets a contested one. `merge` combines all claims on a
host into one resource.
"""

from collections.abc import Sequence

from pic.core import names
from pic.core.model import Resource, Snapshot
from pic.core.notices import Notice, Reason, Ref
from pic.planning import deletions, departures, live_notices, merge
from pic.planning.absences import Absences
from pic.planning.backends import Resolver
from pic.planning.claims import Claims, settle
from pic.planning.inventory import Inventory
from pic.planning.notice_log import NoticeLog
from pic.planning.request import PlanRequest
from pic.planning.selection import select
from pic.planning.sites import Sites
from pic.planning.tunnels import Tunnels
from pic.settings.parse import Settings


def plan(request: PlanRequest, notices: NoticeLog) -> tuple[Resource, ...]:
    """Return one resource for each public host, sorted by host.

    Without an answer of Pangolin itself there is none: its hosts stay as they are.
    """
    snapshot, settings = request.snapshot, request.settings
    if snapshot.silent:
        return ()
    inventory = Inventory(snapshot.live, request.memory)
    absences = Absences(snapshot.files)
    tunnels = Sites(snapshot) if settings.publishes else Tunnels(snapshot, settings, absences)
    claims = Claims(tunnels, inventory, settings, notices)
    selected = select(snapshot.ingresses, snapshot.classes, settings, notices, absences)
    claimed = [claim for ingress in selected for claim in claims.of(ingress)]
    # An Ingress with an error may still want its hosts, so its live hosts stay as they are.
    claimed += [claim for ingress in snapshot.unreadable for claim in claims.of_unreadable(ingress)]
    stack = names.label_value(request.stack)
    merger = merge.Merger(
        _resolver(snapshot, settings, absences),
        inventory,
        snapshot.schema,
        settings,
        stack,
        notices,
        snapshot.now,
        on_cluster=bool(snapshot.cluster_id),
    )
    contests = settle(claimed, inventory, request.memory, notices)
    resources = tuple(filter(None, map(merger.resource, contests)))
    for notice in (
        *(() if settings.publishes else _too_many(snapshot, resources, settings.operator_limit)),
        *live_notices.repaired_label_notices(inventory, resources),
        *live_notices.left_behind_notices(inventory, resources),
        *deletions.object_notices(inventory.going, resources, snapshot.now),
        *absences.notices(),
    ):
        notices.put(notice)
    departures.record(request, inventory, resources, notices.trail)
    return resources


def _too_many(snapshot: Snapshot, planned: Sequence[Resource], limit: int) -> Sequence[Notice]:
    """Report that the cluster has more objects than the operator can find in Pangolin."""
    # What pic gives up stays in Pangolin, so live objects count that the plan does not have.
    count = len({it.key for it in snapshot.live} | {it.key for it in planned})
    if not limit or count <= limit:
        return ()
    message = (
        f"there are {count} PangolinResources, but the operators that pic knows find only {limit}"
        " in Pangolin: the others may never be ready, and may not get a login or a block that is"
        " added later"
    )
    return (Notice(Reason.TOO_MANY_HOSTS, Ref("Setting", "", "operatorLimit"), message),)


def _resolver(snapshot: Snapshot, settings: Settings, absences: Absences) -> Resolver:
    if snapshot.services is None:
        return Resolver(None, settings, absences)
    services = {(service.namespace, service.name): service for service in snapshot.services}
    return Resolver(services, settings, absences)
