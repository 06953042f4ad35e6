"""PATCH of the whole list `dns.hosts`, and the settings that lock it."""

import json
from typing import Any

import pytest

from dev.pihole import PiHole
from tests.pihole.client import HOSTS, Client, logged_in, refused

A, B = "192.168.9.1 a.lan", "192.168.9.2 b.lan"
NO_BODY = refused("No request body data", None)
ENVIRONMENT = refused(
    "Config items set via environment variables cannot be changed via the API", "dns.hosts"
)
CONFIG = {
    "dns": {"hosts": [B], "cnameRecords": []},
    "webserver": {"domain": "pi.hole", "api": {"app_sudo": False, "max_sessions": 16}},
    "misc": {"readOnly": False, "dnsmasq_lines": []},
}


@pytest.fixture
def client(pihole: PiHole) -> Client:
    pihole.lines = [A]
    return logged_in(pihole)


def test_the_whole_list_is_replaced(client: Client, pihole: PiHole) -> None:
    assert client.patch([B], "/api/config") == (200, {"config": CONFIG})
    assert (pihole.lines, pihole.saved, pihole.writes) == ([B], [B], 1)


def test_the_path_narrows_the_answer(client: Client) -> None:
    assert client.patch([A, B]) == (200, {"config": {"dns": {"hosts": [A, B]}}})


def test_an_equal_list_is_not_written(client: Client, pihole: PiHole) -> None:
    assert client.patch([A]) == (200, {"config": {"dns": {"hosts": [A]}}})
    assert pihole.writes == 0


def test_duplicates_are_allowed_and_lines_are_tidied(client: Client, pihole: PiHole) -> None:
    assert client.patch([A, A, "192.168.9.2\t b.lan"])[0] == 200
    assert pihole.lines == [A, A, B]


def test_a_line_break_in_a_comment_starts_another_line(client: Client, pihole: PiHole) -> None:
    line = "192.168.9.3 c.lan # x\n6.6.6.6 evil2.lan"

    assert client.patch([line]) == (200, {"config": {"dns": {"hosts": [line]}}})
    assert pihole.lines == [line]


INVALID = "Config item is invalid"


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (
            {"config": {"dns": {"hosts": [A, "oops b.lan"]}}},
            refused(
                "Config item validation failed",
                'dns.hosts[1]: neither a valid IPv4 nor IPv6 address ("oops")',
            ),
        ),
        ({"config": {"dns": {"hosts": A}}}, refused(INVALID, "dns.hosts: not of type array")),
        (
            {"config": {"dns": {"hosts": [A, 1]}}},
            refused(INVALID, "dns.hosts: array has invalid elements"),
        ),
        ({"dns": {}}, refused('No "config" object in body data', None, "body_error")),
        ([], refused('No "config" object in body data', None, "body_error")),
        (None, NO_BODY),
    ],
)
def test_a_patch_is_applied_completely_or_not_at_all(
    client: Client, pihole: PiHole, body: Any, answer: Any
) -> None:
    assert client.request("PATCH", "/api/config", body) == (400, answer)
    assert (pihole.lines, pihole.writes) == ([A], 0)


@pytest.mark.parametrize("config", [{"dns": {"host": [B]}}, {"dns": [B]}, {"webserver": 1}])
def test_unknown_keys_are_ignored(client: Client, pihole: PiHole, config: Any) -> None:
    assert client.request("PATCH", HOSTS, {"config": config}) == (
        200,
        {"config": {"dns": {"hosts": [A]}}},
    )
    assert pihole.writes == 0


@pytest.mark.parametrize(("size", "status"), [(65_534, 200), (65_535, 400)])
def test_a_body_may_have_65534_bytes(client: Client, size: int, status: int) -> None:
    body = json.dumps({"config": {"dns": {"hosts": [A]}}})

    answer = client.request("PATCH", HOSTS, body.ljust(size))

    assert answer[0] == status
    assert status == 200 or answer[1] == NO_BODY


def test_a_list_from_the_environment_is_locked() -> None:
    with PiHole(records=[A], env_hosts=True) as pihole:
        client = logged_in(pihole)

        assert client.put(B) == (400, ENVIRONMENT)
        assert client.delete(A) == (400, ENVIRONMENT)
        assert client.patch([B]) == (400, ENVIRONMENT)
        assert client.patch([A]) == (200, {"config": {"dns": {"hosts": [A]}}})
        details = client.request("GET", f"{HOSTS}?detailed=true")[1]["config"]["dns"]["hosts"]
        assert details["flags"]["env_var"] is True
        assert (pihole.lines, pihole.writes) == ([A], 0)


def test_a_read_only_pi_hole_accepts_a_write_and_forgets_it() -> None:
    with PiHole(records=[A], read_only=True) as pihole:
        client = logged_in(pihole)

        assert client.request("GET", "/api/config/misc/readOnly") == (
            200,
            {"config": {"misc": {"readOnly": True}}},
        )
        assert client.patch([B]) == (
            403,
            refused("The config is currently in read-only mode", None, "forbidden"),
        )
        assert client.put(B) == (201, {})
        assert client.delete(A) == (204, None)
        assert (pihole.lines, pihole.saved) == ([B], [A])
        pihole.restart()
        assert pihole.lines == [A]


def test_a_stale_list_undoes_the_change_of_a_user(client: Client, pihole: PiHole) -> None:
    pihole.lines = [A, "192.168.9.9 by-hand.lan"]

    client.patch([A, B])

    assert pihole.lines == [A, B]
