"""Words what keeps a host from being published where pic changes Pangolin itself. No I/O."""

from pic.core.model import LiveResource
from pic.core.notices import Reason
from pic.planning.claims import Claim, Contest
from pic.planning.notice_log import Problem
from pic.planning.ownership import OwnerKind
from pic.planning.tunnels import ResolvedTunnel

_WAYS_OUT = {
    OwnerKind.OTHER_STACK: "another stack of pic made it: remove the host there",
    OwnerKind.EARLIER: "it belongs to the stack in pic:adoptFrom: remove the host there",
}
_WAY_OUT = "pic did not make it: delete it in the dashboard of Pangolin, or use another host"


def uncovered(contest: Contest, head: Claim) -> Problem | None:
    """Return that the organisation does not cover a host, which Pangolin does not check."""
    tunnel = head.tunnel
    organization = tunnel.organization if isinstance(tunnel, ResolvedTunnel) else None
    if organization is None or (not head.unverified and head.domain in organization.verified):
        return None
    verified = ", ".join(organization.verified) or "none"
    fate = "it stays as it is" if contest.live else "it is not published"
    message = (
        f"no verified base domain of organisation {organization.name} covers {contest.host}"
        f" (verified: {verified}), so {fate}: add or verify its base domain in the dashboard of"
        " Pangolin under Domains"
    )
    return Problem(Reason.DOMAIN_NOT_VERIFIED, message, contest.host)


def taken(host: str, other: LiveResource, kind: OwnerKind) -> Problem:
    """Return that a resource in Pangolin has a host, which this stack did not make."""
    message = (
        f"the resource {other.spec.name!r} ({other.name}) of Pangolin already exposes {host}, and"
        f" {_WAYS_OUT.get(kind, _WAY_OUT)}"
    )
    return Problem(Reason.HOST_CONFLICT, message, host)


def offline(site: str) -> str:
    """Return what it means that a site is offline."""
    return f"site {site} is offline: its hosts are published, but do not answer until it is online"
