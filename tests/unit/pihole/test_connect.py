from collections.abc import Mapping
from dataclasses import replace

import pytest

from dev.pihole import PiHole
from pic.core.errors import FailureClass
from pic.core.model import LiveRecord
from pic.pihole.connect import Reading, SessionTimeouts, open_session, password, read
from pic.pihole.lock import LockTimeouts, hold_lock
from pic.settings.parse import PiholeApi, Settings, TakeOver
from tests.support.pihole_fakes import CLUSTER, a, ours, refused

SECRET = {"PIHOLE_PASSWORD": "secret"}


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
def test_either_variable_may_hold_the_password(environment: Mapping[str, str]) -> None:
    assert password(environment) == " se cret "


def test_a_missing_password_and_two_passwords_are_errors_that_show_no_password() -> None:
    assert refused(lambda: password({"PIHOLE_PASSWORD": "\n"})) == (
        FailureClass.AUTH,
        None,
        "PIHOLE_PASSWORD is not set: set it (or PIHOLE_API_TOKEN) to a password of Pi-hole,"
        " preferably an app password; a Pi-hole without a password accepts any text",
    )
    assert refused(lambda: password({"PIHOLE_PASSWORD": "a", "PIHOLE_API_TOKEN": "b"})) == (
        FailureClass.AUTH,
        None,
        "PIHOLE_PASSWORD and PIHOLE_API_TOKEN differ: set only one of them",
    )


@pytest.mark.parametrize("api", ["v6", "dns-local"])
def test_a_session_uses_the_interface_of_the_settings(api: str) -> None:
    with PiHole(api=api, records=["192.0.2.1 nas"]) as server:  # type: ignore[arg-type]
        environment = {"PIHOLE_API_TOKEN": server.password}
        with open_session(settings(server), CLUSTER, environment, frozenset({"web"})) as hosts:
            assert hosts.apply([a("web")]) == {}

        reading = read(settings(server), CLUSTER, environment)

        # Without markers, the register and the state decide whose a record is.
        assert reading == Reading(
            (LiveRecord("nas", "192.0.2.1"), LiveRecord("web", "192.0.2.9", ours=api == "v6"))
        )
        assert server.lines[1] == (ours("192.0.2.9", "web") if api == "v6" else "192.0.2.9 web")
        assert (server.sessions, server.most_at_once) == (0, 1)


def test_24_a_session_marks_its_records_with_cluster_and_stack() -> None:
    with PiHole(records=[ours("192.0.2.1", "old")]) as server:
        chosen = replace(settings(server), stack_id="0123456789abcdef")
        environment = {"PIHOLE_PASSWORD": server.password}
        with open_session(chosen, CLUSTER, environment) as hosts:
            assert hosts.apply([a("web")]) == {}
            records = hosts.read()

    assert server.lines[1] == f"192.0.2.9 web # k8s:{CLUSTER[:8]}.01234567"
    assert records == (
        LiveRecord("old", "192.0.2.1", ours=True, legacy=True),
        LiveRecord("web", "192.0.2.9", ours=True),
    )


def test_the_settings_control_trust_and_take_over() -> None:
    with PiHole(tls=True, records=["192.0.2.1 web"]) as server:
        chosen = Settings(
            pihole_url=server.url,
            pihole_ca=str(server.ca),
            pihole_server_name="pi.hole",
            pihole_take_over=TakeOver.ALL,
        )
        with open_session(chosen, CLUSTER, {"PIHOLE_PASSWORD": server.password}) as hosts:
            assert hosts.apply([a("web")]) == {}

        assert server.lines == [ours("192.0.2.9", "web")]


@pytest.mark.parametrize("api", ["v6", "dns-local"])
def test_a_session_waits_while_another_pic_holds_the_lock(api: str) -> None:
    with PiHole(api=api) as server, hold_lock(server.url):  # type: ignore[arg-type]
        timeouts = SessionTimeouts(lock=LockTimeouts(0.0))

        kind, _, _ = refused(lambda: read(settings(server), CLUSTER, SECRET, timeouts=timeouts))

        assert (kind, server.log) == (FailureClass.TEMPORARY, [])


def test_a_missing_setting_is_an_error_before_any_request() -> None:
    url = "http://127.0.0.1:9"
    local = Settings(pihole_url=url, pihole_api=PiholeApi.DNS_LOCAL)

    assert [
        refused(lambda: open_session(Settings(), CLUSTER, SECRET)),
        refused(lambda: open_session(Settings(pihole_url=url), "", SECRET)),
        refused(lambda: open_session(local, CLUSTER, {"PIHOLE_API_TOKEN": "a\nb"})),
    ] == [
        (FailureClass.INVALID, None, "the URL of Pi-hole is not set: set pic:piholeUrl"),
        (
            FailureClass.INVALID,
            None,
            "the id of the cluster is unknown, and pic marks its records with it: set"
            " pic:clusterId",
        ),
        (
            FailureClass.AUTH,
            None,
            "PIHOLE_API_TOKEN contains characters that an HTTP header cannot hold: set it to"
            " printable ASCII on one line",
        ),
    ]
