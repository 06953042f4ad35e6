"""The server has the oddities that were measured on FTL 6.4.1."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Timer

import pytest

from dev.pihole import QUICK, PiHole
from tests.pihole.client import HOSTS, Client, logged_in, refused, session
from tests.support.waiting import until

A, B = "192.168.9.1 a.lan", "192.168.9.2 b.lan"


def test_a_valid_session_is_confirmed_and_its_cookie_renewed(pihole: PiHole) -> None:
    client = logged_in(pihole)

    status, headers, answer = client.request_full("GET", "/api/auth", None)
    _, others, _ = client.request_full("GET", HOSTS, None)

    assert (status, answer["session"]["message"]) == (200, "correct password")
    cookie = f"sid={client.headers['X-FTL-SID']}; SameSite=Lax; Path=/; Max-Age=1800; HttpOnly"
    assert headers["Set-Cookie"] == others["Set-Cookie"] == cookie


def test_an_empty_session_id_is_unknown(pihole: PiHole) -> None:
    assert Client(pihole, {"X-FTL-SID": ""}).request("GET", "/api/auth") == (
        401,
        session("session unknown"),
    )
    assert Client(pihole).request("GET", "/api/auth") == (401, session("no SID provided"))


def test_a_session_that_does_not_exist_cannot_be_ended(pihole: PiHole) -> None:
    assert logged_in(pihole).request("DELETE", "/api/auth/session/99") == (
        400,
        refused("Session ID not in use", None),
    )


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("OPTIONS", HOSTS, 204),
        ("OPTIONS", "/anything", 204),
        ("PUT", "/api/config", 404),
        ("GET", "//api/auth", 404),
        ("GET", "/admin", 308),
    ],
)
def test_other_requests_have_these_answers(
    pihole: PiHole, method: str, target: str, status: int
) -> None:
    assert logged_in(pihole).request(method, target)[0] == status


def test_an_empty_answer_claims_to_be_html(pihole: PiHole) -> None:
    client = logged_in(pihole)
    client.put(A)

    target = f"{HOSTS}/{A.replace(' ', '%20')}"
    assert client.request_full("DELETE", target, None)[1]["Content-Type"] == "text/html"


def test_a_hint_is_cut_off(pihole: PiHole) -> None:
    names = " ".join(f"host-{number}.lan" for number in range(40))

    _, answer = logged_in(pihole).put(f"1.2.3.4 # {names}")

    assert len(answer["error"]["hint"]) == 255


def test_an_edit_of_the_file_is_read_later_and_tidied(pihole: PiHole) -> None:
    pihole.edit_file([f"  {A}"], seconds=0.05)

    assert (pihole.lines, pihole.saved) == ([], [f"  {A}"])
    until(lambda: pihole.lines == [A], "the edit is read")


def test_a_write_within_that_time_loses_the_edit(pihole: PiHole) -> None:
    client = logged_in(pihole)
    pihole.edit_file([A], seconds=0.05)

    assert client.put(B) == (201, {})
    read = Timer(0.1, lambda: None)
    read.start()
    read.join()
    assert (pihole.lines, pihole.saved) == ([B], [B])


def test_a_mounted_file_loses_every_write_at_a_restart() -> None:
    with PiHole(records=[A], file_is_mounted=True) as pihole:
        assert logged_in(pihole).put(B) == (201, {})
        assert pihole.lines == [A, B]
        pihole.restart()
        assert pihole.lines == [A]


def test_variables_lock_single_settings() -> None:
    with PiHole(read_only=True, environment=["misc.readOnly"]) as pihole:
        answer = logged_in(pihole).request("GET", "/api/config/misc/readOnly?detailed=true")[1]

    assert answer["config"]["misc"]["readOnly"]["flags"]["env_var"] is True


def test_an_overlap_may_make_the_api_hang_while_the_process_lives() -> None:
    slow = replace(QUICK, put=0.3)
    with PiHole(pace=slow, overlap="hang") as pihole, ThreadPoolExecutor(2) as pool:
        client = logged_in(pihole)
        writes = [pool.submit(client.put, line) for line in (A, B)]
        until(lambda: any(write.done() for write in writes), "the first write is done")

        assert (pihole.alive, pihole.deaths) == (True, [])
        pihole.die("a watchdog ends it")
        with pytest.raises(OSError):  # noqa: PT011 - a reset connection, or one without an answer
            [write.result() for write in writes]


@pytest.mark.usefixtures("needs_dnsmasq")
def test_cnames_win_over_lines() -> None:
    with PiHole(
        records=["192.168.9.1 a.lan b.lan t.lan", "192.168.9.2 nas.lan"],
        cname_records=["a.lan,nas.lan"],
        dnsmasq_lines=["cname=b.lan,nas.lan", "host-record=t.lan,192.168.9.7"],
        dns=True,
    ) as pihole:
        assert [pihole.ask(name) for name in ("a.lan", "b.lan", "t.lan")] == [
            ["192.168.9.2"],
            ["192.168.9.2"],
            ["192.168.9.1", "192.168.9.7"],
        ]
