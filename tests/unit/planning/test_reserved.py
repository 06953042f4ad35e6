"""Tests which hosts and addresses get no DNS record."""

from ipaddress import ip_address

import pytest

from pic.planning import reserved
from pic.settings.parse import Settings

SETTINGS = Settings(pihole_url="https://dns.lan:8443", pihole_server_name="ns.lan")


@pytest.mark.parametrize(
    ("host", "refused"),
    [
        ("localhost", True),
        ("app.localhost", True),
        ("localhost.localdomain", True),
        ("mylocalhost", False),
        ("pi.hole", True),
        ("app.pi.hole", False),
        ("dns.lan", True),
        ("ns.lan", True),
        ("web.lan", False),
    ],
)
def test_names_of_every_machine_and_of_pihole_are_refused(host: str, refused: bool) -> None:  # noqa: FBT001
    assert bool(reserved.host_problem(host, SETTINGS)) is refused
    assert reserved.host_problem("web.lan", Settings()) == ""


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0",  # noqa: S104 - nothing binds to it
        *("127.0.0.1", "127.1.2.3", "224.0.0.1", "169.254.1.1", "255.255.255.255"),
        *("::", "::1", "ff02::1", "fe80::1", "::ffff:127.0.0.1", "::ffff:169.254.0.9"),
    ],
)
def test_addresses_that_lead_nowhere_are_refused(text: str) -> None:
    allowing = Settings(pihole_allow_addresses=(text,))

    assert reserved.address_problem(ip_address(text), SETTINGS)
    assert reserved.address_problem(ip_address(text), allowing) == ""


@pytest.mark.parametrize("text", ["192.168.1.1", "100.64.0.1", "8.8.8.8", "fd00::1", "2001:db8::1"])
def test_other_addresses_are_fine(text: str) -> None:
    assert reserved.address_problem(ip_address(text), SETTINGS) == ""
