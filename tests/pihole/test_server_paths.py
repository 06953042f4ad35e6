"""Paths that Pi-hole does not serve."""

import json
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from dev.pihole import PiHole
from tests.pihole.client import Client, logged_in, refused

HOSTED = refused("Bad request", "The API is hosted at pi.hole/api, not pi.hole/admin/api")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize(
    "target",
    [
        "/admin/api/dns/local",
        "/admin/api/dns/local/a.lan",
        "/admin/api.php?customdns&action=get",
    ],
)
def test_the_api_is_not_below_admin(pihole: PiHole, method: str, target: str) -> None:
    bearer = Client(pihole, {"Authorization": "Bearer secret"})

    assert logged_in(pihole).request(method, target) == (400, HOSTED)
    assert bearer.request(method, target) == (400, HOSTED)


@pytest.mark.parametrize("target", ["/api/dns/local", "/api/nothing/x"])
def test_other_paths_are_not_found(pihole: PiHole, target: str) -> None:
    answer = refused("Not found", target, "not_found")

    assert logged_in(pihole).request("GET", target) == (404, answer)


@pytest.mark.parametrize("path", ["/api/auth", "/api/config", "/api/nothing", "/admin/api"])
def test_every_object_contains_its_duration(pihole: PiHole, path: str) -> None:
    with pytest.raises(HTTPError) as refusal:
        urlopen(f"{pihole.url}{path}")  # noqa: S310

    with refusal.value as answer:
        assert isinstance(json.load(answer)["took"], float)
