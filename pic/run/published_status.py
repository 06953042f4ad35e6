"""Reports what Pangolin itself says of our hosts, for `pic status` and `pic up --wait`."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from pic.cluster import status
from pic.cluster.readiness import ReadyState
from pic.cluster.status import StatusReport, StatusRow
from pic.core.model import LiveResource, Snapshot
from pic.core.published import PublicResource, Published
from pic.planning.inventory import Inventory
from pic.planning.memory import recall
from pic.run import planning
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.run.targets.pangolin_api import PangolinApi
from pic.snapshot.assemble import RawSnapshot

DISABLED, BLOCKED, PUBLISHED = "disabled", "blocked", "published"


def read_again(situation: Situation) -> StatusReport:
    """Read what Pangolin says now, and report on our hosts.

    Raises:
        TargetError: Pangolin does not answer.
    """
    return build_report(situation.config, _listed(situation))


def build_report(config: StackConfig, snapshot: Snapshot) -> StatusReport:
    """Return a report on our hosts in Pangolin; an empty one if it was not read."""
    published = snapshot.published or Published()
    rows = {row.id: row for row in published.resources}
    memory = recall(snapshot, config.ownership, config.settings)
    ours = (live for live in Inventory(snapshot.live, memory).ours if live.published)
    return status.sort_rows(_row(live, rows[live.published], published) for live in ours)


def still_published(situation: Situation, hosts: Collection[str]) -> tuple[str, ...]:
    """Look which of some hosts still have a resource in Pangolin, whoever made it.

    Raises:
        TargetError: Pangolin does not answer.
    """
    published = _listed(situation).published or Published()
    return tuple(sorted({row.host for row in published.resources} & set(hosts)))


def _listed(situation: Situation) -> Snapshot:
    config, snapshot = situation.config, situation.snapshot
    environment = situation.closer.environment or {}
    raw = PangolinApi().read(RawSnapshot(), config.settings, environment)
    if raw.silent:
        raise raw.silent.error
    registers = dict(snapshot.registers or {})
    if situation.plan.register:
        # The run that waits has just written it.
        registers[config.label] = situation.plan.register
    now = replace(snapshot, registers=registers, published=raw.published, silent=None)
    return planning.decided(config, now)


def _row(live: LiveResource, row: PublicResource, published: Published) -> StatusRow:
    problems = [*_problems(row), *_offline(row, published)]
    blocked = bool(live.spec.http.block_access)
    phase = DISABLED if not row.enabled else BLOCKED if blocked else PUBLISHED
    readiness = min((it[0] for it in problems), key=_severity, default=ReadyState.READY)
    message = "; ".join(problem[1] for problem in problems)
    url = f"https://{live.host}"
    return StatusRow(live.host, *live.key, readiness, phase, message, url=url)


def _severity(state: ReadyState) -> int:
    return list(ReadyState).index(state)


def _problems(row: PublicResource) -> Iterator[tuple[ReadyState, str]]:
    if not row.enabled:
        yield ReadyState.ERROR, "it is disabled in Pangolin: pic up enables it again"
    targets = [target for target in row.targets if target.enabled]
    if not targets:
        yield ReadyState.PENDING, "it has no target yet, so it is not public"
    unhealthy = sorted(f"{it.ip}:{it.port}" for it in targets if it.health == "unhealthy")
    if unhealthy:
        state = ReadyState.ERROR if len(unhealthy) == len(targets) else ReadyState.PENDING
        yield state, f"unhealthy by the check of Pangolin: {', '.join(dict.fromkeys(unhealthy))}"


def _offline(row: PublicResource, published: Published) -> Iterator[tuple[ReadyState, str]]:
    sites: Mapping[int, str] = {it.id: it.nice_id for it in published.sites if not it.online}
    for site in sorted({target.site for target in row.targets} & sites.keys()):
        yield ReadyState.ERROR, f"site {sites[site]} is offline"
