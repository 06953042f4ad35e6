"""Refuse what is too large, or aimed at the wrong cluster, before anything happens. No I/O."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pic.core.errors import RefusedError
from pic.core.model import LiveResource
from pic.planning.changes import Changes
from pic.planning.record_changes import RecordChanges
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
        *_limits(changes, settings),
        *_record_limit(changes.records, settings),
    ]
    if changes.digest in settings.acknowledge.split(","):
        return [refusal for refusal in found if not refusal.acknowledgeable]
    return found


def limit(known: int, settings: Settings) -> int:
    """Return how many may go in one run: an absolute number, or a share of the known ones.

    Each target has its own: the hosts of Pangolin, the DNS records of Pi-hole.
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


def _limits(changes: Changes, settings: Settings) -> Iterator[Refusal]:
    count = len(changes.removed) + len(changes.moved)
    allowed = limit(changes.known, settings)
    hosts = _hosts([live.host for live in changes.removed] + [m.live.host for m in changes.moved])
    if changes.known and not changes.wanted:
        yield Refusal(
            f"The plan is empty, and {changes.known} of {changes.known} hosts would be"
            f" removed: {hosts}."
        )
    elif count > allowed:
        what = "removed" if not changes.moved else "removed or moved to another namespace"
        yield Refusal(
            f"{count} of {changes.known} hosts would be {what}, but at most {allowed} may go in"
            f" one run ({_rule(settings)}): {hosts}."
        )
    weak = len({each.host for each in changes.weakened})
    most = weakening_limit(changes.known, settings)
    if weak > most:
        names = _hosts([f"{each.host} ({each.field})" for each in changes.weakened])
        yield Refusal(
            f"{weak} of {changes.known} hosts would lose login or block, but at most {most} may in"
            f" one run (pic:maxWeakened): {names}."
        )


def _record_limit(changes: RecordChanges, settings: Settings) -> Iterator[Refusal]:
    count, allowed = len(changes.removed), limit(changes.known, settings)
    names = _hosts([f"{live.host} ({live.ip})" for live in changes.removed])
    if changes.known and not changes.wanted:
        yield Refusal(
            f"The plan has no DNS records, and {changes.known} of {changes.known} DNS records"
            f" would be removed: {names}."
        )
    elif count > allowed:
        yield Refusal(
            f"{count} of {changes.known} DNS records would be removed, but at most {allowed} may go"
            f" in one run ({_rule(settings)}): {names}."
        )


def _rule(settings: Settings) -> str:
    return (
        f"pic:maxRemovals {settings.max_removals}, pic:maxRemovalRatio"
        f" {settings.max_removal_ratio:g}"
    )


def _hosts(found: list[str]) -> str:
    shown = ", ".join(found[:SHOWN])
    return f"{shown} and {len(found) - SHOWN} more" if len(found) > SHOWN else shown


def _names(found: tuple[LiveResource, ...]) -> str:
    keys = ["/".join(live.key) for live in found]
    return f"PangolinResource {_hosts(keys)}"


def _it(count: int) -> str:
    return "it" if count == 1 else "them"
