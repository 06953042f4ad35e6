"""Refuses hosts and addresses that no DNS record for other machines may have.

`localhost` and a loopback address lead every client to itself, and a record of the name of the
Pi-hole takes its web interface away from everyone.
"""

import ipaddress
from urllib.parse import urlsplit

from pic.planning import hosts
from pic.settings.parse import Settings

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def host_problem(host: str, settings: Settings) -> str:
    """Return why a host gets no record; empty if it may have one."""
    if hosts.is_under(host, "localhost") or host == "localhost.localdomain":
        return "every machine uses this name for itself"
    if host in ("pi.hole", settings.pihole_server_name, urlsplit(settings.pihole_url).hostname):
        return "it is the name of the Pi-hole itself"
    return ""


def address_problem(address: Address, settings: Settings) -> str:
    """Return what is wrong with an address; empty if a record may have it."""
    allowed = (ipaddress.ip_network(text) for text in settings.pihole_allow_addresses)
    if any(address in network for network in allowed):
        return ""
    # ::ffff:127.0.0.1 is 127.0.0.1 to a client.
    plain = getattr(address, "ipv4_mapped", None) or address
    for applies, kind in (
        (plain.is_unspecified, "stands for no machine"),
        (plain.is_loopback, "leads each machine to itself"),
        (plain.is_multicast, "is a multicast address"),
        (plain.is_link_local, "is a link-local address, which leads nowhere from another network"),
        (plain == ipaddress.IPv4Address("255.255.255.255"), "is the broadcast address"),
    ):
        if applies:
            return kind
    return ""
