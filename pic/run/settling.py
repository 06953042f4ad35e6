"""Waits a few seconds for objects that Kubernetes is deleting, and then plans again.

An object that is going keeps its host from a new one. A deletion usually takes less than a second,
so that the run that finds it can still make the new object.
"""

from collections.abc import Mapping

from pic.cluster import wait
from pic.cluster.wait import Clock
from pic.planning import deletions
from pic.run import situation as situations
from pic.run.situation import Situation

SECONDS = 10.0


def settle(situation: Situation, environment: Mapping[str, str], clock: Clock) -> Situation:
    """Return the situation once the objects that planned hosts wait for are gone.

    An object that has been going for long is not waited for: its finalizers are stuck.

    Args:
        situation: What the run has read and planned.
        environment: Holds the credentials of the targets.
        clock: Passes the time and takes the progress.

    Raises:
        ClusterError: The cluster could not be read completely.
    """
    now = situation.snapshot.now
    going = [
        waiting.live
        for waiting in situation.changes.waiting
        if waiting.live.going and not deletions.is_overdue(waiting.live.going, now)
    ]
    if not going:
        return situation
    noun = "object" if len(going) == 1 else "objects"
    clock.tell(f"waiting for {len(going)} {noun} that Kubernetes is deleting")
    wait.wait_until_gone(situation.transport, going, SECONDS, clock)
    return situations.read_and_plan(situation.config, situation.transport, environment)
