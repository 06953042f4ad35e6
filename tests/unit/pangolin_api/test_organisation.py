"""Sites and base domains of the organisation itself."""

import pytest

from pic.core.errors import FailureClass
from pic.pangolin_api import organisation
from pic.pangolin_api.model import Domain, Site
from tests.support.pangolin_client import fails

SITES = (
    Site(1, "home", "Home", "newt", online=True),
    Site(2, "office", "Twin", "newt", online=True),
    Site(3, "attic", "Twin", "local", online=False),
)
DOMAINS = (
    Domain("d1", "example.com", "wildcard", verified=True),
    Domain("d2", "sub.example.com", "ns", verified=True),
    Domain("d3", "one.example.org", "cname", verified=True),
    Domain("d4", "example.net", "ns", verified=False),
)


@pytest.mark.parametrize(("name", "site"), [("home", 1), ("Home", 1), ("attic", 3)])
def test_a_site_is_found_by_its_nice_id_or_name(name: str, site: int) -> None:
    assert organisation.site(SITES, name).id == site


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("cellar", ["no such site", "attic, home, office"]),
        ("Twin", ["several sites have this name", "attic, office"]),
    ],
)
def test_a_site_that_is_missing_or_ambiguous_is_reported(name: str, parts: list[str]) -> None:
    with fails(FailureClass.INVALID, f"site {name!r}", *parts):
        organisation.site(SITES, name)


@pytest.mark.parametrize(
    ("host", "domain", "subdomain"),
    [
        ("a.example.com", "d1", "a"),
        ("a.b.example.com", "d1", "a.b"),
        ("example.com", "d1", None),
        ("a.sub.example.com", "d2", "a"),
        ("one.example.org", "d3", None),
    ],
)
def test_the_longest_verified_domain_counts(host: str, domain: str, subdomain: str | None) -> None:
    match, rest = organisation.split(DOMAINS, host)
    assert (match.id, rest) == (domain, subdomain)


@pytest.mark.parametrize(
    ("host", "part"),
    [
        ("a.example.net", "the base domain example.net is not verified"),
        ("a.one.example.org", "no base domain of the organisation covers it"),
        ("notexample.com", "(verified: example.com, one.example.org, sub.example.com)"),
    ],
)
def test_a_host_without_a_domain_is_reported(host: str, part: str) -> None:
    with fails(FailureClass.INVALID, f"host {host}", part, "under Domains"):
        organisation.split(DOMAINS, host)
