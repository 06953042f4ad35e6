"""What the operator of Pangolin writes, for tests and demos that do without it."""

from typing import Any


def verified(domain: str) -> dict[str, Any]:
    """Return a base domain that may be used, as in the status of an organisation."""
    return {
        "baseDomain": domain,
        "configManaged": False,
        "domainId": "d1",
        "failed": False,
        "tries": 0,
        "type": "wildcard",
        "verified": True,
    }
