"""Finds sites and base domains in the lists of the organisation itself. No I/O.

Pangolin checks neither: a resource may have a domain of another organisation, and a target a site
of another one.
"""

from collections.abc import Sequence

from pic.core.errors import FailureClass, PangolinError
from pic.pangolin_api.model import Domain, Site


def site(sites: Sequence[Site], name: str) -> Site:
    """Return the site with a niceId, or else with a name.

    Raises:
        PangolinError: No site or several have the name.
    """
    matches = [row for row in sites if row.nice_id == name] or [
        row for row in sites if row.name == name
    ]
    if len(matches) == 1:
        return matches[0]
    names = ", ".join(sorted(row.nice_id for row in matches or sites)) or "none"
    problem = "several sites have this name" if matches else "the organisation has no such site"
    raise PangolinError(
        f"site {name!r}: {problem}; use one of these niceIds: {names}", kind=FailureClass.INVALID
    )


def split(domains: Sequence[Domain], host: str) -> tuple[Domain, str | None]:
    """Return the longest verified base domain of a host, and the rest of the host before it.

    Raises:
        PangolinError: No base domain covers the host.
    """
    candidates = [row for row in domains if _covers(row, host)]
    verified = [row for row in candidates if row.verified]
    if verified:
        domain = max(verified, key=lambda row: (len(row.base), row.id))
        return domain, host.removesuffix(domain.base).rstrip(".") or None
    if candidates:
        problem = f"the base domain {candidates[0].base} is not verified: verify it"
    else:
        bases = ", ".join(sorted(row.base for row in domains if row.verified)) or "none"
        problem = f"no base domain of the organisation covers it (verified: {bases}): add it"
    raise PangolinError(
        f"host {host}: {problem} in the dashboard of Pangolin under Domains",
        kind=FailureClass.INVALID,
    )


def _covers(domain: Domain, host: str) -> bool:
    is_below = host.endswith(f".{domain.base}") and domain.kind != "cname"
    return host == domain.base or is_below
