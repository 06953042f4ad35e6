"""Defines the answers of Pangolin that its client tells apart from other failures.

PangolinError
├── GoneError         the resource, target or rule does not exist
├── ConflictError     another resource has the host or the niceId
├── NoRouteError      this Pangolin does not have the route
└── UnfinishedError   a resource of ours is not yet as wanted
"""

from pic.core.errors import FailureClass, PangolinError


class GoneError(PangolinError):
    """What the request names does not exist, so a delete has nothing to do."""


class ConflictError(PangolinError):
    """Another resource has the host or the niceId."""


class NoRouteError(PangolinError):
    """The server does not have the route; it says nothing about the object."""


class UnfinishedError(PangolinError):
    """A create or an update has failed half-way. The resource is closed rather than open.

    Attributes:
        resource: Its id.
    """

    def __init__(self, resource: int, error: PangolinError) -> None:
        super().__init__(str(error), kind=error.kind, retry_after=error.retry_after)
        self.resource = resource


def is_passing(error: PangolinError) -> bool:
    """Say whether the same request may succeed soon."""
    return error.kind in (FailureClass.TEMPORARY, FailureClass.RATE_LIMITED)
