"""A watcher put together of its parts, from the settings and the cluster."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pic.cluster import listing
from pic.cluster.listing import ApiTransport, Timeouts
from pic.core import logs
from pic.run.stack_config import StackConfig
from pic.watch import follower, memory
from pic.watch.evaluation import Evaluator
from pic.watch.loop import Loop, StopReason
from pic.watch.protocols import Health, Leader, Log
from pic.watch.runs import RunLimits, Runs
from pic.watch.schedule import Intervals
from pic.watch.store import Store
from pic.watch.wakeup import Wakeup

# No answer is worth more than the end of a pod's grace; each asker has waits of its own.
TIMEOUTS = Timeouts(read=15.0, retries=0)


@dataclass(frozen=True, slots=True)
class WatchConfig:
    """What a watcher is to do.

    Attributes:
        asked: The stack's settings.
        arguments: Those of `pic` for a run, without `--report`.
        environment: That of this process, and of its runs.
        limits: How long a run may take.
        pace: When to look and to run.
    """

    config: StackConfig
    arguments: Sequence[str]
    environment: Mapping[str, str]
    limits: RunLimits
    pace: Intervals

    def command(self, report: Path) -> Sequence[str]:
        """Return the command of a run."""
        return (sys.executable, "-m", "pic", *self.arguments, "--report", str(report))


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What a watcher works with.

    Attributes:
        leader: None where this is the only watcher.
        renewed: Says whether the settings are others than at the start, and can be right.
    """

    transport: ApiTransport
    health: Health
    leader: Leader | None
    renewed: Callable[[], bool]


def connect(work: WatchConfig) -> ApiTransport:
    """Connect to the cluster, without the memory that the Kubernetes client takes.

    Raises:
        ClusterError: There is no usable configuration.
    """
    return listing.connect(work.config.settings, work.environment, TIMEOUTS, in_subprocess=True)


def watch(
    work: WatchConfig, others: Dependencies, bell: Wakeup, tell: Log = logs.log
) -> StopReason:
    """Watch until the end is asked for, or the settings have changed."""
    reads = listing.listings(work.config.settings)
    with ExitStack() as stack:
        stack.callback(others.transport.pool.clear)
        cache = Store(reads, time.monotonic, bell.ring)
        loop = Loop(
            cache=cache,
            looker=Evaluator(work.config, others.transport, cache, work.environment),
            runs=Runs(work.command, work.environment, tell, bell.ring, work.limits),
            leader=others.leader,
            health=others.health,
            bell=bell,
            tell=tell,
            clock=time.monotonic,
            pace=work.pace,
            renewed=others.renewed,
        )
        stack.enter_context(follower.following(reads, others.transport, cache, tell))
        memory.freeze()
        return loop.run()
