"""Lists the targets. Only this module names all of them.

To add one, write a package next to `pangolin` and `pihole` that implements
`pic.run.targets.interface.Target`, and add its instance to `TARGETS`.
"""

from collections.abc import Iterator

from pic.core.model import Plan, Snapshot
from pic.planning import plan as planning
from pic.planning.memory import recall
from pic.planning.ownership import Ownership
from pic.planning.request import PlanRequest
from pic.planning.trail import Trail
from pic.run.targets.interface import Look, Target
from pic.run.targets.pangolin import Pangolin
from pic.run.targets.pangolin_api import PangolinApi
from pic.run.targets.pihole import Pihole
from pic.settings.parse import Settings
from pic.settings.permissions import (
    Permission,
    event_permissions,
    read_permissions,
    register_permissions,
)

TARGETS: tuple[Target, ...] = (Pangolin(), PangolinApi(), Pihole())


def active(settings: Settings) -> tuple[Target, ...]:
    """Return the targets that `pic:targets` lists."""
    return tuple(target for target in TARGETS if target.name in settings.targets)


def build_plan(
    snapshot: Snapshot,
    settings: Settings,
    stack: str,
    ownership: Ownership,
    trail: Trail | None = None,
) -> Plan:
    """Return the plan of all active targets; the trail gets its decisions."""
    request = PlanRequest(snapshot, settings, stack, recall(snapshot, ownership, settings))
    return planning.build(request, active(settings), trail)


def look_closer(snapshot: Snapshot, plan: Plan, settings: Settings, look: Look) -> Snapshot:
    """Return the snapshot with what the active targets had left open; the same one for nothing."""
    for target in active(settings):
        snapshot = target.look_closer(snapshot, plan, settings, look)
    return snapshot


def permissions_for_up(settings: Settings) -> Iterator[Permission]:
    """Yield the permissions that `pic up` needs with these settings."""
    yield from read_permissions(settings)
    yield from write_permissions(settings)


def write_permissions(settings: Settings) -> Iterator[Permission]:
    """Yield the permissions that `up` and `destroy` need beyond reading."""
    for target in active(settings):
        yield from target.permissions(settings)
    yield from register_permissions(settings)
    yield from event_permissions(settings)


def target_of(token: str) -> str:
    """Return the name of the target that a type token of the engine belongs to.

    A provider resource belongs to the target whose resources it serves.
    """
    package = token.removeprefix("pulumi:providers:").partition(":")[0]
    for target in TARGETS:
        if target.token.partition(":")[0] == package:
            return str(target.name)
    return str(TARGETS[0].name)
