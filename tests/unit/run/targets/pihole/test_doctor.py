"""Tests what the doctor finds in a Pi-hole, and in the provider that the engine starts for it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dev.pihole import Fault, PiHole
from dev.workspace import ROOT
from pic.core.findings import Finding, failed, passed, skipped
from pic.pihole import answers
from pic.pihole.lock import hold_lock
from pic.run.targets import plugin_check
from pic.run.targets.pihole import Pihole, doctor
from pic.settings.parse import PiholeApi, Settings, TargetName
from tests.support.doctor_contexts import FakeCheckout
from tests.support.pihole_fakes import CLUSTER, no_sleep, ours

APP = "of an app"
CLI = "of the command line"
PLUGIN = "plugins/pihole/pulumi-resource-pihole"
CHECK = ("pihole", "pihole plugin")
TLS = "pihole TLS"
CLEAR = passed(
    TLS,
    "without TLS, pic sends the password as plain text",
    "do this only in a network that you trust; otherwise set an https URL",
)
MISSING = failed(
    "pihole plugin",
    f"{PLUGIN} is missing",
    "copy it from pic's repository; Pulumi.yaml lists it under plugins",
    2,
)
MAY_WRITE = passed("pihole rights", "pic may write the local DNS records")
WITHOUT_LOGIN = [
    skipped(name, "the login failed")
    for name in ("pihole rights", "pihole seats", "pihole records")
]
UNANSWERED = [
    skipped(name, "Pi-hole does not answer")
    for name in ("pihole TLS", "pihole login", "pihole rights", "pihole seats", "pihole records")
]


@pytest.fixture
def checkout(tmp_path: Path) -> FakeCheckout:
    return FakeCheckout(tmp_path)


def settings(server: PiHole) -> Settings:
    return Settings(
        targets=(TargetName.PIHOLE,),
        cluster_id=CLUSTER,
        pihole_url=server.url,
        pihole_api=PiholeApi(server.api),
    )


def findings(
    checkout: FakeCheckout, selected: Settings, password: str | None, seconds: float = 10.0
) -> list[Finding]:
    """Return the findings on Pi-hole, without the finding on its provider."""
    environment = {} if password is None else {"PIHOLE_PASSWORD": password}
    context = checkout.context(environment, seconds=seconds)
    first, *others = doctor.examine(context, selected, no_sleep)
    assert first == MISSING
    return others


def findings_after_login(
    checkout: FakeCheckout, server: PiHole, password: str | None = None
) -> list[Finding]:
    """Return the findings after the first answer; the doctor must leave no session behind."""
    sessions = server.sessions
    results = findings(
        checkout, settings(server), server.password if password is None else password
    )
    assert results[:2] == [answering(server), CLEAR]
    assert (server.sessions, server.deaths, server.writes) == (sessions, [], 0)
    return results[2:]


def answering(server: PiHole) -> Finding:
    return passed("pihole", f"{server.url} answers with the interface {server.api}")


def test_a_healthy_pi_hole_passes_every_check(checkout: FakeCheckout) -> None:
    records = ["192.0.2.1 nas", ours("192.0.2.9", "web"), "192.0.2.9 old # k8s:another"]
    with PiHole(records=records) as server:
        assert findings_after_login(checkout, server) == [
            passed("pihole login", "it accepts the web password"),
            MAY_WRITE,
            passed("pihole seats", "0 of 16 sessions are in use, without this one"),
            passed(
                "pihole records",
                "1 belong to this cluster, 2 do not",
                "pic does not change the records that do not",
            ),
        ]


def test_24_the_doctor_counts_the_records_of_the_stack_and_of_earlier_versions(
    checkout: FakeCheckout,
) -> None:
    cluster = f"k8s:{CLUSTER[:8]}"
    own = f"192.0.2.2 own # {cluster}.01234567"
    records = [own, ours("192.0.2.9", "web"), f"192.0.2.3 app # {cluster}.fedcba98"]
    with PiHole(records=records) as server:
        chosen = replace(settings(server), stack_id="0123456789abcdef")

        assert findings(checkout, chosen, server.password)[-1] == passed(
            "pihole records",
            "1 belong to this stack, 1 do not, 1 have the marker that all stacks of the cluster"
            " share",
            "pic does not change the records that do not",
        )


def test_an_unreachable_pi_hole_fails_one_check_and_skips_the_others(
    checkout: FakeCheckout,
) -> None:
    with PiHole() as server:
        unreachable = settings(server)
    problem = "Connection refused; check that Pi-hole runs, and check pic:piholeUrl"

    assert findings(checkout, unreachable, "x") == [
        failed("pihole", f"no answer from {unreachable.pihole_url}: {problem}"),
        *UNANSWERED,
    ]


def test_a_missing_url_is_a_failure(checkout: FakeCheckout) -> None:
    missing = failed("pihole", "the URL of Pi-hole is not set: set pic:piholeUrl", exit_code=2)

    assert findings(checkout, Settings(targets=(TargetName.PIHOLE,)), "x") == [missing, *UNANSWERED]


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (Fault("answer", status=200, body={"hello": "world"}), 200, 2),
        (Fault("answer", status=404, body="Not here"), 404, 2),
        (Fault("answer", status=503), 503, 5),
    ],
)
def test_another_server_at_the_url_is_a_failure(
    checkout: FakeCheckout, fault: Fault, status: int, code: int
) -> None:
    with PiHole() as server:
        server.inject(fault)

        assert findings(checkout, settings(server), "x")[0] == failed(
            "pihole",
            f"{server.url} answers, but without the interface v6 (HTTP {status}): check"
            " pic:piholeUrl and pic:piholeApi",
            exit_code=code,
        )


def test_a_certificate_is_accepted_or_rejected_or_ignored(checkout: FakeCheckout) -> None:
    with PiHole(tls=True) as server:
        named = replace(settings(server), pihole_server_name="pi.hole")
        trusted = findings(checkout, replace(named, pihole_ca=str(server.ca)), server.password)
        refused = findings(checkout, named, server.password)
        insecure = findings(checkout, replace(named, pihole_insecure=True), server.password)

        assert trusted[1] == passed(TLS, "pic accepts the certificate")
        assert insecure[1] == passed(
            TLS,
            "pic accepts any certificate, because of pic:piholeInsecure",
            "set pic:piholeCa and pic:piholeServerName instead",
        )
        assert [refused[0], *refused[2:]] == [
            skipped("pihole", "Pi-hole does not answer"),
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
def test_a_rejected_password_is_a_failure(
    checkout: FakeCheckout, server: Callable[[], PiHole], password: str | None, problem: str
) -> None:
    with server() as pihole:
        assert findings_after_login(checkout, pihole, password) == [
            failed("pihole login", problem, exit_code=2),
            *WITHOUT_LOGIN,
        ]


def test_a_missing_password_is_a_failure(checkout: FakeCheckout) -> None:
    with PiHole() as server:
        assert findings(checkout, settings(server), None)[2:] == [
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
            "an app password",
            failed("pihole rights", answers.APP_SESSION_READS_ONLY, exit_code=2),
        ),
        (
            lambda: PiHole(app_password=APP, app_sudo=True),
            APP,
            "an app password",
            MAY_WRITE,
        ),
        (
            lambda: PiHole(cli_password=CLI),
            CLI,
            "its CLI password",
            failed("pihole rights", answers.CLI_SESSION_READS_ONLY, exit_code=2),
        ),
        (
            lambda: PiHole(read_only=True),
            None,
            "the web password",
            failed("pihole rights", answers.READ_ONLY, exit_code=2),
        ),
        (
            lambda: PiHole(read_only=True, environment=["misc.readOnly"]),
            None,
            "the web password",
            failed("pihole rights", answers.READ_ONLY_BY_VARIABLE, exit_code=2),
        ),
        (
            lambda: PiHole(app_password=APP, environment=["webserver.api.app_sudo"]),
            APP,
            "an app password",
            failed("pihole rights", answers.APP_SUDO_BY_VARIABLE, exit_code=2),
        ),
        (
            lambda: PiHole(env_hosts=True),
            None,
            "the web password",
            failed("pihole rights", answers.ENVIRONMENT, exit_code=2),
        ),
    ],
    ids=[
        *("app", "app with sudo", "cli", "read-only", "read-only by a variable"),
        *("app_sudo by a variable", "environment"),
    ],
)
def test_the_rights_of_a_password_are_known_before_a_write(
    checkout: FakeCheckout,
    server: Callable[[], PiHole],
    password: str | None,
    login: str,
    rights: Finding,
) -> None:
    with server() as pihole:
        assert findings_after_login(checkout, pihole, password)[:2] == [
            passed("pihole login", f"it accepts {login}"),
            rights,
        ]


def test_a_pi_hole_without_a_password_accepts_any_password(checkout: FakeCheckout) -> None:
    with PiHole(password="") as server:
        assert findings_after_login(checkout, server, "any text") == [
            passed("pihole login", "it accepts any password, because it has none"),
            MAY_WRITE,
            passed("pihole seats", "0 of 16 sessions are in use, without this one"),
            passed("pihole records", "0 belong to this cluster, 0 do not"),
        ]


def test_the_last_free_session_is_advice_and_none_is_a_failure(checkout: FakeCheckout) -> None:
    with PiHole(max_sessions=2) as server:
        server.occupy(1)
        last = findings_after_login(checkout, server)
        server.occupy(1)
        none = findings_after_login(checkout, server)

        assert last[2] == passed(
            "pihole seats",
            "1 of 2 sessions are in use, without this one",
            "log out of some sessions in Settings, Web interface / API",
        )
        assert none == [failed("pihole login", answers.SEATS), *WITHOUT_LOGIN]


def test_a_pi_hole_with_one_session_is_advice_about_the_setting(checkout: FakeCheckout) -> None:
    with PiHole(max_sessions=1) as server:
        assert findings_after_login(checkout, server)[2] == passed(
            "pihole seats",
            "0 of 1 sessions are in use, without this one",
            "raise webserver.api.max_sessions: pic needs a session next to the web interface",
        )


def test_a_malformed_line_by_hand_blocks_every_write(checkout: FakeCheckout) -> None:
    with PiHole() as server:
        server.lines = [ours("192.0.2.9", "web"), "10.0.0.2 nas ."]

        assert findings_after_login(checkout, server)[-1] == failed(
            "pihole records",
            "Pi-hole refuses every change because of dns.hosts[1], '10.0.0.2 nas .': '.' is no host"
            " name. Correct or remove the line in pihole.toml or in the web interface",
            exit_code=2,
        )


def test_what_answers_in_place_of_a_record_and_a_full_list_are_advice(
    checkout: FakeCheckout,
) -> None:
    long = [f"192.0.2.1 {'x' * 60}.host-{number}.lan" for number in range(700)]
    with PiHole(records=[ours("192.0.2.9", "web"), *long], cname_records=["web,nas"]) as server:
        assert findings_after_login(checkout, server)[-1] == passed(
            "pihole records",
            "1 belong to this cluster, 700 do not",
            "pic does not change the records that do not; web has no effect: Pi-hole answers with"
            " nas, a CNAME of dns.cnameRecords; the list takes 93% of what fits into one request:"
            " beyond that, pic changes it line by line, so use fewer lines or another Pi-hole for"
            " other stacks",
        )


def test_a_failed_request_stops_no_other_check_and_leaves_no_session(
    checkout: FakeCheckout,
) -> None:
    with PiHole() as server:
        server.inject(Fault("answer", path="max_sessions", status=404, body={}))

        assert findings_after_login(checkout, server)[2:] == [
            failed(
                "pihole seats",
                "reading its configuration failed: Pi-hole answered 404",
            ),
            passed("pihole records", "0 belong to this cluster, 0 do not"),
        ]


def test_without_a_cluster_id_the_records_are_only_counted(checkout: FakeCheckout) -> None:
    with PiHole(records=["192.0.2.1 nas"]) as server:
        selected = replace(settings(server), cluster_id="")

        assert findings(checkout, selected, server.password)[-1] == skipped(
            "pihole records", "1; without pic:clusterId, pic cannot say which ones are its own"
        )


def test_the_doctor_waits_for_another_run_and_does_not_disturb_it(checkout: FakeCheckout) -> None:
    with PiHole() as server, hold_lock(server.url):
        results = findings(checkout, settings(server), server.password, seconds=0.1)

        assert [finding.verdict for finding in results[2:]] == [
            "fail",
            "skipped",
            "skipped",
            "skipped",
        ]
        assert "has worked with" in results[2].message
        assert [entry.path for entry in server.log] == ["/api/auth"]


def test_the_interface_dns_local_checks_the_token_only(checkout: FakeCheckout) -> None:
    with PiHole(api="dns-local", records=["192.0.2.1 nas"]) as server:
        assert findings_after_login(checkout, server) == [
            passed("pihole login", "it accepts the token"),
            skipped("pihole rights", "this interface does not show them before a write"),
            skipped("pihole seats", "this interface has no sessions"),
            passed(
                "pihole records",
                "1; only the register and the state show which ones belong to pic",
            ),
        ]
        assert findings_after_login(checkout, server, "wrong")[0] == failed(
            "pihole login",
            "the request failed: Pi-hole answered 401: set PIHOLE_API_TOKEN to a token that"
            " Pi-hole accepts",
            exit_code=2,
        )


def test_no_finding_contains_the_password(checkout: FakeCheckout) -> None:
    with PiHole(app_password=APP) as server:
        for password in (server.password, APP, "something wrong"):
            assert password not in repr(findings(checkout, settings(server), password))


def test_the_provider_starts_on_this_python(checkout: FakeCheckout) -> None:
    context = checkout.context(root=ROOT, seconds=60.0)

    assert list(plugin_check.examine(context, *CHECK)) == [
        passed("pihole plugin", f"{PLUGIN} starts")
    ]


@pytest.mark.parametrize(
    ("script", "seconds", "problem"),
    [
        ("echo no module named pulumi >&2; exit 1", 60.0, "no module named pulumi"),
        ("exec sleep 600", 0.1, "it does not print its port"),
        ("echo hello", 60.0, "it does not print its port"),
    ],
)
def test_a_provider_that_does_not_start_is_a_failure_and_is_killed(
    checkout: FakeCheckout, script: str, seconds: float, problem: str
) -> None:
    checkout.write(PLUGIN, f"#!/bin/sh\n{script}\n")
    (checkout.root / PLUGIN).chmod(0o755)

    assert list(plugin_check.examine(checkout.context(seconds=seconds), *CHECK)) == [
        failed(
            "pihole plugin",
            f"{PLUGIN} does not start: {problem}",
            "install requirements.txt for this Python",
        )
    ]


def test_a_provider_must_be_executable(checkout: FakeCheckout) -> None:
    checkout.write(PLUGIN, "")

    assert list(plugin_check.examine(checkout.context(), *CHECK)) == [
        failed("pihole plugin", f"{PLUGIN} is not executable", f"chmod +x {PLUGIN}", 2)
    ]


def test_the_target_examines_its_plugin_and_its_pi_hole(checkout: FakeCheckout) -> None:
    with PiHole() as server:
        context = checkout.context({"PIHOLE_PASSWORD": server.password})
        examined = list(Pihole().examine(context, settings(server)))

    assert examined[:3] == [MISSING, answering(server), CLEAR]
