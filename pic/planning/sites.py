"""Finds the site of a host in Pangolin, which is the tunnel where pic changes Pangolin itself.

An Ingress names a site by its niceId, or else by its name. Pangolin would take a site and a base
domain of any organisation, so only those count that the organisation itself lists. No I/O.
"""

from pic.core.model import Snapshot, TunnelRef
from pic.core.notices import Reason
from pic.core.operator_objects import Organization
from pic.core.published import Published, Site
from pic.planning.notice_log import Problem
from pic.planning.tunnels import ResolvedTunnel

OFFLINE = "offline"
_MOST_NAMES = 10


class Sites:
    """Finds sites by name, as `Tunnels` finds the tunnels of an operator."""

    # A host keeps no site: the settings and the Ingress decide.
    live_keep = False

    def __init__(self, snapshot: Snapshot) -> None:
        self._published = snapshot.published
        self._organization = organization(snapshot.published) if snapshot.published else None

    def find(self, reference: str, namespace: str) -> ResolvedTunnel | Problem:
        """Find a site, or say why there is none.

        Args:
            reference: What the Ingress calls it.
            namespace: The namespace of the Ingress, which does not matter here.
        """
        del namespace
        if "/" in reference:
            return _problem(
                f"tunnel {reference} names a namespace, but the sites of Pangolin are in none: name"
                " the site alone"
            )
        # A plan from files knows no site, so every name counts as correct.
        if self._published is None:
            return ResolvedTunnel(TunnelRef(reference))
        matches = self._published.site_named(reference)
        if len(matches) == 1:
            return self._resolved(matches[0])
        return _problem(_missing(reference, matches, self._published))

    def keep(self, reference: str, namespace: str, live: TunnelRef) -> None:
        """Keep no site of a live host."""
        del reference, namespace, live

    def _resolved(self, site: Site) -> ResolvedTunnel:
        waiting = "" if site.online else OFFLINE
        return ResolvedTunnel(TunnelRef(site.nice_id), self._organization, waiting)


def organization(published: Published) -> Organization:
    """Return the organisation with its verified base domains."""
    verified = [domain for domain in published.domains if domain.verified]
    return Organization(
        "",
        published.org,
        tuple(sorted({domain.base for domain in verified})),
        {domain.base: domain.id for domain in verified},
        tuple(sorted({domain.base for domain in verified if domain.exact})),
    )


def _problem(message: str) -> Problem:
    return Problem(Reason.TUNNEL_NOT_FOUND, message)


def _missing(reference: str, matches: tuple[Site, ...], published: Published) -> str:
    names = sorted(site.nice_id for site in matches or published.sites)
    listed = ", ".join(names[:_MOST_NAMES]) or "none"
    if matches:
        return (
            f"several sites of organisation {published.org} are named {reference[:80]!r}: use one"
            f" of their niceIds, {listed}"
        )
    return (
        f"organisation {published.org} has no site {reference[:80]!r}: create it in the dashboard"
        f" of Pangolin, or correct the name; the niceIds of its sites are {listed}"
    )
