"""Implements the target `pangolin-api`: resources in Pangolin itself, over its Integration API."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pic.core.errors import PangolinError, TargetError
from pic.core.findings import Finding
from pic.core.model import PUBLIC_TYPE, Plan, Snapshot
from pic.core.unread import Silent
from pic.planning import publishing, resources
from pic.planning.notice_log import NoticeLog
from pic.planning.request import PlanRequest
from pic.run.targets.interface import Declarations, Look, ReadTimeouts, Target
from pic.run.targets.pangolin_api import declaration
from pic.settings.kinds import BY_NAME, RESOURCE, register_namespace
from pic.settings.parse import Settings, TargetName
from pic.settings.permissions import Permission
from pic.snapshot.assemble import RawSnapshot

if TYPE_CHECKING:
    from pic.run.doctor_context import DoctorContext


class PangolinApi(Target):
    """Publishes hosts in Pangolin itself."""

    name = TargetName.PANGOLIN_API
    token = PUBLIC_TYPE

    def read(
        self,
        raw: RawSnapshot,
        settings: Settings,
        environment: Mapping[str, str],
        timeouts: ReadTimeouts | None = None,
    ) -> RawSnapshot:
        """Add what the organisation has, or the reason why it could not be read."""
        if not settings.pangolin_url:
            return raw
        # Only runs with this target need its client.
        from pic.run.targets.pangolin_api import reading  # noqa: PLC0415

        try:
            return replace(raw, published=reading.read(settings, environment, timeouts))
        except PangolinError as error:
            return replace(raw, silent=Silent(settings.pangolin_url, error))

    def look_closer(
        self, snapshot: Snapshot, plan: Plan, settings: Settings, look: Look
    ) -> Snapshot:
        """Read single resources where the list leaves open whether they are as planned."""
        if snapshot.published is None:
            return snapshot
        ids = publishing.unclear(snapshot, plan.resources, look.memory, everything=look.everything)
        if not ids:
            return snapshot
        from pic.run.targets.pangolin_api import reading  # noqa: PLC0415 - as in read

        try:
            detailed = reading.detailed(snapshot.published, ids, settings, look)
        except PangolinError as error:
            silent = Silent(settings.pangolin_url, error)
            return replace(snapshot, published=None, silent=silent)
        return replace(snapshot, published=detailed)

    def read_error(self, snapshot: Snapshot) -> TargetError | None:
        """Return why Pangolin did not answer."""
        return snapshot.silent.error if snapshot.silent else None

    def probe(
        self, settings: Settings, environment: Mapping[str, str], cluster_id: str
    ) -> TargetError | None:
        """Read what Pangolin has, and return why that failed."""
        raw = self.read(RawSnapshot(cluster_id=cluster_id), settings, environment)
        return raw.silent.error if raw.silent else None

    def plan(self, request: PlanRequest, notices: NoticeLog) -> Plan:
        """Return one resource for each public host."""
        return Plan(resources=resources.plan(request, notices))

    def hosts(self, plan: Plan) -> Mapping[str, bool]:
        """Return the public hosts of a plan, each with whether it is held."""
        return {resource.host: resource.held for resource in plan.resources}

    def problems(self, settings: Settings, environment: Mapping[str, str]) -> Sequence[str]:
        """Return which of URL, organisation, key and register are missing."""
        needed = (
            (
                settings.pangolin_url,
                "pic:pangolinUrl is not set: set it to the URL of the Integration API, such as"
                " https://api.example.com",
            ),
            (
                settings.pangolin_org,
                "pic:pangolinOrg is not set: set it to the id of the organisation, which the"
                " dashboard shows in its URL",
            ),
            (settings.stack_id, "pic:stackId is not set: run pic init"),
            (
                register_namespace(settings),
                "pic:registerNamespace is not set, so pic could not remember whose a host is: set"
                " it to a namespace in which only the platform team may write",
            ),
        )
        missing = [problem for value, problem in needed if not value]
        missing += filter(None, [_key_problem(environment)])
        return [f"pic:targets has pangolin-api, and {problem}" for problem in missing]

    def conditions(self, settings: Settings) -> Mapping[str, str]:
        """Return the URL of the API and the organisation."""
        return {"pangolinUrl": settings.pangolin_url, "pangolinOrg": settings.pangolin_org}

    def permissions(self, settings: Settings) -> Iterator[Permission]:
        """Yield what shows the hosts of an operator, where the cluster has one."""
        del settings
        kind = BY_NAME[RESOURCE]
        reason = "optional, to see which hosts an operator exposes"
        yield Permission(kind.group, kind.plural, "list", reason, optional=True)

    def declare(self, plan: Plan, snapshot: Snapshot, settings: Settings) -> Declarations:
        """Return the resources of a plan as declarations."""
        return declaration.declarations(plan, snapshot, settings)

    def examine(self, context: "DoctorContext", settings: Settings) -> Iterator[Finding]:
        """Check the plugin, the URL, the key and its actions, sites and base domains."""
        from pic.run.targets.pangolin_api import doctor  # noqa: PLC0415 - as in read

        yield from doctor.examine(context, settings)


def _key_problem(environment: Mapping[str, str]) -> str:
    from pic.pangolin_api.connection import api_key  # noqa: PLC0415 - as in read

    try:
        api_key(environment)
    except PangolinError as error:
        return str(error)
    return ""
