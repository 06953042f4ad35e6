"""Implements the target `pihole`: local DNS records in a Pi-hole."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pic.core.errors import PiholeError, TargetError
from pic.core.findings import Finding
from pic.core.model import RECORD_TYPE, Plan, Snapshot
from pic.core.unread import Unanswered
from pic.planning import departures, dns_records, lost_records
from pic.planning.notice_log import NoticeLog
from pic.planning.request import PlanRequest
from pic.run.targets.interface import Declarations, ReadTimeouts, Target
from pic.run.targets.pihole import declaration
from pic.settings.kinds import BY_NAME, INGRESS, watched_namespaces
from pic.settings.parse import Settings, TargetName
from pic.settings.permissions import Permission
from pic.snapshot.assemble import RawSnapshot

if TYPE_CHECKING:
    from pic.pihole.connect import SessionTimeouts
    from pic.run.doctor_context import DoctorContext

# Either variable may hold the password.
PASSWORDS = ("PIHOLE_PASSWORD", "PIHOLE_API_TOKEN")


class Pihole(Target):
    """Registers DNS records through Pi-hole's API."""

    name = TargetName.PIHOLE
    token = RECORD_TYPE

    def read(
        self,
        raw: RawSnapshot,
        settings: Settings,
        environment: Mapping[str, str],
        timeouts: ReadTimeouts | None = None,
    ) -> RawSnapshot:
        """Add the records of Pi-hole, or the reason why they could not be read."""
        if not settings.pihole_url:
            return raw
        # Only runs with this target need its client.
        from pic.pihole import connect  # noqa: PLC0415

        try:
            session = _session_timeouts(timeouts)
            reading = connect.read(settings, raw.cluster_id, environment, session)
        except PiholeError as error:
            return replace(raw, unanswered=Unanswered(settings.pihole_url, error))
        return replace(raw, records=reading.records, shadows=reading.shadows)

    def read_error(self, snapshot: Snapshot) -> TargetError | None:
        """Return why Pi-hole did not answer."""
        return snapshot.unanswered.error if snapshot.unanswered else None

    def probe(
        self, settings: Settings, environment: Mapping[str, str], cluster_id: str
    ) -> TargetError | None:
        """Read the records, and return why that failed."""
        raw = self.read(RawSnapshot(cluster_id=cluster_id), settings, environment)
        return raw.unanswered.error if raw.unanswered else None

    def plan(self, request: PlanRequest, notices: NoticeLog) -> Plan:
        """Return one record for each host and address family."""
        records = dns_records.plan(request.snapshot, request.settings, notices, request.memory)
        lost_records.report(request, records, notices)
        departures.record_of_records(request, records, notices.trail)
        return Plan(records=records)

    def hosts(self, plan: Plan) -> Mapping[str, bool]:
        """Return the DNS names of a plan, each with whether it is held."""
        return {record.host: record.held for record in plan.records}

    def problems(self, settings: Settings, environment: Mapping[str, str]) -> Sequence[str]:
        """Return which of URL, address and password are missing."""
        needed = (
            (settings.pihole_url, "pic:piholeUrl is not set: set it, or PIHOLE_URL"),
            (
                settings.pihole_target_ip,
                "pic:piholeTargetIp is not set: set it, or DEFAULT_TARGET_IP, to the IPv4 address"
                " for records whose Ingress names none",
            ),
            (
                any(environment.get(name) for name in PASSWORDS),
                f"the password of Pi-hole is not set: set {' or '.join(PASSWORDS)} in the"
                " environment; an app password needs webserver.api.app_sudo",
            ),
        )
        return [f"pic:targets has pihole, and {problem}" for value, problem in needed if not value]

    def conditions(self, settings: Settings) -> Mapping[str, str]:
        """Return the URL of Pi-hole and the API that pic uses."""
        return {"piholeUrl": settings.pihole_url, "piholeApi": str(settings.pihole_api)}

    def permissions(self, settings: Settings) -> Iterator[Permission]:
        """Yield `patch` on Ingresses: pic annotates them with the hosts that Pi-hole has."""
        if settings.pihole_annotate:
            kind = BY_NAME[INGRESS]
            for namespace in watched_namespaces(settings):
                reason = "to record which hosts Pi-hole has"
                yield Permission(kind.group, kind.plural, "patch", reason, namespace)

    def declare(self, plan: Plan, snapshot: Snapshot, settings: Settings) -> Declarations:
        """Return the records of a plan as declarations."""
        return declaration.declarations(plan, snapshot, settings)

    def examine(self, context: "DoctorContext", settings: Settings) -> Iterator[Finding]:
        """Check that the plugin starts, and that pic can log in to Pi-hole and write there."""
        # It imports the client of Pi-hole, which only `pic doctor` needs here.
        from pic.run.targets.pihole import doctor  # noqa: PLC0415

        yield from doctor.examine(context, settings)


def _session_timeouts(timeouts: ReadTimeouts | None) -> "SessionTimeouts | None":
    if timeouts is None:
        return None
    from pic.pihole.connect import SessionTimeouts  # noqa: PLC0415 - as in read
    from pic.pihole.http import HttpTimeouts  # noqa: PLC0415
    from pic.pihole.lock import LockTimeouts  # noqa: PLC0415

    # Sending a request may take as long as its answer.
    http = HttpTimeouts(timeouts.connect, timeouts.answer, timeouts.answer)
    return SessionTimeouts(LockTimeouts(timeouts.lock), http)
