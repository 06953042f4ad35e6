"""Decides which host a domain and a subdomain make, and who has it already."""

import re

from dev.pangolin_api.messages import Refusal, Row
from dev.pangolin_api.schema import V1_22, Version
from dev.pangolin_api.store import Store

_SUBDOMAIN = re.compile(r"([a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+")


def full_domain(store: Store, domain_id: str, subdomain: str | None) -> str:
    """Return the host in small letters.

    Pangolin does not check whether the domain belongs to the organisation.

    Raises:
        Refusal: The domain does not exist or is not verified, or the subdomain is not valid.
    """
    domain = store.domains.get(domain_id)
    if domain is None:
        raise Refusal(404, f"Domain with ID {domain_id} not found")
    if not domain["verified"]:
        raise Refusal(400, f"Domain with ID {domain_id} is not verified")
    if subdomain is not None and "*" in subdomain:
        plan = "Wildcard subdomains are not supported on your current plan."
        raise Refusal(403, f"{plan} Please upgrade to access this feature.")
    is_empty = subdomain == "" and domain["type"] == "wildcard"
    if is_empty or (subdomain and not _SUBDOMAIN.fullmatch(subdomain)):
        raise Refusal(400, "Invalid subdomain")
    base: str = domain["baseDomain"]
    has_subdomain = subdomain and domain["type"] != "cname"
    return (f"{subdomain}.{base}" if has_subdomain else base).lower()


def refuse_taken(
    store: Store, host: str, own: int | None, dashboard: str, version: Version
) -> None:
    """Refuse a host that a resource of any organisation has, or the dashboard.

    Since 1.22 the test compares other resources only, so a second resource of one host succeeds.

    Raises:
        Refusal: The host is taken; the message does not say by whom.
    """
    others = [row for number, row in store.resources.items() if number != own]
    if version < V1_22 and any(_is_at(row, host) for row in others):
        raise Refusal(409, "Resource with that domain already exists")
    if host == dashboard:
        raise Refusal(409, "Resource domain cannot be the same as the dashboard domain")


def _is_at(row: Row, host: str) -> bool:
    taken: str = row["fullDomain"]
    return taken == host or (taken.startswith("*.") and host.partition(".")[2] == taken[2:])
