"""The doctor on a Pi-hole, and on the provider that the engine starts for it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from dev.pihole import Fault, PiHole
from dev.workspace import ROOT
from pic.core.findings import (
    Finding,
    failed,
    passed,
    skipped,
)
from pic.pihole import answers
from pic.pihole.connect import SessionTimeouts
from pic.pihole.lock import hold_lock
from pic.run.targets.pihole import doctor, plugin_check
from pic.settings.parse import PiholeApi, Settings, TargetName
from tests.support.doctor_contexts import Clinic
from tests.support.pihole_fakes import CLUSTER, no_sleep, ours

APP = "of an app"
CLI = "of the command line"
PLUGIN = "plugins/pihole/pulumi-resource-pihole"
TLS = "pihole TLS"
CLEAR = passed(
    TLS,
    "there is none: the password is sent in the clear",
    "for a network that you trust; else an https URL in pic:piholeUrl",
)
MISSING = failed(
    "pihole plugin",
    f"{PLUGIN} is missing",
    "take it over from pic's repository; Pulumi.yaml names it under plugins",
    2,
)
MAY_WRITE = passed("pihole rights", "its local DNS records may be written")
WITHOUT_LOGIN = [
    skipped(name, "nobody is logged in")
    for name in ("pihole rights", "pihole seats", "pihole records")
]
UNANSWERED = [
    skipped(name, "Pi-hole cannot be asked")
    for name in ("pihole TLS", "pihole login", "pihole rights", "pihole seats", "pihole records")
]


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    monkeypatch.setattr(doctor, "SessionTimeouts", partial(SessionTimeouts, sleep=no_sleep))
    return Clinic(tmp_path)


def settings(server: PiHole) -> Settings:
    return Settings(
        targets=(TargetName.PIHOLE,),
        cluster_id=CLUSTER,
        pihole_url=server.url,
        pihole_api=PiholeApi(server.api),
    )


def found(
    clinic: Clinic, chosen: Settings, password: str | None, seconds: float = 10.0
) -> list[Finding]:
    """What is found but for the provider, which no test of Pi-hole is about."""
    environment = {} if password is None else {"PIHOLE_PASSWORD": password}
    context = clinic.context(environment, seconds=seconds)
    first, *others = doctor.examine(context, chosen)
    assert first == MISSING
    return others


def inside(clinic: Clinic, server: PiHole, password: str | None = None) -> list[Finding]:
    """What is found once Pi-hole has answered; whatever that is, no session is left."""
    taken = server.sessions
    known = found(clinic, settings(server), server.password if password is None else password)
    assert known[:2] == [answering(server), CLEAR]
    assert (server.sessions, server.deaths, server.writes) == (taken, [], 0)
    return known[2:]


def answering(server: PiHole) -> Finding:
    return passed("pihole", f"{server.url} answers in the interface {server.api}")


def test_a_pi_hole_in_which_all_is_well(clinic: Clinic) -> None:
    records = ["192.0.2.1 nas", ours("192.0.2.9", "web"), "192.0.2.9 old # k8s:another"]
    with PiHole(records=records) as server:
        assert inside(clinic, server) == [
            passed("pihole login", "it is entered with the web password"),
            MAY_WRITE,
            passed("pihole seats", "1 of 16 sessions are in use"),
            passed(
                "pihole records",
                "1 of this cluster, 2 of others",
                "those of others stay as they are",
            ),
        ]


def test_a_pi_hole_that_is_away_is_asked_once(clinic: Clinic) -> None:
    with PiHole() as server:
        gone = settings(server)
    problem = "Connection refused; check that Pi-hole runs, and check pic:piholeUrl"

    assert found(clinic, gone, "x") == [
        failed("pihole", f"no answer from {gone.pihole_url}: {problem}"),
        *UNANSWERED,
    ]


def test_where_it_is_must_be_known(clinic: Clinic) -> None:
    told = failed("pihole", "the URL of Pi-hole is not set: set pic:piholeUrl", exit_code=2)

    assert found(clinic, Settings(targets=(TargetName.PIHOLE,)), "x") == [told, *UNANSWERED]


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (Fault("answer", status=200, body={"hello": "world"}), 200, 2),
        (Fault("answer", status=404, body="Not here"), 404, 2),
        (Fault("answer", status=503), 503, 5),
    ],
)
def test_something_else_at_that_place_is_told(
    clinic: Clinic, fault: Fault, status: int, code: int
) -> None:
    with PiHole() as server:
        server.inject(fault)

        assert found(clinic, settings(server), "x")[0] == failed(
            "pihole",
            f"{server.url} answers, but not in the interface v6 (HTTP {status}): check"
            " pic:piholeUrl and pic:piholeApi",
            exit_code=code,
        )


def test_a_certificate_is_accepted_refused_or_not_looked_at(clinic: Clinic) -> None:
    with PiHole(tls=True) as server:
        named = replace(settings(server), pihole_server_name="pi.hole")
        trusted = found(clinic, replace(named, pihole_ca=str(server.ca)), server.password)
        refused = found(clinic, named, server.password)
        insecure = found(clinic, replace(named, pihole_insecure=True), server.password)

        assert trusted[1] == passed(TLS, "the certificate is accepted")
        assert insecure[1] == passed(
            TLS,
            "any certificate is accepted, by pic:piholeInsecure",
            "set pic:piholeCa and pic:piholeServerName instead",
        )
        assert [refused[0], *refused[2:]] == [
            skipped("pihole", "Pi-hole cannot be asked"),
            *UNANSWERED[1:],
        ]
        assert (refused[1].name, refused[1].verdict, refused[1].exit_code) == (TLS, "fail", 2)
        assert "Set pic:piholeCa to a file" in refused[1].message


@pytest.mark.parametrize(
    ("server", "password", "problem"),
    [
        (PiHole, "wrong", answers.WRONG_PASSWORD),
        (lambda: PiHole(totp="123456"), None, answers.SECOND_FACTOR),
    ],
    ids=["wrong", "second factor"],
)
def test_a_password_that_is_not_accepted_opens_nothing(
    clinic: Clinic, server: Callable[[], PiHole], password: str | None, problem: str
) -> None:
    with server() as made:
        assert inside(clinic, made, password) == [
            failed("pihole login", problem, exit_code=2),
            *WITHOUT_LOGIN,
        ]


def test_without_a_password_nobody_logs_in(clinic: Clinic) -> None:
    with PiHole() as server:
        assert found(clinic, settings(server), None)[2:] == [
            failed(
                "pihole login",
                "PIHOLE_PASSWORD is not set: set it (or PIHOLE_API_TOKEN) to a password of Pi-hole,"
                " preferably an app password; a Pi-hole without a password accepts any text",
                exit_code=2,
            ),
            *WITHOUT_LOGIN,
        ]


@pytest.mark.parametrize(
    ("server", "password", "login", "rights"),
    [
        (
            lambda: PiHole(app_password=APP),
            APP,
            "with an app password",
            failed("pihole rights", answers.APP_MAY_NOT, exit_code=2),
        ),
        (
            lambda: PiHole(app_password=APP, app_sudo=True),
            APP,
            "with an app password",
            MAY_WRITE,
        ),
        (
            lambda: PiHole(cli_password=CLI),
            CLI,
            "with its CLI password",
            failed("pihole rights", answers.CLI_MAY_NOT, exit_code=2),
        ),
        (
            lambda: PiHole(read_only=True),
            None,
            "with the web password",
            failed("pihole rights", answers.READ_ONLY, exit_code=2),
        ),
        (
            lambda: PiHole(env_hosts=True),
            None,
            "with the web password",
            failed("pihole rights", answers.ENVIRONMENT, exit_code=2),
        ),
    ],
    ids=["app", "app with sudo", "cli", "read-only", "environment"],
)
def test_who_may_write_is_known_before_a_write(
    clinic: Clinic,
    server: Callable[[], PiHole],
    password: str | None,
    login: str,
    rights: Finding,
) -> None:
    with server() as made:
        assert inside(clinic, made, password)[:2] == [
            passed("pihole login", f"it is entered {login}"),
            rights,
        ]


def test_a_pi_hole_without_a_password_has_no_sessions_to_count(clinic: Clinic) -> None:
    with PiHole(password="") as server:
        assert inside(clinic, server, "any text") == [
            passed("pihole login", "it is entered without a password, since it has none"),
            MAY_WRITE,
            passed("pihole seats", "0 of 16 sessions are in use"),
            passed("pihole records", "0 of this cluster, 0 of others"),
        ]


def test_the_last_seat_is_advice_and_no_seat_is_a_failure(clinic: Clinic) -> None:
    with PiHole(max_sessions=2) as server:
        server.occupy(1)
        last = inside(clinic, server)
        server.occupy(1)
        none = inside(clinic, server)

        assert last[2] == passed(
            "pihole seats",
            "2 of 2 sessions are in use",
            "log out of some in Settings, Web interface / API",
        )
        assert none == [failed("pihole login", answers.SEATS), *WITHOUT_LOGIN]


def test_what_cannot_be_read_hides_nothing_and_leaves_no_session(clinic: Clinic) -> None:
    with PiHole() as server:
        server.inject(Fault("answer", path="max_sessions", status=404, body={}))

        assert inside(clinic, server)[2:] == [
            failed(
                "pihole seats",
                "reading its configuration failed: Pi-hole answered 404",
            ),
            passed("pihole records", "0 of this cluster, 0 of others"),
        ]


def test_without_the_id_of_the_cluster_nobody_knows_whose_records_are(clinic: Clinic) -> None:
    with PiHole(records=["192.0.2.1 nas"]) as server:
        chosen = replace(settings(server), cluster_id="")

        assert found(clinic, chosen, server.password)[-1] == skipped(
            "pihole records", "1; pic:clusterId is not set, which tells ours"
        )


def test_another_run_is_waited_for_and_not_disturbed(clinic: Clinic) -> None:
    with PiHole() as server, hold_lock(server.url):
        asked = found(clinic, settings(server), server.password, seconds=0.1)

        assert [each.verdict for each in asked[2:]] == ["fail", "skipped", "skipped", "skipped"]
        assert "has worked with" in asked[2].message
        assert [each.path for each in server.log] == ["/api/auth"]


def test_the_other_interface_shows_that_its_token_is_right(clinic: Clinic) -> None:
    with PiHole(api="dns-local", records=["192.0.2.1 nas"]) as server:
        assert inside(clinic, server) == [
            passed("pihole login", "the token is accepted"),
            skipped("pihole rights", "this interface does not tell them before a write"),
            skipped("pihole seats", "this interface has no sessions"),
            passed("pihole records", "1; whose they are, the annotations of Ingresses tell"),
        ]
        assert inside(clinic, server, "wrong")[0] == failed(
            "pihole login",
            "the request failed: Pi-hole answered 401: set PIHOLE_API_TOKEN to a token that"
            " Pi-hole accepts",
            exit_code=2,
        )


def test_no_finding_has_the_password(clinic: Clinic) -> None:
    with PiHole(app_password=APP) as server:
        for password in (server.password, APP, "something wrong"):
            assert password not in repr(found(clinic, settings(server), password))


def test_the_provider_starts_on_this_python(clinic: Clinic) -> None:
    context = clinic.context(root=ROOT, seconds=60.0)

    assert list(plugin_check.examine(context)) == [passed("pihole plugin", f"{PLUGIN} starts")]


@pytest.mark.parametrize(
    ("script", "seconds", "problem"),
    [
        ("echo no module named pulumi >&2; exit 1", 60.0, "no module named pulumi"),
        ("exec sleep 600", 0.1, "it tells no port"),
        ("echo hello", 60.0, "it tells no port"),
    ],
)
def test_a_provider_that_does_not_start_is_told_and_ended(
    clinic: Clinic, script: str, seconds: float, problem: str
) -> None:
    clinic.write(PLUGIN, f"#!/bin/sh\n{script}\n")
    (clinic.root / PLUGIN).chmod(0o755)

    assert list(plugin_check.examine(clinic.context(seconds=seconds))) == [
        failed(
            "pihole plugin",
            f"{PLUGIN} does not start: {problem}",
            "install the requirements for this Python",
        )
    ]


def test_a_provider_must_be_executable(clinic: Clinic) -> None:
    clinic.write(PLUGIN, "")

    assert list(plugin_check.examine(clinic.context())) == [
        failed("pihole plugin", f"{PLUGIN} is not executable", f"chmod +x {PLUGIN}", 2)
    ]
