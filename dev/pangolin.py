"""Builds what the Pangolin operator writes, for tests and demos that run without it."""

from typing import Any


def verified_domain(domain: str) -> dict[str, Any]:
    """Return a verified base domain, as in the status of a PangolinOrganization."""
    return {
        "baseDomain": domain,
        "configManaged": False,
        "domainId": "d1",
        "failed": False,
        "tries": 0,
        "type": "wildcard",
        "verified": True,
    }
