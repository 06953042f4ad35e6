"""How an API server is reached, as values, and the pool that is made of them."""

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


def test_a_pod_finds_its_api_server(account: Path) -> None:
    assert endpoint.in_cluster(POD, account) == Access(
        "https://10.0.0.1:443", authority="authority", authorization="Bearer secret"
    )


def test_an_address_of_version_6_has_brackets(account: Path) -> None:
    found = endpoint.in_cluster({**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}, account)

    assert found.server == "https://[fd00::1]:443"


@pytest.mark.parametrize(
    ("passed_by", "proxy"),
    [
        ("", "http://proxy:3128"),
        ("example.com,.local", "http://proxy:3128"),
        ("192.168.0.0/16", "http://proxy:3128"),
        ("10.0.0.0/8", ""),
        ("10.0.0.1", ""),
        ("a, *", ""),
    ],
)
def test_a_proxy_is_used_unless_it_is_passed_by(account: Path, passed_by: str, proxy: str) -> None:
    environment = {**POD, "HTTPS_PROXY": "http://proxy:3128", "no_proxy": passed_by}

    assert endpoint.in_cluster(environment, account).proxy == proxy


def test_a_name_is_passed_by_with_its_domain(account: Path) -> None:
    environment = {
        "KUBERNETES_SERVICE_HOST": "api.example.com",
        "KUBERNETES_SERVICE_PORT": "443",
        "HTTPS_PROXY": "http://proxy",
        "NO_PROXY": ".example.com",
    }

    assert endpoint.in_cluster(environment, account).proxy == ""


def test_a_way_shows_no_secret() -> None:
    assert repr(Access("https://a", authorization="Bearer secret")) == "Access('https://a')"


def context_of(to: Access) -> ssl.SSLContext:
    found = endpoint.connection_pool(to, RETRIES).connection_pool_kw["ssl_context"]
    assert isinstance(found, ssl.SSLContext)
    return found


def test_the_server_has_to_prove_who_it_is() -> None:
    made = context_of(Access("https://a", authority=certifi.contents()))

    assert (made.verify_mode, made.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert len(made.get_ca_certs()) > 10


def test_it_need_not_where_a_kubeconfig_says_so() -> None:
    made = context_of(Access("https://a", verify=False))

    assert (made.verify_mode, made.check_hostname) == (ssl.CERT_NONE, False)


def test_a_certificate_without_its_key_is_none() -> None:
    with pytest.raises(ssl.SSLError):
        context_of(Access("https://a", certificate=certifi.contents()[:4000], key="none"))


def test_a_proxy_and_another_name_are_on_the_way() -> None:
    made = endpoint.connection_pool(
        Access("http://a", proxy="http://proxy:1", server_name="b"), RETRIES
    )

    assert isinstance(made, urllib3.ProxyManager)
    assert made.connection_pool_kw["server_hostname"] == "b"
