"""The interface `/admin/api/dns/local`."""

from collections.abc import Iterator
from typing import Any

import pytest

from dev.pihole import OnDuplicate, PiHole
from tests.pihole.client import Client

PATH = "/admin/api/dns/local"
TOKEN = "token"  # noqa: S105
APP = {"domain": "app.local", "ip": "192.168.1.100"}
OTHER = {"domain": "app.local", "ip": "192.168.1.101"}
BAD = {"error": "a domain and an IP address are needed"}


@pytest.fixture
def local() -> Iterator[PiHole]:
    with PiHole(password=TOKEN, api="dns-local") as pihole:
        yield pihole


def client(pihole: PiHole) -> Client:
    return Client(pihole, {"Authorization": f"Bearer {pihole.password}"})


def test_records_are_created_listed_and_deleted(local: PiHole) -> None:
    authorized = client(local)

    assert [
        authorized.request("GET", PATH),
        authorized.request("POST", PATH, APP),
        authorized.request("GET", PATH),
        authorized.request("DELETE", f"{PATH}/app.local"),
        authorized.request("DELETE", f"{PATH}/app.local"),
        authorized.request("GET", PATH),
    ] == [
        (200, {"data": []}),
        (201, APP),
        (200, {"data": [APP]}),
        (204, None),
        (404, {"error": "no such domain"}),
        (200, {"data": []}),
    ]
    assert local.writes == 2


@pytest.mark.parametrize("token", ["Bearer other", "token", "Basic token", ""])
def test_a_wrong_token_is_refused(local: PiHole, token: str) -> None:
    unauthorized = Client(local, {"Authorization": token})

    assert unauthorized.request("GET", PATH) == (401, {"error": "unauthorized"})


@pytest.mark.parametrize(
    "body",
    [
        None,
        "{",
        [],
        {"domain": "a.lan"},
        {"ip": "1.2.3.4"},
        {"domain": "a.lan", "ip": "1.2.3"},
        {"domain": "a b", "ip": "1.2.3.4"},
        {"domain": "*.lan", "ip": "1.2.3.4"},
        {"domain": "", "ip": "1.2.3.4"},
        {"domain": 1, "ip": "1.2.3.4"},
    ],
)
def test_a_bad_body_is_refused(local: PiHole, body: Any) -> None:
    assert client(local).request("POST", PATH, body) == (400, BAD)
    assert (local.lines, local.writes) == ([], 0)


def test_other_paths_are_not_found(local: PiHole) -> None:
    assert client(local).request("GET", "/api/config") == (404, {"error": "not found"})


@pytest.mark.parametrize(
    ("on_duplicate", "answer", "data"),
    [
        ("replace", (201, OTHER), [OTHER]),
        ("add", (201, OTHER), [APP, OTHER]),
        ("refuse", (400, {"error": "the domain exists already"}), [APP]),
    ],
)
def test_a_second_address_of_a_domain_is_handled_as_configured(
    on_duplicate: OnDuplicate, answer: Any, data: list[Any]
) -> None:
    records = ["192.168.1.100 app.local"]
    with PiHole(records=records, api="dns-local", on_duplicate=on_duplicate) as pihole:
        authorized = client(pihole)

        assert authorized.request("POST", PATH, OTHER) == answer
        assert authorized.request("GET", PATH) == (200, {"data": data})
