"""Names our resources, and recognises them. No I/O.

The niceId is the marker: one list returns it for all resources. A create cannot set it, so a create
that was killed before its update leaves a resource without the marker.
"""

import hashlib
import re

from pic.pangolin_api.model import ListedResource

_MARK = "pic-"
_LONGEST_STACK = 60
_HASH_LENGTH = 12  # hexadecimal digits; with 8, two of 10,000 hosts would often collide


def prefix(stack: str, stack_id: str) -> str:
    """Return what the niceIds of a stack begin with: `pic-<stack>-<8 of stack id>-`.

    Pangolin allows letters, digits and hyphens only. The id tells stacks apart whose names become
    equal.
    """
    name = re.sub(r"[^A-Za-z0-9]+", "-", stack)[:_LONGEST_STACK].strip("-") or "stack"
    return f"{_MARK}{name}-{re.sub('[^A-Za-z0-9]', '', stack_id)[:8] or 'x'}-"


def nice_id(stack: str, stack_id: str, host: str) -> str:
    """Return the niceId of the resource of a host."""
    digest = hashlib.sha256(host.lower().encode()).hexdigest()[:_HASH_LENGTH]
    return f"{prefix(stack, stack_id)}{digest}"


def is_ours(resource: ListedResource, nice: str) -> bool:
    """Say whether a resource has our marker, or is a create of ours that was killed.

    Args:
        resource: A resource with our host.
        nice: The niceId that ours has.
    """
    return resource.nice_id == nice or is_unfinished(resource)


def is_unfinished(resource: ListedResource) -> bool:
    """Say whether a resource is what a killed create leaves: named by its host, without targets."""
    is_marked = resource.nice_id.startswith(_MARK)
    return resource.name == resource.host and not resource.targets and not is_marked
