"""Implements the target `pangolin`: PangolinResources, which Pangolin's operator deploys."""

from collections.abc import Iterator, Mapping, Sequence

from pic.core.model import Plan, Snapshot
from pic.planning import resources
from pic.planning.notice_log import NoticeLog
from pic.planning.request import PlanRequest
from pic.run.targets.interface import Declarations, Target
from pic.run.targets.pangolin import declaration
from pic.settings.kinds import BY_NAME, RESOURCE, watched_namespaces
from pic.settings.parse import Settings, TargetName, Unpublish
from pic.settings.permissions import Permission

# Why pic needs each verb on PangolinResources, as docs/permissions.md lists it.
VERBS = {
    "get": "to update, delete and import objects",
    "watch": "to wait for the end of a delete",
    "create": "to create objects",
    "patch": "to update objects",
    "delete": "to delete objects",
}


class Pangolin(Target):
    """Exposes hosts through PangolinResources in the cluster."""

    name = TargetName.PANGOLIN
    token = declaration.TOKEN

    def plan(self, request: PlanRequest, notices: NoticeLog) -> Plan:
        """Return one resource for each public host."""
        return Plan(resources=resources.plan(request, notices))

    def hosts(self, plan: Plan) -> Mapping[str, bool]:
        """Return the public hosts of a plan, each with whether it is held."""
        return {resource.host: resource.held for resource in plan.resources}

    def problems(self, settings: Settings, environment: Mapping[str, str]) -> Sequence[str]:
        """Return the problem of a block that would come too late."""
        del environment
        if settings.unpublish is Unpublish.OFF or not settings.owner_references:
            return ()
        return (
            "pic:unpublish is block, but with pic:ownerReferences Kubernetes deletes our objects"
            " together with their Ingress, before pic can block them: set pic:ownerReferences to"
            " false, or pic:unpublish to off",
        )

    def permissions(self, settings: Settings) -> Iterator[Permission]:
        """Yield each verb on PangolinResources, in the namespaces of the Ingresses."""
        kind = BY_NAME[RESOURCE]
        for namespace in watched_namespaces(settings):
            for verb, reason in VERBS.items():
                yield Permission(kind.group, kind.plural, verb, reason, namespace)

    def declare(self, plan: Plan, snapshot: Snapshot, settings: Settings) -> Declarations:
        """Return the PangolinResources of a plan as declarations."""
        return declaration.declarations(plan, snapshot.cluster_id, settings)
