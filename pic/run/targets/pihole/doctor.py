"""Checks Pi-hole: does it answer, does the password work, and may pic write its DNS records?

The doctor logs in as a run does, reads only, and logs out again.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pic.core.errors import FailureClass, PiholeError
from pic.core.findings import UNREACHABLE, USAGE, Finding, failed, passed, run_check, skipped
from pic.core.json_values import mapping, sequence
from pic.core.model import LiveRecord
from pic.pihole import answers, connect, dns_local, hosts_lines, requests, v6
from pic.pihole import lines as hosts_line
from pic.pihole.connect import SessionTimeouts
from pic.pihole.hosts_lines import Rules
from pic.pihole.http import Client, HttpTimeouts
from pic.pihole.lock import LockTimeouts
from pic.pihole.v6_session import Session
from pic.run.doctor_context import DoctorContext
from pic.run.targets import plugin_check
from pic.run.targets.pihole import remembered
from pic.settings.parse import PiholeApi, Settings

PLUGIN = "pihole plugin"
REACHED, TLS, LOGIN = "pihole", "pihole TLS", "pihole login"
RIGHTS, SEATS, RECORDS = "pihole rights", "pihole seats", "pihole records"
CHECKS = (TLS, LOGIN, RIGHTS, SEATS, RECORDS)
AFTER_LOGIN = (RIGHTS, SEATS, RECORDS)

CONNECT_SECONDS = 5.0
AUTH = "/api/auth"
SESSIONS = "/api/auth/sessions"
API = "/api/config/webserver/api"
WEB, APP, CLI = "the web password", "an app password", "its CLI password"
ANY = "any password, because it has none"
_NEARLY_FULL = 0.8
_OURS, _LEGACY, _OTHERS = "ours", "legacy", "others"
# The status codes of the interface for a client that has not logged in.
_STATUS_BEFORE_LOGIN = (200, 401, 403)


@dataclass(frozen=True, slots=True)
class _Connection:
    """A Pi-hole, and what is needed to log in."""

    client: Client
    settings: Settings
    environment: Mapping[str, str]
    timeouts: SessionTimeouts


def examine(
    context: DoctorContext, settings: Settings, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Finding]:
    """Yield the findings on the Pi-hole of a stack.

    Args:
        context: The environment with the password, and how long an answer may take.
        settings: Where Pi-hole is.
        sleep: Waits between two attempts to log in.
    """
    yield from run_check(PLUGIN, lambda: plugin_check.examine(context, "pihole", PLUGIN))
    http = HttpTimeouts(CONNECT_SECONDS, context.seconds)
    timeouts = SessionTimeouts(LockTimeouts(context.seconds), http, sleep)
    try:
        client = connect.new_client(settings, timeouts)
        connection = _Connection(client, settings, context.environment, timeouts)
        answer = _interface(connection)
    except PiholeError as error:
        yield from _no_answer(error)
        return
    yield answer
    yield _tls(connection)
    login = _v6 if settings.pihole_api is PiholeApi.V6 else _dns_local
    yield from login(connection)


def _no_answer(error: PiholeError) -> Iterator[Finding]:
    # Nothing but the certificate can be a matter of trust before a login.
    failing = TLS if error.kind is FailureClass.AUTH else REACHED
    for name in (REACHED, *CHECKS):
        if name == failing:
            yield _failed(name, error)
        else:
            yield skipped(name, "Pi-hole does not answer")


def _failed(name: str, error: PiholeError) -> Finding:
    """Return the finding for an error of Pi-hole or its client. Its message names the remedy."""
    code = USAGE if error.kind in (FailureClass.AUTH, FailureClass.INVALID) else UNREACHABLE
    return failed(name, str(error), exit_code=code)


def _interface(connection: _Connection) -> Finding:
    """Return that Pi-hole answers with the interface of the settings.

    Raises:
        PiholeError: It does not.
    """
    client, api = connection.client, connection.settings.pihole_api
    is_v6 = api is PiholeApi.V6
    answer = client.send("GET", AUTH if is_v6 else dns_local.RECORDS_PATH)
    if answer.status not in _STATUS_BEFORE_LOGIN or (is_v6 and "session" not in answer.data):
        raise PiholeError(
            f"{client.url} answers, but without the interface {api.value} (HTTP {answer.status}):"
            " check pic:piholeUrl and pic:piholeApi",
            kind=FailureClass.INVALID if answer.status < 500 else FailureClass.TEMPORARY,
        )
    return passed(REACHED, f"{client.url} answers with the interface {api.value}")


def _tls(connection: _Connection) -> Finding:
    if not connection.client.url.startswith("https://"):
        advice = "do this only in a network that you trust; otherwise set an https URL"
        return passed(TLS, "without TLS, pic sends the password as plain text", advice)
    if connection.settings.pihole_insecure:
        advice = "set pic:piholeCa and pic:piholeServerName instead"
        return passed(TLS, "pic accepts any certificate, because of pic:piholeInsecure", advice)
    return passed(TLS, "pic accepts the certificate")


def _v6(connection: _Connection) -> Iterator[Finding]:
    """Log in, read, and log out, while no other run on this machine uses this Pi-hole."""
    findings = []
    client, environment = connection.client, connection.environment
    try:
        with connect.logged_in(client, environment, connection.timeouts) as session:
            # The session must not stay open while the caller handles a finding.
            findings = list(_session(session, connection.settings, environment))
    except PiholeError as error:
        yield _failed(LOGIN, error)
        yield from (skipped(name, "the login failed") for name in AFTER_LOGIN)
    yield from findings


def _session(
    session: Session, settings: Settings, environment: Mapping[str, str]
) -> Iterator[Finding]:
    content = session.get(SESSIONS, "reading its sessions")
    entries = [mapping(entry, "session") for entry in sequence(content.get("sessions"), "sessions")]
    own = next((entry for entry in entries if entry.get("current_session") is True), None)
    password = _password_kind(own)
    yield passed(LOGIN, f"it accepts {password}")
    yield from run_check(RIGHTS, lambda: _rights(session, password))
    yield from run_check(SEATS, lambda: _seats(session, len(entries) - (own is not None)))
    yield from run_check(RECORDS, lambda: _records(session, settings, environment))


def _password_kind(session: Mapping[str, object] | None) -> str:
    if session is None:
        # A Pi-hole without a password does not count sessions.
        return ANY
    return CLI if session.get("cli") is True else APP if session.get("app") is True else WEB


def _rights(session: Session, password: str) -> Iterator[Finding]:
    problem = ""
    if password == CLI:
        problem = answers.CLI_SESSION_READS_ONLY
    elif password == APP and not _setting(session, "app_sudo"):
        by_variable = _setting(session, "app_sudo", "flags", "env_var") is True
        problem = answers.APP_SUDO_BY_VARIABLE if by_variable else answers.APP_SESSION_READS_ONLY
    if problem:
        yield failed(RIGHTS, problem, exit_code=USAGE)
        return
    try:
        v6.check_rights(session)
    except PiholeError as error:
        yield _failed(RIGHTS, error)
        return
    yield passed(RIGHTS, "pic may write the local DNS records")


def _seats(session: Session, used: int) -> Iterator[Finding]:
    """Judge the sessions of others: the one of the doctor ends at once."""
    limit = _setting(session, "max_sessions")
    message, advice = f"{used} of {limit} sessions are in use, without this one", ""
    if limit == 1:
        advice = "raise webserver.api.max_sessions: pic needs a session next to the web interface"
    elif used and limit == used + 1:
        advice = "log out of some sessions in Settings, Web interface / API"
    yield passed(SEATS, message, advice)


def _setting(session: Session, name: str, *detail: str) -> object:
    """Return a setting of the API, or with `detail` what Pi-hole says about it."""
    query = "?detailed=true" if detail else ""
    answer = session.get(f"{API}/{name}{query}", "reading its configuration")
    return v6.config_value(answer, "webserver", "api", name, *detail)


def _records(
    session: Session, settings: Settings, environment: Mapping[str, str]
) -> Iterator[Finding]:
    rules = hosts_lines.rules_for(settings.cluster_id, settings.stack_id)
    pihole = v6.V6(session, rules)
    lines = pihole.lines()
    if blocked := _blocking(lines):
        yield failed(RECORDS, blocked, exit_code=USAGE)
        return
    records = hosts_lines.records(lines, rules)
    if not settings.cluster_id:
        message = f"{len(records)}; without pic:clusterId, pic cannot say which ones are its own"
        yield skipped(RECORDS, message)
        return
    counts = Counter(_owner(record) for record in records)
    whose = "stack" if settings.stack_id else "cluster"
    message = f"{counts[_OURS]} belong to this {whose}, {counts[_OTHERS]} do not"
    if counts[_LEGACY]:
        message += f", {counts[_LEGACY]} have the marker that all stacks of the cluster share"
    advice = ["pic does not change the records that do not"] if counts[_OTHERS] else []
    shadows = pihole.shadows()
    shadowed = sorted({it.host for it in records if it.ours and it.host in shadows})
    advice += [f"{host} has no effect: Pi-hole answers with {shadows[host]}" for host in shadowed]
    advice += [*_fullness(lines, rules), *_lost(remembered.lost(records, settings, environment))]
    yield passed(RECORDS, message, "; ".join(advice))


def _lost(names: Sequence[str]) -> Iterator[str]:
    """Yield advice on records that Pi-hole has lost, as one does that cannot save them."""
    if names:
        yield (
            f"{len(names)} that the register has are missing, such as {names[0]}: run pic up, and"
            " if they are missing again after each start of Pi-hole, mount the folder /etc/pihole"
            " and not the file pihole.toml"
        )


def _blocking(lines: Sequence[str]) -> str:
    """Return what is wrong with the first line for which Pi-hole refuses every change."""
    for index, text in enumerate(lines):
        if problem := hosts_line.problem(text):
            return (
                f"Pi-hole refuses every change because of dns.hosts[{index}], {text!r}: {problem}."
                " Correct or remove the line in pihole.toml or in the web interface"
            )
    return ""


def _fullness(lines: Sequence[str], rules: Rules) -> Iterator[str]:
    """Yield advice on a list that soon does not fit into one request."""
    share = requests.list_size(hosts_line.compact(lines, rules.marker)) / requests.LARGEST_BODY
    if share > _NEARLY_FULL:
        yield (
            f"the list takes {share:.0%} of what fits into one request: beyond that, pic changes it"
            " line by line, so use fewer lines or another Pi-hole for other stacks"
        )


def _owner(record: LiveRecord) -> str:
    if record.legacy:
        return _LEGACY
    return _OURS if record.ours else _OTHERS


def _dns_local(connection: _Connection) -> Iterator[Finding]:
    """Read the records: this interface offers nothing else to check."""
    settings = connection.settings
    try:
        # Reading needs no cluster id, but a session asks for one.
        reading = connect.read(
            settings,
            settings.cluster_id or "unknown",
            connection.environment,
            connection.timeouts,
        )
    except PiholeError as error:
        yield _failed(LOGIN, error)
        yield from (skipped(name, "the login failed") for name in AFTER_LOGIN)
        return
    yield passed(LOGIN, "it accepts the token")
    yield skipped(RIGHTS, "this interface does not show them before a write")
    yield skipped(SEATS, "this interface has no sessions")
    message = (
        f"{len(reading.records)}; only the register and the state show which ones belong to pic"
    )
    yield passed(RECORDS, message)
