"""Keys, TLS, retries, and the number of requests at once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from dev.pangolin_api import Fault, Pangolin
from pic.core.errors import FailureClass
from pic.pangolin_api.connection import (
    KEY,
    Answer,
    Connection,
    Timeouts,
    api_key,
    normalise,
    open_connection,
)
from tests.support.pangolin_client import IMPATIENT, QUICK, fails

SITES = "/org/home/sites"


def connection(server: Pangolin, timeouts: Timeouts = QUICK, ca: str = "") -> Connection:
    return open_connection(server.url, server.key, timeouts, ca)


@pytest.mark.parametrize("key", ["", " \n"])
def test_a_missing_key_says_where_to_create_one(key: str) -> None:
    with fails(FailureClass.AUTH, f"{KEY} is not set", "Organization > API Keys"):
        api_key({KEY: key})


@pytest.mark.parametrize("key", ["nodot", ".x", "x.", "a.b c", "a.b\x00", "ä.b"])
def test_a_malformed_key_is_refused_before_it_looks_like_a_fault_of_the_server(key: str) -> None:
    with fails(FailureClass.AUTH, "has the form <id>.<secret>") as _:
        api_key({KEY: key})


def test_a_key_from_a_file_may_end_with_a_line_break() -> None:
    assert api_key({KEY: "id.secret\n"}) == "id.secret"


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/"])
def test_the_version_of_a_copied_url_is_removed(end: str) -> None:
    assert normalise(f"https://api.example.com{end}") == "https://api.example.com"


def test_no_text_of_a_connection_has_the_key() -> None:
    with Pangolin() as server:
        assert server.key not in repr(connection(server))


def test_tls_is_verified() -> None:
    with Pangolin(tls=True) as server:
        with fails(FailureClass.AUTH, "does not accept the certificate", "pic:pangolinCa"):
            connection(server).send("GET", SITES)
        assert connection(server, ca=str(server.ca)).send("GET", SITES).status == 200


def test_a_missing_certificate_file_is_named(tmp_path: Path) -> None:
    with fails(FailureClass.INVALID, "pic:pangolinCa is", "No such file"):
        open_connection("https://127.0.0.1", "a.b", QUICK, str(tmp_path / "none"))


def test_four_requests_are_in_flight_at_most() -> None:
    with Pangolin(pace=0.002) as server, ThreadPoolExecutor(12) as pool:
        one = connection(server)
        assert {a.status for a in pool.map(lambda _: one.send("GET", SITES), range(40))} == {200}
        assert server.most_at_once == 4


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize("fault", [Fault("drop"), Fault("answer", status=503), Fault("hang")])
def test_what_may_be_sent_twice_is_retried(method: str, fault: Fault) -> None:
    with Pangolin() as server:
        server.inject(fault)
        connection(server, IMPATIENT).send(method, SITES, {})
        assert len(server.log) == 2


@pytest.mark.parametrize("fault", [Fault("answer", status=503), Fault("answer", status=429)])
def test_a_create_is_not_retried(fault: Fault) -> None:
    with Pangolin() as server:
        server.inject(fault)
        assert connection(server).send("PUT", SITES, {}).status == fault.status
        assert len(server.log) == 1


@pytest.mark.parametrize("kind", ["drop", "hang"])
def test_a_create_without_an_answer_fails_at_once(kind: str) -> None:
    with Pangolin() as server:
        server.inject(Fault(kind))  # type: ignore[arg-type]
        with fails(FailureClass.TEMPORARY, "no answer from http://127.0.0.1", "pic:pangolinUrl"):
            connection(server, IMPATIENT).send("PUT", SITES, {})
        assert len(server.log) == 1


def test_retries_end_and_return_the_last_answer() -> None:
    with Pangolin() as server:
        server.inject(Fault("answer", status=503, times=9, body={}, headers={"Retry-After": "0"}))
        assert connection(server).send("GET", SITES) == Answer(503, {}, retry_after=0)
        assert len(server.log) == QUICK.retries + 1


def test_a_server_that_does_not_run_is_named() -> None:
    with Pangolin() as server:
        server.die("test")
        with fails(FailureClass.TEMPORARY, "the connection was refused or timed out"):
            connection(server).send("PUT", SITES)


def test_a_silent_server_is_named() -> None:
    with Pangolin() as server:
        server.inject(Fault("hang", times=9))
        with fails(FailureClass.TEMPORARY, "it is silent for too long"):
            connection(server, replace(IMPATIENT, retries=0)).send("GET", SITES)


def test_a_redirect_is_not_followed() -> None:
    with Pangolin() as server:
        server.inject(Fault("answer", status=302, headers={"Location": "https://other"}))
        with fails(FailureClass.INVALID, "redirects to https://other"):
            connection(server).send("GET", SITES)


def test_an_answer_that_is_no_json_object_is_text() -> None:
    with Pangolin() as server:
        assert connection(server).send("GET", "/nothing").text.startswith("<!DOCTYPE html>")
