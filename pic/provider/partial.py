"""Tells the engine of a resource that exists, but is not yet as asked."""

from dataclasses import dataclass

from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime.proto import provider_pb2, status_pb2

from pic.core.errors import PicError, with_class
from pic.provider.values import Values

# The key under which gRPC sends details of an error.
_DETAILS = "grpc-status-details-bin"
_UNKNOWN = 2  # the code of gRPC, the same as that of the error itself


@dataclass(frozen=True, slots=True)
class Partial:
    """What a create or an update has left.

    Attributes:
        id: The id of the resource. The engine stores it, and the next run updates the resource.
        outputs: What is known of it.
    """

    id: str
    outputs: Values


class PartialError(PicError):
    """A create or an update has failed half-way.

    After it, the engine updates the resource in the next run, whatever that declares.
    """

    def __init__(self, left: Partial, reason: PicError) -> None:
        super().__init__(str(reason))
        self.left = left
        self.reason = reason


def metadata(error: PartialError) -> tuple[tuple[str, bytes], ...]:
    """Return what the engine reads the id from, as `ErrorResourceInitFailed` in its protocol."""
    text = with_class(error.reason)
    status = status_pb2.Status(code=_UNKNOWN, message=text)
    status.details.add().Pack(
        provider_pb2.ErrorResourceInitFailed(
            id=error.left.id,
            properties=PropertyValue.marshal_map(error.left.outputs),
            reasons=[text],
        )
    )
    return ((_DETAILS, status.SerializeToString()),)
