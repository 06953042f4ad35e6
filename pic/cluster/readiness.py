"""Judges from the status of a PangolinResource whether Pangolin serves what its spec says. No I/O.

An operator may write `Ready` before it has done everything. One that could not create a target only
logs that. One may also publish a host on another domain. So pic compares what the status reports
with the spec, as far as the status reports it.
"""

from enum import StrEnum
from urllib.parse import urlsplit

from pic.core.json_values import Raw, integer, mapping, sequence, text
from pic.core.model import LiveResource
from pic.planning import deletions


class ReadyState(StrEnum):
    """How far the operator has come with an object, in the order of a report: the worst first."""

    ERROR = "error"
    PENDING = "pending"
    READY = "ready"


def judge(live: LiveResource, status: Raw) -> tuple[ReadyState, str]:
    """Return what pic concludes from the status of an object, and the message for it.

    Args:
        live: The object.
        status: Its `status`.

    Raises:
        MalformedError: The status has another shape.
    """
    condition = _ready_condition(status)
    reason = text(condition.get("message"))
    # An object exists until its finalizers are removed, and its status may say Ready until then.
    if live.going:
        message = f"Kubernetes is deleting the object{deletions.description(live.going)}"
        return ReadyState.PENDING, message
    stale = _is_stale(live, status, condition)
    match live.status:
        case "":
            return ReadyState.PENDING, reason or "the operator has not written a status yet"
        case "Error":
            # An error counts even for an earlier generation: some operators do not update
            # `observedGeneration` when they fail.
            reason = reason or "the operator gives no reason"
            return ReadyState.ERROR, f"{reason} (before the last change)" if stale else reason
        case "Ready" if stale:
            return ReadyState.PENDING, "the operator has not processed the last change yet"
        case "Ready":
            problem = _contradiction(live, status)
            return (ReadyState.ERROR, problem) if problem else (ReadyState.READY, reason)
        case _:
            return ReadyState.PENDING, reason


def _ready_condition(status: Raw) -> Raw:
    """Return the condition `Ready`, which is the only one of the operator; empty if absent."""
    conditions = sequence(status.get("conditions"), "status.conditions")
    parsed = [mapping(condition, "status.conditions[]") for condition in conditions]
    return next((condition for condition in parsed if condition.get("type") == "Ready"), {})


def _is_stale(live: LiveResource, status: Raw, condition: Raw) -> bool:
    """Say whether the status is about an earlier generation; without one it counts as current.

    The API server raises `metadata.generation` with each change of the spec. An operator writes the
    generation that it has processed as `observedGeneration`.
    """
    observed = integer(status.get("observedGeneration", condition.get("observedGeneration")))
    return observed is not None and observed < live.generation


def _contradiction(live: LiveResource, status: Raw) -> str:
    """Return where a status of `Ready` contradicts the spec; an empty text for nowhere."""
    # Some operators lose these fields again, and an absent one says nothing.
    published = _published_host(status)
    if published and live.host and published != live.host:
        return f"the operator says Ready, but Pangolin serves {published}, not {live.host}"
    count = integer(status.get("targetCount"))
    return "" if count is None else _miscounted(live, count)


def _published_host(status: Raw) -> str:
    """Return the host that the operator reports; empty if it reports none."""
    try:
        from_url = urlsplit(text(status.get("url"))).hostname
    except ValueError:
        from_url = None
    return from_url or text(status.get("fullDomain")).lower()


def _miscounted(live: LiveResource, count: int) -> str:
    targets = live.spec.targets
    # An operator that ignores paths makes one target of all paths that lead to the same backend.
    fewest = len({(target.ip, target.port, target.method) for target in targets})
    if count < fewest:
        missing = f"Pangolin has {count} of {fewest} targets"
        return f"the operator says Ready, but {missing}: see the log of the operator"
    if count > len(targets):
        surplus = f"Pangolin has {count} targets, not {len(targets)}"
        return (
            f"the operator says Ready, but {surplus}: earlier backends still get requests until"
            " they are removed in the dashboard of Pangolin"
        )
    return ""
