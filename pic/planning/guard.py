"""Refuses changes that are too large, or aimed at the wrong cluster, before anything happens."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pic.core.errors import RefusedError
from pic.core.model import LiveResource
from pic.planning.changes import Changes, Part
from pic.settings.parse import Settings

SHOWN = 10
BY_PULUMI = "PIC_ACKNOWLEDGE={} pulumi up"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason to refuse; `acknowledgeable` tells whether a digest lets it through."""

    message: str
    acknowledgeable: bool = True


def check(changes: Changes, settings: Settings, again: str = BY_PULUMI) -> None:
    """Agree to the changes, or refuse them.

    Args:
        changes: What would be done.
        settings: They have the limits.
        again: The command that lets the changes through, with `{}` for their digest.

    Raises:
        RefusedError: With every reason, its numbers, and what to do next.
    """
    if refusals := refusals_of(changes, settings):
        words = message(refusals, changes, settings, again)
        raise RefusedError(words, digest=_digest(refusals, changes))


def refusals_of(changes: Changes, settings: Settings) -> list[Refusal]:
    """Return why the changes are refused; an acknowledgement of exactly these lets them through."""
    found = [
        *_identity(changes.cluster_id, settings),
        *_strangers(changes),
        *(refusal for part in changes.parts for refusal in _removals(part, settings)),
        *_weakenings(changes, settings),
    ]
    if changes.digest in settings.acknowledge.split(","):
        return [refusal for refusal in found if not refusal.acknowledgeable]
    return found


def limit(known: int, settings: Settings) -> int:
    """Return how many may go in one run: an absolute number, or a share of the known ones.

    Hosts and DNS records are counted apart, each against this limit.
    """
    return max(settings.max_removals, _share(known, settings))


def weakening_limit(known: int, settings: Settings) -> int:
    """Return how many hosts may lose protection in one run, by the same formula."""
    floor = settings.max_removals if settings.max_weakened is None else settings.max_weakened
    return max(floor, _share(known, settings))


def _share(known: int, settings: Settings) -> int:
    # 0.29 x 100 is a little under 29 in binary, and must count as 29.
    return math.floor(settings.max_removal_ratio * known + 1e-9)


def message(
    refusals: list[Refusal], changes: Changes, settings: Settings, again: str = BY_PULUMI
) -> str:
    """Return the whole refusal, with the next step."""
    lines = [refusal.message for refusal in refusals]
    if all(refusal.acknowledgeable for refusal in refusals):
        if settings.acknowledge:
            lines.append(f"The acknowledgement {settings.acknowledge} is for other changes.")
        lines.append(
            "Nothing was changed. If this is intended, acknowledge exactly these changes:"
            f" {again.format(changes.digest)}"
        )
    else:
        lines.append("Nothing was changed.")
    return "\n".join(lines)


def _digest(refusals: list[Refusal], changes: Changes) -> str:
    return changes.digest if all(each.acknowledgeable for each in refusals) else ""


def check_cluster(cluster_id: str, settings: Settings) -> None:
    """Refuse another cluster than the stack's, where nothing else is to be compared.

    Raises:
        RefusedError: It is another one.
    """
    for refusal in _identity(cluster_id, settings):
        raise RefusedError(f"{refusal.message}\nNothing was changed.")


def _identity(cluster_id: str, settings: Settings) -> Iterator[Refusal]:
    if settings.cluster_id and settings.cluster_id != cluster_id:
        yield Refusal(
            f"This is cluster {cluster_id or '(unknown)'}, and the stack belongs to"
            f" {settings.cluster_id} (pic:clusterId). Check pic:context and KUBECONFIG; after a"
            " deliberate move to a new cluster, set pic:clusterId anew.",
            acknowledgeable=False,
        )


def _strangers(changes: Changes) -> Iterator[Refusal]:
    if changes.blocked:
        yield Refusal(
            f"{_names(changes.blocked)} would be overwritten, and pic did not make"
            f" {_it(len(changes.blocked))}. Delete or rename what is there.",
            acknowledgeable=False,
        )
    if changes.predecessors:
        yield Refusal(
            f"{_names(changes.predecessors)} of the Go controller already exposes wanted hosts."
            " Scale that controller to 0 and set pic:adopt: true to take its objects over.",
            acknowledgeable=False,
        )


def _removals(part: Part, settings: Settings) -> Iterator[Refusal]:
    count, allowed = len(part.removals), limit(part.known, settings)
    many, listed = part.noun.many, _listed(part.removals)
    if part.known and not part.wanted:
        yield Refusal(
            f"The plan has no {many}, and {part.known} of {part.known} {many} would be removed:"
            f" {listed}."
        )
    elif count > allowed:
        how = "removed or moved to another namespace" if part.moves else "removed"
        yield Refusal(
            f"{count} of {part.known} {many} would be {how}, but at most {allowed} may go in one"
            f" run ({_rule(settings)}): {listed}."
        )


def _weakenings(changes: Changes, settings: Settings) -> Iterator[Refusal]:
    weak = len({weakening.host for weakening in changes.weakened})
    most = weakening_limit(changes.known, settings)
    if weak > most:
        listed = _listed([f"{each.host} ({each.field})" for each in changes.weakened])
        yield Refusal(
            f"{weak} of {changes.known} hosts would lose login or block, but at most {most} may in"
            f" one run (pic:maxWeakened): {listed}."
        )


def _rule(settings: Settings) -> str:
    return (
        f"pic:maxRemovals {settings.max_removals}, pic:maxRemovalRatio"
        f" {settings.max_removal_ratio:g}"
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown


def _names(found: tuple[LiveResource, ...]) -> str:
    keys = ["/".join(live.key) for live in found]
    return f"PangolinResource {_listed(keys)}"


def _it(count: int) -> str:
    return "it" if count == 1 else "them"
