"""Refuses changes that are too large, or that would go to the wrong cluster, before a run starts.

The limits depend on how many hosts and DNS records are live. An acknowledgement, the digest of the
changes, lets exactly these changes exceed the limits. It never allows a run against another cluster
or over objects that pic did not create.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pic.core.errors import RefusedError
from pic.core.model import LiveResource
from pic.planning.changes import Changes, Part
from pic.settings.parse import Settings

MAX_LISTED = 10
BY_PULUMI = "PIC_ACKNOWLEDGE={} pulumi up"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason to refuse the changes.

    Attributes:
        acknowledgeable: Whether an acknowledgement lets the changes through in spite of it.
    """

    message: str
    acknowledgeable: bool = True


def check(changes: Changes, settings: Settings, command: str = BY_PULUMI) -> None:
    """Allow the changes or refuse them.

    Args:
        changes: What the run would do.
        settings: The settings, which contain the limits and the acknowledgement.
        command: The command that lets the changes through, with `{}` for their digest.

    Raises:
        RefusedError: The guard refuses. The message has every reason, its numbers and the next
            step.
    """
    if refusals := refusals_of(changes, settings):
        text = message(refusals, changes, settings, command)
        raise RefusedError(text, digest=_digest(refusals, changes))


def refusals_of(changes: Changes, settings: Settings) -> list[Refusal]:
    """Return every reason to refuse the changes that is not acknowledged."""
    hosts, *others = changes.parts
    refusals = [
        *_identity(changes.cluster_id, settings),
        *_foreign_objects(changes),
        # All that concerns exposure comes first.
        *_removals(hosts, settings),
        *_weakenings(changes, settings),
        *(refusal for part in others for refusal in _removals(part, settings)),
    ]
    if changes.digest in settings.acknowledge.split(","):
        return [refusal for refusal in refusals if not refusal.acknowledgeable]
    return refusals


def limit(live_count: int, settings: Settings) -> int:
    """Return how many things one run may remove: a fixed number or a share of the live ones.

    The larger of `pic:maxRemovals` and `pic:maxRemovalRatio` counts. With few hosts the share alone
    would round down to no removal at all. The guard counts hosts and DNS records separately, each
    against this limit.
    """
    return max(settings.max_removals, _share(live_count, settings))


def weakening_limit(live_count: int, settings: Settings) -> int:
    """Return how many hosts may lose protection in one run, by the same formula as `limit`."""
    floor = settings.max_removals if settings.max_weakened is None else settings.max_weakened
    return max(floor, _share(live_count, settings))


def _share(live_count: int, settings: Settings) -> int:
    # In binary 0.29 x 100 is slightly less than 29. It must count as 29.
    return math.floor(settings.max_removal_ratio * live_count + 1e-9)


def message(
    refusals: Sequence[Refusal], changes: Changes, settings: Settings, command: str = BY_PULUMI
) -> str:
    """Return the whole refusal, with the next step."""
    lines = [refusal.message for refusal in refusals]
    if all(refusal.acknowledgeable for refusal in refusals):
        if settings.acknowledge:
            lines.append(f"The acknowledgement {settings.acknowledge} is for other changes.")
        lines.append(
            "Nothing was changed. If this is intended, acknowledge exactly these changes:"
            f" {command.format(changes.digest)}"
        )
    else:
        lines.append("Nothing was changed.")
    return "\n".join(lines)


def _digest(refusals: Sequence[Refusal], changes: Changes) -> str:
    return changes.digest if all(refusal.acknowledgeable for refusal in refusals) else ""


def check_cluster(cluster_id: str, settings: Settings) -> None:
    """Refuse any cluster but the one of the stack, for verbs that check nothing else.

    Raises:
        RefusedError: The cluster is not the one of `pic:clusterId`.
    """
    for refusal in _identity(cluster_id, settings):
        raise RefusedError(f"{refusal.message}\nNothing was changed.")


def _identity(cluster_id: str, settings: Settings) -> Iterator[Refusal]:
    # On a wrong cluster, every object of the stack is missing. An engine that compares its state
    # with that cluster ends with an empty state, so no acknowledgement allows it
    # (docs/operating.md).
    if settings.cluster_id and settings.cluster_id != cluster_id:
        yield Refusal(
            f"This is cluster {cluster_id or '(unknown)'}, and the stack belongs to"
            f" {settings.cluster_id} (pic:clusterId). Check pic:context and KUBECONFIG. If you"
            " moved the stack to a new cluster, set pic:clusterId to its id.",
            acknowledgeable=False,
        )


def _foreign_objects(changes: Changes) -> Iterator[Refusal]:
    if changes.blocked:
        it = "it" if len(changes.blocked) == 1 else "them"
        yield Refusal(
            f"{_names(changes.blocked)} would be overwritten, but pic did not create {it}."
            f" Delete or rename {it}.",
            acknowledgeable=False,
        )
    if changes.predecessors:
        expose = "exposes" if len(changes.predecessors) == 1 else "expose"
        yield Refusal(
            f"{_names(changes.predecessors)} of the Go controller already {expose} hosts of the"
            " plan. Scale that controller to 0 replicas, then set pic:adopt: true to take over its"
            " objects.",
            acknowledgeable=False,
        )


def _removals(part: Part, settings: Settings) -> Iterator[Refusal]:
    count, allowed = len(part.removals), limit(part.live_count, settings)
    noun, listed = part.noun.many, _listed(part.removals)
    # A wrong class, namespace or cluster usually causes an empty plan, so no limit allows it.
    if part.live_count and not part.planned_count:
        yield Refusal(
            f"The plan has no {noun}, and {part.live_count} of {part.live_count} {noun} would be"
            f" removed: {listed}."
        )
    elif count > allowed:
        how = "removed or moved to another namespace" if part.moves else "removed"
        yield Refusal(
            f"{count} of {part.live_count} {noun} would be {how}, but one run may remove at most"
            f" {allowed} ({_rule(settings)}): {listed}."
        )


def _weakenings(changes: Changes, settings: Settings) -> Iterator[Refusal]:
    # A host that loses login and block counts once.
    count = len({weakening.host for weakening in changes.weakened})
    allowed = weakening_limit(changes.live_count, settings)
    if count > allowed:
        listed = _listed([f"{weak.host} ({weak.field})" for weak in changes.weakened])
        yield Refusal(
            f"{count} of {changes.live_count} hosts would lose protection (login or block), but one"
            f" run may weaken at most {allowed} (pic:maxWeakened): {listed}."
        )


def _rule(settings: Settings) -> str:
    return (
        f"pic:maxRemovals {settings.max_removals}, pic:maxRemovalRatio"
        f" {settings.max_removal_ratio:g}"
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_LISTED])
    return f"{shown} and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else shown


def _names(objects: Sequence[LiveResource]) -> str:
    kind = "PangolinResource" if len(objects) == 1 else "PangolinResources"
    return f"{kind} {_listed(['/'.join(live.key) for live in objects])}"
