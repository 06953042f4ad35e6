"""Names the targets of a host by a short text, which the register remembers. No I/O.

The list of Pangolin shows only the addresses of targets. So pic remembers a text that is the same
only for the same targets, and reads a resource on its own where the plan has another one.
"""

import hashlib
import json

from pic.core.model import Spec
from pic.planning import routes, serialise

_LENGTH = 12  # hexadecimal digits


def form(spec: Spec) -> str:
    """Return a text that is the same only for the same targets."""
    targets = [serialise.target(target) for target in sorted(spec.targets, key=routes.order)]
    return hashlib.sha256(json.dumps(targets, sort_keys=True).encode()).hexdigest()[:_LENGTH]
