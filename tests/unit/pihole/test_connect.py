from collections.abc import Callable, Mapping

import pytest

from dev.pihole import PiHole
from pic.core.errors import FailureClass, PiholeError
from pic.core.model import LiveRecord
from pic.pihole.connect import (
    SessionTimeouts,
    password,
    read,
    session,
)
from pic.pihole.lock import Waiting, alone
from pic.settings.parse import PiholeApi, Settings
from tests.support.pihole_fakes import (
    CLUSTER,
    a,
    ours,
    told,
)

SECRET = {"PIHOLE_PASSWORD": "secret"}


def refused(action: Callable[[], object]) -> tuple[FailureClass, int | None, str]:
    with pytest.raises(PiholeError) as caught:
        action()
    return told(caught.value)


def settings(server: PiHole) -> Settings:
    return Settings(pihole_url=f"{server.url}/admin", pihole_api=PiholeApi(server.api))


@pytest.mark.parametrize(
    "environment",
    [
        {"PIHOLE_PASSWORD": " se cret "},
        {"PIHOLE_API_TOKEN": " se cret \n", "PIHOLE_PASSWORD": ""},
        {"PIHOLE_API_TOKEN": " se cret \r\n", "PIHOLE_PASSWORD": " se cret "},
    ],
)
def test_the_password_is_in_either_variable(environment: Mapping[str, str]) -> None:
    assert password(environment) == " se cret "


def test_no_password_and_two_passwords_are_refused_without_showing_them() -> None:
    assert refused(lambda: password({"PIHOLE_PASSWORD": "\n"})) == (
        FailureClass.AUTH,
        None,
        "set PIHOLE_PASSWORD (or PIHOLE_API_TOKEN) to the password of Pi-hole, an app password at"
        " best; a Pi-hole without a password takes any text",
    )
    assert refused(lambda: password({"PIHOLE_PASSWORD": "a", "PIHOLE_API_TOKEN": "b"})) == (
        FailureClass.AUTH,
        None,
        "PIHOLE_PASSWORD and PIHOLE_API_TOKEN differ: set one of them",
    )


@pytest.mark.parametrize("api", ["v6", "dns-local"])
def test_a_session_writes_and_reads_with_the_interface_that_is_set(api: str) -> None:
    with PiHole(api=api, records=["192.0.2.1 nas"]) as server:  # type: ignore[arg-type]
        environment = {"PIHOLE_API_TOKEN": server.password}
        with session(settings(server), CLUSTER, environment, frozenset({"web"})) as hosts:
            assert hosts.apply([a("web")]) == {}

        found = read(settings(server), CLUSTER, environment, frozenset({"web"}))

        assert found == (
            LiveRecord("nas", "192.0.2.1"),
            LiveRecord("web", "192.0.2.9", ours=True),
        )
        assert server.lines[1] == (ours("192.0.2.9", "web") if api == "v6" else "192.0.2.9 web")
        assert (server.sessions, server.most_at_once) == (0, 1)


def test_settings_say_whom_to_trust_and_whether_to_take_over() -> None:
    with PiHole(tls=True, records=["192.0.2.1 web"]) as server:
        chosen = Settings(
            pihole_url=server.url,
            pihole_ca=str(server.ca),
            pihole_server_name="pi.hole",
            pihole_take_over=True,
        )
        with session(chosen, CLUSTER, {"PIHOLE_PASSWORD": server.password}) as hosts:
            assert hosts.apply([a("web")]) == {}

        assert server.lines == [ours("192.0.2.9", "web")]


@pytest.mark.parametrize("api", ["v6", "dns-local"])
def test_nobody_enters_while_somebody_else_of_this_machine_is_inside(api: str) -> None:
    with PiHole(api=api) as server, alone(server.url):  # type: ignore[arg-type]
        pace = SessionTimeouts(waiting=Waiting(0.0))

        found = refused(lambda: read(settings(server), CLUSTER, SECRET, pace=pace))

        assert (found[0], server.log) == (FailureClass.TEMPORARY, [])


def test_what_is_missing_is_told_before_anything_is_sent() -> None:
    url = "http://127.0.0.1:9"
    local = Settings(pihole_url=url, pihole_api=PiholeApi.DNS_LOCAL)

    assert [
        refused(lambda: session(Settings(), CLUSTER, SECRET)),
        refused(lambda: session(Settings(pihole_url=url), "", SECRET)),
        refused(lambda: session(local, CLUSTER, {"PIHOLE_API_TOKEN": "a\nb"})),
    ] == [
        (FailureClass.INVALID, None, "it is not known where Pi-hole is: set pic:piholeUrl"),
        (FailureClass.INVALID, None, "the id of the cluster is not known: it marks records"),
        (
            FailureClass.AUTH,
            None,
            "PIHOLE_API_TOKEN has characters that a token cannot have: needed is printable ASCII on"
            " one line",
        ),
    ]
