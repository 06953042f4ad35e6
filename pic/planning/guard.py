"""Refuses a whole run where nothing can be judged host by host.

That is so on another cluster, with the register of another stack, and where no host would survive.
What is dangerous for one host alone is held instead (`pic.planning.holds`). An acknowledgement, the
digest of the changes, lets exactly these changes through. It never allows another cluster.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pic.core.errors import RefusedError
from pic.core.model import LiveResource
from pic.planning.changes import Changes
from pic.planning.limits import Limits
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
    refusals = [*_identity(changes.cluster_id, settings), *_stack(changes), *_losses(changes)]
    return _unacknowledged(refusals, changes, settings)


def check_unplanned(
    changes: Changes, removed: Sequence[LiveResource], settings: Settings, command: str
) -> None:
    """Refuse what the engine would remove beyond the plan, if it is too much for one run.

    Args:
        changes: What the plan would do, and in `removed` also what the engine would.
        removed: What the engine would remove beyond the plan.
        settings: The settings, which contain the limits and the acknowledgement.
        command: As for `check`.

    Raises:
        RefusedError: The guard refuses.
    """
    allowed = Limits(settings).removals(changes.live_count)
    if len(removed) <= allowed:
        return
    text = (
        f"{len(removed)} of {changes.live_count} hosts would be removed, but one run may remove at"
        f" most {allowed} (pic:maxRemovals {settings.max_removals}, pic:maxRemovalRatio"
        f" {settings.max_removal_ratio:g}): {_listed([live.host for live in removed])}."
    )
    if refusals := _unacknowledged([Refusal(text)], changes, settings):
        raise RefusedError(
            message(refusals, changes, settings, command), digest=_digest(refusals, changes)
        )


def _unacknowledged(refusals: list[Refusal], changes: Changes, settings: Settings) -> list[Refusal]:
    if changes.digest in settings.acknowledge.split(","):
        return [refusal for refusal in refusals if not refusal.acknowledgeable]
    return refusals


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


def _stack(changes: Changes) -> Iterator[Refusal]:
    if changes.other_stack_id:
        yield Refusal(
            f"The register of this stack was written by a stack with the same name and the id"
            f" {changes.other_stack_id}. If that is this stack, set pic:stackId to this id. If it"
            " is another one, rename this stack or set another pic:registerNamespace.",
            acknowledgeable=False,
        )


def _losses(changes: Changes) -> Iterator[Refusal]:
    # A wrong class, namespace or cluster usually causes such a plan, so no limit allows it.
    hosts, records = changes.parts
    for lost, part in (
        (changes.no_host_survives, hosts),
        (changes.no_record_survives, records),
    ):
        if lost:
            noun = part.noun
            count = part.live_count
            subject = f"The only live {noun.one}" if count == 1 else f"All {count} live {noun.many}"
            yield Refusal(f"{subject} would be removed: {_listed(part.removals)}.")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_LISTED])
    return f"{shown} and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else shown
