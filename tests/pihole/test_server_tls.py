"""HTTPS with a certificate of Pi-hole's own authority."""

import ssl
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import urllib3

from dev.pihole import PiHole


def test_the_certificate_is_for_one_name_only() -> None:
    with PiHole(tls=True) as pihole:
        context = ssl.create_default_context(cafile=str(pihole.ca))

        with pytest.raises(URLError, match=r"not valid for '127\.0\.0\.1'"):
            urlopen(f"{pihole.url}/api/auth", context=context)  # noqa: S310
        with pytest.raises(URLError, match=r"unable to get local issuer|self-signed"):
            urlopen(f"{pihole.url}/api/auth")  # noqa: S310
        assert status(pihole) == 401
        pihole.die("a test")
        pihole.restart()
        assert status(pihole) == 401


def status(pihole: PiHole) -> int:
    with urllib3.HTTPSConnectionPool(
        "127.0.0.1",
        pihole.port,
        ca_certs=str(pihole.ca),
        server_hostname="pi.hole",
        assert_hostname="pi.hole",
    ) as pool:
        return pool.request("GET", "/api/auth").status
