"""Says which hosts `pic:hostPolicy` allows in a namespace."""

from fnmatch import fnmatchcase

from pic.core.notices import Reason
from pic.planning.notice_log import Problem
from pic.settings.parse import Settings


def refusal(host: str, namespace: str, settings: Settings) -> Problem | None:
    """Return why a namespace may not use a host; None if it may."""
    if settings.host_policy is None:
        return None
    patterns = settings.host_policy.get(namespace, ())
    # `*` also matches dots: *.example.com covers every depth below example.com, but not example.com
    # itself.
    if any(fnmatchcase(host, pattern) for pattern in patterns):
        return None
    message = (
        f"{host} is not allowed in namespace {namespace}: pic:hostPolicy allows"
        f" {', '.join(patterns) or 'no hosts'} there"
    )
    return Problem(Reason.HOST_NOT_ALLOWED, message, host)
