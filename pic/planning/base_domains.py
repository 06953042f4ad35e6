"""Divides public hosts at their base domain, which an annotation may set or move them to."""

from enum import StrEnum
from typing import NamedTuple

from pic.core.operator_objects import Organization
from pic.planning import hosts
from pic.planning.annotations import IngressOptions
from pic.settings.parse import Settings


class Basis(StrEnum):
    """What decided the base domain of a host."""

    ANNOTATION = "annotation"
    VERIFIED = "verified domain of the organisation"
    SETTING = "pic:domains"
    PUBLIC_SUFFIX = "Public Suffix List"


class Split(NamedTuple):
    """A public host, divided at its base domain.

    Attributes:
        unverified: The organisation leaves the host uncovered.
    """

    domain: str
    subdomain: str | None
    unverified: bool
    basis: Basis


def public(domain: str, subdomain: str | None) -> str:
    """Return a public host in its normal form."""
    return hosts.public(f"{subdomain}.{domain}" if subdomain else domain)


def split(
    host: str, options: IngressOptions, organization: Organization | None, settings: Settings
) -> Split:
    """Divide a host at its base domain."""
    # Pangolin accepts only verified domains, so they come first. The Public Suffix List comes last,
    # because it does not know which zones their owners have delegated.
    verified = hosts.suffix_of(host, _covering(host, organization)) if organization else None
    basis = Basis.VERIFIED
    base = verified or hosts.suffix_of(host, settings.domains)
    if not verified:
        basis = Basis.SETTING if base else Basis.PUBLIC_SUFFIX
    base = base or hosts.registrable(host)
    domain, basis = options.domain or base, Basis.ANNOTATION if options.domain else basis
    # A host below the domain of the annotation is split there. Any other host keeps its subdomain
    # and moves below that domain.
    stem = domain if hosts.is_under(host, domain) else base
    subdomain = options.subdomain or hosts.subdomain(host, stem)
    by_annotation = options.domain is not None and stem == options.domain
    unverified = organization is not None and verified is None and not by_annotation
    return Split(domain, subdomain, unverified, basis)


def _covering(host: str, organization: Organization) -> tuple[str, ...]:
    exact = {domain for domain in organization.exact if domain != host}
    return tuple(domain for domain in organization.verified if domain not in exact)
