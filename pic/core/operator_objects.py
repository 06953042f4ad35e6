"""Defines what pic reads of the other kinds of the operator, and of its CRD. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A PangolinTunnel.

    Attributes:
        organization: The namespace and name of its PangolinOrganization; None if it names none.
        status: `status.status`, such as `Ready`; empty before the operator has written it.
    """

    namespace: str
    name: str
    organization: tuple[str, str] | None = None
    status: str = ""


@dataclass(frozen=True, slots=True)
class Organization:
    """A PangolinOrganization.

    Attributes:
        verified: The base domains that its status calls verified.
        exact: Those of them that cover only themselves, and no host below.
        domain_ids: The id of each of them in Pangolin, as far as the status has one.
    """

    namespace: str
    name: str
    verified: tuple[str, ...] = ()
    domain_ids: Mapping[str, str] = field(default_factory=dict)
    exact: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """The features of the installed CRD of PangolinResource.

    The API server drops fields that the CRD does not have, so planning must know them.

    Attributes:
        single_target: It has `spec.target` and not the list `spec.targets`.
        subdomain_optional: `subdomain` is optional, so that a base domain can be a host itself.
        tunnel_namespace: It has `spec.tunnelRef.namespace`.
        protection: It has `sso` and `blockAccess` in `spec.httpConfig`.
        domain_id: It has `domainId` there.
    """

    # The defaults are those of the current CRD.
    single_target: bool = False
    subdomain_optional: bool = False
    tunnel_namespace: bool = True
    protection: bool = True
    domain_id: bool = True


CURRENT_CRD = Schema()
