"""Says which annotations of other controllers are missed on an Ingress."""

from collections.abc import Sequence

from pic.core.notices import Reason
from pic.planning.foreign.reading import Found
from pic.planning.foreign.words import Effect
from pic.planning.notice_log import Problem

MOST_KEYS = 10
_SSO = "pangolin.ingress.k8s.io/sso"


def protecting(others: Sequence[Found]) -> tuple[str, ...]:
    """Return the annotations that limit who may open the hosts of an Ingress."""
    return tuple(found.key for found in others if found.effect is Effect.PROTECTS)


def unprotected(host: str, keys: Sequence[str], *, hold: bool) -> Problem:
    """Return the warning about a host that only another controller protects.

    Args:
        host: The public host.
        keys: The annotations that protect it there.
        hold: The host is not exposed for this reason.
    """
    effect = "so the host is not exposed" if hold else "so the host is public"
    verb = "has" if len(keys) == 1 else "have"
    message = (
        f"{_listed(keys)} {verb} no effect here, {effect}: set {_SSO} to true to require a login,"
        " or to false if it should be public"
    )
    return Problem(Reason.FOREIGN_PROTECTION, message, host)


def without_effect(others: Sequence[Found], reported: Sequence[str]) -> Problem | None:
    """Return the remark about all annotations of an Ingress that are lost; None without any.

    Args:
        others: The annotations of other controllers.
        reported: Those that get a warning.
    """
    lost = [it for it in others if it.effect is not Effect.NONE and it.key not in reported]
    if not lost:
        return None
    parts = [f"{found.key} ({_here(found)})" for found in lost[:MOST_KEYS]]
    rest = f"; and {len(lost) - MOST_KEYS} more" if len(lost) > MOST_KEYS else ""
    return Problem(Reason.FOREIGN_ANNOTATION, f"no effect here: {'; '.join(parts)}{rest}")


def _here(found: Found) -> str:
    # What protects is reported here only where an annotation of ours decides, or the settings do.
    protects = found.effect is Effect.PROTECTS
    return "it protects nothing" if protects else found.word.here_in_text


def _listed(keys: Sequence[str]) -> str:
    rest = f" and {len(keys) - MOST_KEYS} more" if len(keys) > MOST_KEYS else ""
    return f"{', '.join(keys[:MOST_KEYS])}{rest}"
