"""Logins, and the places in a request that may hold a session id."""

from typing import Any

import pytest

from dev.pihole import PiHole
from tests.pihole.client import UNAUTHORIZED, Client, logged_in, refused, session

NOT_JSON = "Invalid request body data (no valid JSON), error at hint"


@pytest.mark.parametrize(
    ("password", "message"),
    [("secret", "password correct"), ("for programs", "app-password correct")],
)
def test_a_correct_password_begins_a_session(pihole: PiHole, password: str, message: str) -> None:
    status, headers, answer = Client(pihole).request_full(
        "POST", "/api/auth", {"password": password}
    )

    sid, csrf = answer["session"]["sid"], answer["session"]["csrf"]
    cookie = f"sid={sid}; SameSite=Lax; Path=/; Max-Age=1800; HttpOnly"
    fields = {"valid": True, "totp": False, "sid": sid, "csrf": csrf, "validity": 1800}
    assert (status, answer) == (200, {"session": {**fields, "message": message}})
    assert (len(sid), headers["Set-Cookie"], pihole.sessions) == (24, cookie, 1)


@pytest.mark.parametrize(
    ("body", "status", "answer"),
    [
        ({"password": "wrong"}, 401, session("password incorrect")),
        (None, 400, refused("No request body data", None)),
        ('{"password": oops', 400, refused(NOT_JSON, "oops")),
        ({"sid": "x"}, 400, refused("No password found in JSON payload", None)),
        (["x"], 400, refused("No password found in JSON payload", None)),
        ({"password": 1}, 400, refused("Field password has to be of type 'string'", None)),
    ],
)
def test_other_logins_are_refused(pihole: PiHole, body: Any, status: int, answer: Any) -> None:
    assert Client(pihole).request("POST", "/api/auth", body) == (status, answer)
    assert pihole.sessions == 0


def test_without_a_password_everything_is_open() -> None:
    with PiHole(password="") as pihole:
        client = Client(pihole, {"X-FTL-SID": "garbage"})

        assert [
            client.request("POST", "/api/auth"),
            client.login("any"),
            client.request("GET", "/api/auth"),
            client.request("DELETE", "/api/auth"),
            client.put("192.168.9.1 a.lan"),
        ] == [
            (200, session("no password set", valid=True)),
            (200, session("password incorrect", valid=True)),
            (200, session("no password set", valid=True)),
            (401, session("no password set", valid=True)),
            (201, {}),
        ]


def test_a_session_ends_with_its_logout(pihole: PiHole) -> None:
    client = logged_in(pihole)

    assert client.request("GET", "/api/auth")[0] == 200
    assert client.request("DELETE", "/api/auth") == (204, None)
    assert client.request("DELETE", "/api/auth") == (401, session("session unknown"))
    assert client.request("GET", "/api/auth") == (401, session("session unknown"))
    assert Client(pihole).request("GET", "/api/auth") == (401, session("no SID provided"))
    assert pihole.sessions == 0


@pytest.mark.parametrize("place", ["X-FTL-SID", "x-ftl-sid", "sid", "query", "body", "cookie"])
def test_a_session_id_may_be_in_each_of_these_places(pihole: PiHole, place: str) -> None:
    _, answer = Client(pihole).login("secret")
    sid, csrf = answer["session"]["sid"], answer["session"]["csrf"]
    quoted = sid.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    target, body, headers = "/api/config/misc/readOnly", None, [(place, sid)]
    match place:
        case "query":
            target, headers = f"{target}?sid={quoted}", []
        case "body":
            body, headers = {"sid": sid}, []
        case "cookie":
            headers = [("Cookie", f"sid={sid}"), ("X-CSRF-TOKEN", csrf)]
        case _:
            pass

    result = Client(pihole).request("GET", target, body, headers)

    assert result == (200, {"config": {"misc": {"readOnly": False}}})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "Bearer {sid}"),
        ("Authorization", "{sid}"),
        ("Authorization", "Basic OnNlY3JldA=="),
        ("Cookie", "sid={sid}"),
        ("X-FTL-SID", "stale"),
        ("X-Nothing", ""),
    ],
)
def test_a_session_id_in_another_place_is_ignored(pihole: PiHole, name: str, value: str) -> None:
    _, answer = Client(pihole).login("secret")
    header = (name, value.format(sid=answer["session"]["sid"]))

    assert Client(pihole).request("GET", "/api/config", None, [header]) == (401, UNAUTHORIZED)


def test_the_first_of_two_headers_counts(pihole: PiHole) -> None:
    good = ("X-FTL-SID", logged_in(pihole).headers["X-FTL-SID"])
    stale = ("X-FTL-SID", "stale")
    target = "/api/config/misc"

    assert Client(pihole).request("GET", target, None, [stale, good]) == (401, UNAUTHORIZED)
    assert Client(pihole).request("GET", target, None, [good, stale])[0] == 200


def test_the_order_of_places_is_body_header_cookie_query(pihole: PiHole) -> None:
    sid = logged_in(pihole).headers["X-FTL-SID"]
    header, stale, cookie = ("X-FTL-SID", sid), ("X-FTL-SID", "stale"), ("Cookie", "sid=stale")
    bad = "/api/config/misc?sid=stale"

    def status(target: str, body: object, *headers: tuple[str, str]) -> int:
        return Client(pihole).request("GET", target, body, headers)[0]

    assert status(bad, {"sid": sid}, stale) == 200
    assert status(bad, {"sid": "stale"}, header) == 401
    assert status(bad, None, header, cookie) == 200
    assert status(bad, None, stale) == 401


def test_only_the_web_password_needs_a_second_factor() -> None:
    with PiHole(password="secret", app_password="for programs", totp="123456") as pihole:  # noqa: S106
        client = Client(pihole)

        assert client.login("secret") == (
            400,
            refused("No 2FA token found in JSON payload", None),
        )
        assert client.login("secret", totp=1) == (
            401,
            refused("Invalid 2FA token", None, "unauthorized"),
        )
        assert client.login("secret", totp=123456)[0] == 200
        assert client.login("for programs")[0] == 200


def test_a_new_password_ends_every_session(pihole: PiHole) -> None:
    client = logged_in(pihole)

    pihole.change_password("another")

    assert client.request("GET", "/api/config") == (401, UNAUTHORIZED)
    assert client.login("secret") == (401, session("password incorrect"))
    assert client.login("another")[0] == 200


def test_the_log_shows_neither_passwords_nor_sessions(pihole: PiHole) -> None:
    sid = logged_in(pihole).headers["X-FTL-SID"]
    Client(pihole).request("GET", "/api/config/misc?sid=stale")

    assert [(entry.method, entry.path, entry.status) for entry in pihole.log] == [
        ("POST", "/api/auth", 200),
        ("GET", "/api/config/misc", 401),
    ]
    assert "secret" not in repr(pihole)
    assert sid not in repr(pihole.log)
