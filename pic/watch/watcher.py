"""Builds a watcher from the settings and its connections, and runs it."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pic.cluster import listing
from pic.cluster.listing import ApiTransport, Timeouts
from pic.core import logs
from pic.core.logs import Log
from pic.run.stack_config import StackConfig
from pic.watch import follower, memory
from pic.watch.evaluation import Evaluator
from pic.watch.loop import Loop, StopReason
from pic.watch.runs import RunLimits, Runs
from pic.watch.schedule import Intervals
from pic.watch.store import Store
from pic.watch.wakeup import Wakeup

if TYPE_CHECKING:
    from pic.watch.health import Health
    from pic.watch.leader import Leader

# A request must end within the grace period of a pod. The followers and the loop retry by
# themselves, so a request does not.
TIMEOUTS = Timeouts(read=15.0, retries=0)


@dataclass(frozen=True, slots=True)
class WatchConfig:
    """The settings of a watcher.

    Attributes:
        config: The settings of the stack.
        arguments: The arguments of `pic` for a run, without `--report`.
        environment: The environment of this process and of its runs.
        limits: How long a run may take.
        intervals: When to evaluate and when to start a run.
    """

    config: StackConfig
    arguments: Sequence[str]
    environment: Mapping[str, str]
    limits: RunLimits
    intervals: Intervals

    def command(self, report: Path) -> Sequence[str]:
        """Return the command of a run."""
        return (sys.executable, "-m", "pic", *self.arguments, "--report", str(report))


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The connections of a watcher to the cluster and to the process around it.

    Attributes:
        leader: None if this is the only watcher.
        settings_changed: Says whether the settings differ from those at the start, and are valid.
    """

    transport: ApiTransport
    health: "Health"
    leader: "Leader | None"
    settings_changed: Callable[[], bool]


def watch(
    watch_config: WatchConfig, dependencies: Dependencies, wakeup: Wakeup, log: Log = logs.log
) -> StopReason:
    """Watch until a stop is requested, or the settings have changed."""
    config, environment = watch_config.config, watch_config.environment
    listings = listing.listings(config.settings)
    transport = dependencies.transport
    with ExitStack() as stack:
        # The stack unwinds backwards: the followers end before their connections do.
        stack.callback(transport.pool.clear)
        store = Store(listings, time.monotonic, wakeup.wake)
        loop = Loop(
            store=store,
            evaluator=Evaluator(config, transport, store, environment),
            runs=Runs(watch_config.command, environment, log, wakeup.wake, watch_config.limits),
            leader=dependencies.leader,
            health=dependencies.health,
            wakeup=wakeup,
            log=log,
            clock=time.monotonic,
            intervals=watch_config.intervals,
            settings_changed=dependencies.settings_changed,
        )
        stack.enter_context(follower.following(listings, transport, store, log))
        # By now all modules are loaded and all long-lived objects exist.
        memory.freeze()
        return loop.run()
