"""The access of a pod to its API server, and the connection pool for an access."""

import ssl
from pathlib import Path

import certifi
import pytest
import urllib3

from pic.cluster import endpoint
from pic.cluster.endpoint import Access

RETRIES = urllib3.Retry(0)
POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("secret\n")
    (tmp_path / "ca.crt").write_text("authority")
    return tmp_path


def test_a_pod_reads_its_access_from_the_service_account(account: Path) -> None:
    assert endpoint.in_cluster(POD, account) == Access(
        "https://10.0.0.1:443", authority="authority", authorization="Bearer secret"
    )


def test_an_ipv6_address_is_put_in_brackets(account: Path) -> None:
    access = endpoint.in_cluster({**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}, account)

    assert access.server == "https://[fd00::1]:443"


@pytest.mark.parametrize(
    ("no_proxy", "proxy"),
    [
        ("", "http://proxy:3128"),
        ("example.com,.local", "http://proxy:3128"),
        ("192.168.0.0/16", "http://proxy:3128"),
        ("10.0.0.0/8", ""),
        ("10.0.0.1", ""),
        ("a, *", ""),
    ],
)
def test_a_proxy_is_used_unless_no_proxy_covers_the_host(
    account: Path, no_proxy: str, proxy: str
) -> None:
    environment = {**POD, "HTTPS_PROXY": "http://proxy:3128", "no_proxy": no_proxy}

    assert endpoint.in_cluster(environment, account).proxy == proxy


def test_no_proxy_with_a_domain_covers_its_hosts(account: Path) -> None:
    environment = {
        "KUBERNETES_SERVICE_HOST": "api.example.com",
        "KUBERNETES_SERVICE_PORT": "443",
        "HTTPS_PROXY": "http://proxy",
        "NO_PROXY": ".example.com",
    }

    assert endpoint.in_cluster(environment, account).proxy == ""


def test_the_representation_of_an_access_shows_no_secret() -> None:
    assert repr(Access("https://a", authorization="Bearer secret")) == "Access('https://a')"


def ssl_context(access: Access) -> ssl.SSLContext:
    context = endpoint.connection_pool(access, RETRIES).connection_pool_kw["ssl_context"]
    assert isinstance(context, ssl.SSLContext)
    return context


def test_the_certificate_of_the_server_is_verified() -> None:
    context = ssl_context(Access("https://a", authority=certifi.contents()))

    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert len(context.get_ca_certs()) > 10


def test_verification_can_be_turned_off() -> None:
    context = ssl_context(Access("https://a", verify=False))

    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)


def test_a_client_certificate_without_its_key_is_an_error() -> None:
    with pytest.raises(ssl.SSLError):
        ssl_context(Access("https://a", certificate=certifi.contents()[:4000], key="none"))


def test_a_pool_uses_the_proxy_and_verifies_the_given_name() -> None:
    pool = endpoint.connection_pool(
        Access("http://a", proxy="http://proxy:1", server_name="b"), RETRIES
    )

    assert isinstance(pool, urllib3.ProxyManager)
    assert pool.connection_pool_kw["server_hostname"] == "b"
