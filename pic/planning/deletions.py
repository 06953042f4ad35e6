"""Reports the sources and the objects that Kubernetes is deleting.

An object with a `deletionTimestamp` exists until the last of its finalizers is removed. Nothing can
stop its deletion. So nothing new is made for an Ingress that is going, and an object of ours that
is going does not count as live: its host gets a new object once the old one is gone.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pic.core import operators
from pic.core.ingress import Deletion, Ingress
from pic.core.model import KIND, LiveResource, Resource
from pic.core.notices import Notice, Reason, Ref
from pic.planning.notice_log import ref

# Finalizers usually take seconds. After this long, a user has to look at the object.
PATIENCE = timedelta(minutes=10)


def is_overdue(deletion: Deletion, now: str) -> bool:
    """Say whether a deletion takes so long that a user should look at it.

    Args:
        deletion: The deletion of an object.
        now: The time in RFC 3339 and UTC; empty if it is unknown, and then nothing is overdue.
    """
    if not deletion.since or not now:
        return False
    return datetime.fromisoformat(now) - datetime.fromisoformat(deletion.since) > PATIENCE


def description(deletion: Deletion) -> str:
    """Return since when Kubernetes is deleting an object and what it waits for, in brackets."""
    listed = ", ".join(operators.described(deletion.finalizers))
    plural = "" if len(deletion.finalizers) == 1 else "s"
    parts = [f"since {deletion.since}"] if deletion.since else []
    parts += [f"finalizer{plural} {listed}"] if listed else []
    return f" ({', '.join(parts)})" if parts else ""


def source_notice(ingress: Ingress, going: Deletion, host: str, effect: str, now: str) -> Notice:
    """Return the notice about a host whose Ingress is being deleted.

    Args:
        ingress: The Ingress.
        going: Its deletion, or that of its namespace.
        host: The host.
        effect: What that means for the host.
        now: The time; empty if it does not matter how long the deletion takes.
    """
    message = f"Kubernetes is deleting the Ingress{description(going)}: {effect}"
    urgent = is_overdue(going, now)
    return Notice(Reason.BEING_DELETED, ref(ingress), message, host, urgent=urgent)


def object_notices(
    going: Sequence[LiveResource], planned: Sequence[Resource], now: str
) -> list[Notice]:
    """Return the notices about objects of ours whose finalizers keep them from going."""
    wanted = {resource.host for resource in planned}
    notices = []
    for live in going:
        # Without a finalizer, Kubernetes is about to remove the object.
        if live.going and live.going.finalizers:
            next_step = (
                f"pic exposes {live.host} again" if live.host in wanted else "pic forgets it"
            )
            message = (
                f"Kubernetes is deleting it{description(live.going)}: {next_step} once it is gone"
            )
            about = Ref(KIND, live.namespace, live.name)
            urgent = is_overdue(live.going, now)
            notices.append(
                Notice(Reason.HELD_BY_FINALIZER, about, message, live.host or None, urgent=urgent)
            )
    return notices
