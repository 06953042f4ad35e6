"""Tests that credentials in a kubeconfig mean what they mean to the official client."""

import base64
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pic.cluster import kubeconfig, static_access
from pic.cluster.pinned import Pinned
from pic.core.json_values import Raw
from tests.support.planted import TOKEN

DATA = base64.b64encode(b"a certificate").decode()
FILE = __file__  # its content does not matter

NO_PROXY = {"HOME": "/nowhere", "HTTPS_PROXY": ""}


def certificates(key: str) -> st.SearchStrategy[Raw]:
    """Return values for a certificate, from a file, inline, both or absent."""
    return st.fixed_dictionaries(
        {},
        optional={key: st.just(FILE), f"{key}-data": st.sampled_from([DATA, ""])},
    )


clusters = st.builds(
    lambda *parts: {key: value for part in parts for key, value in part.items()},
    st.fixed_dictionaries(
        {"server": st.sampled_from(["https://one.example.com", "https://one/", "http://one:80"])},
        optional={
            "insecure-skip-tls-verify": st.booleans(),
            "tls-server-name": st.just("other"),
            "extensions": st.just([{"name": "minikube"}]),
        },
    ),
    certificates("certificate-authority"),
)
users = st.builds(
    lambda *parts: {key: value for part in parts for key, value in part.items()},
    st.fixed_dictionaries({}, optional={"token": st.sampled_from([TOKEN, f"{TOKEN}\n", ""])}),
    certificates("client-certificate"),
    certificates("client-key"),
)


@given(clusters, users)
@settings(deadline=None)  # the first example imports the client
def test_it_reads_what_the_official_client_reads(cluster: Raw, user: Raw) -> None:
    pinned = Pinned("here", cluster, user)

    assert static_access.read(pinned, NO_PROXY) == kubeconfig.read(pinned)


def test_a_token_comes_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    pinned = Pinned("here", {"server": "https://one"}, {"tokenFile": str(tmp_path / "token")})

    access = static_access.read(pinned, NO_PROXY)

    assert access == kubeconfig.read(pinned)
    assert access is not None
    assert access.authorization == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("cluster", "user"),
    [
        ({"proxy-url": "http://p:1"}, {}),
        ({}, {"exec": {"command": "login"}}),
        ({}, {"username": "admin", "password": TOKEN}),
        ({"insecure-skip-tls-verify": "false"}, {}),
        ({"certificate-authority": "/none"}, {}),
        ({"certificate-authority-data": "é"}, {}),
        ({}, {"token": 3}),
    ],
)
def test_anything_else_is_a_matter_of_the_client(cluster: Raw, user: Raw) -> None:
    pinned = Pinned("here", {"server": "https://one", **cluster}, user)

    assert static_access.read(pinned, NO_PROXY) is None


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "all_proxy"])
def test_a_proxy_of_the_environment_is_a_matter_of_the_client(name: str) -> None:
    pinned = Pinned("here", {"server": "https://one"}, {})

    assert static_access.read(pinned, {**os.environ, name: "http://p:1"}) is None
