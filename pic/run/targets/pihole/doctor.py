"""Checks Pi-hole, where it is a target: that it can be entered, written and left again."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pic.core.errors import FailureClass, PiholeError
from pic.core.findings import (
    UNREACHABLE,
    USAGE,
    Finding,
    failed,
    passed,
    run_check,
    skipped,
)
from pic.core.json_values import mapping, sequence
from pic.pihole import (
    answers,
    connect,
    dns_local,
    hosts_lines,
    v6,
)
from pic.pihole.connect import SessionTimeouts
from pic.pihole.http import Client, HttpTimeouts
from pic.pihole.lock import LockTimeouts
from pic.pihole.v6_session import Session
from pic.run.doctor_context import DoctorContext
from pic.run.targets.pihole import plugin_check
from pic.settings.parse import PiholeApi, Settings

REACHED, TLS, LOGIN = "pihole", "pihole TLS", "pihole login"
RIGHTS, SEATS, RECORDS = "pihole rights", "pihole seats", "pihole records"
CHECKS = (TLS, LOGIN, RIGHTS, SEATS, RECORDS)

CONNECT_SECONDS = 5.0
AUTH = "/api/auth"
SESSIONS = "/api/auth/sessions"
API = "/api/config/webserver/api"
# What an interface answers whoever has not logged in.
_SPEAKS = (200, 401, 403)


@dataclass(frozen=True, slots=True)
class _Visit:
    """One look at a Pi-hole."""

    client: Client
    settings: Settings
    environment: Mapping[str, str]
    timeouts: SessionTimeouts


def examine(context: DoctorContext, settings: Settings) -> Iterator[Finding]:
    """Yield what is to be said of the Pi-hole of a stack."""
    yield from run_check(plugin_check.NAME, lambda: plugin_check.examine(context))
    http = HttpTimeouts(CONNECT_SECONDS, context.seconds)
    timeouts = SessionTimeouts(LockTimeouts(context.seconds), http)
    try:
        visit = _Visit(
            connect.new_client(settings, timeouts), settings, context.environment, timeouts
        )
        found = _speaking(visit)
    except PiholeError as error:
        yield from _unanswered(error)
        return
    yield found
    yield _encrypted(visit)
    inside = _v6 if settings.pihole_api is PiholeApi.V6 else _dns_local
    yield from inside(visit)


def _unanswered(error: PiholeError) -> Iterator[Finding]:
    # Before a login only a certificate is a matter of trust.
    failing = TLS if error.kind is FailureClass.AUTH else REACHED
    for name in (REACHED, *CHECKS):
        if name == failing:
            yield _refused(name, error)
        else:
            yield skipped(name, "Pi-hole cannot be asked")


def _refused(name: str, error: PiholeError) -> Finding:
    """Return what Pi-hole or its client said, which names the remedy."""
    code = USAGE if error.kind in (FailureClass.AUTH, FailureClass.INVALID) else UNREACHABLE
    return failed(name, str(error), exit_code=code)


def _speaking(visit: _Visit) -> Finding:
    """Return that Pi-hole answers in the interface that is set.

    Raises:
        PiholeError: It does not.
    """
    client, api = visit.client, visit.settings.pihole_api
    is_v6 = api is PiholeApi.V6
    answer = client.send("GET", AUTH if is_v6 else dns_local.LOCAL)
    if answer.status not in _SPEAKS or (is_v6 and "session" not in answer.data):
        raise PiholeError(
            f"{client.url} answers, but not in the interface {api.value} (HTTP {answer.status}):"
            " check pic:piholeUrl and pic:piholeApi",
            kind=FailureClass.INVALID if answer.status < 500 else FailureClass.TEMPORARY,
        )
    return passed(REACHED, f"{client.url} answers in the interface {api.value}")


def _encrypted(visit: _Visit) -> Finding:
    if not visit.client.url.startswith("https://"):
        advice = "for a network that you trust; else an https URL in pic:piholeUrl"
        return passed(TLS, "there is none: the password is sent in the clear", advice)
    if visit.settings.pihole_insecure:
        advice = "set pic:piholeCa and pic:piholeServerName instead"
        return passed(TLS, "any certificate is accepted, by pic:piholeInsecure", advice)
    return passed(TLS, "the certificate is accepted")


def _v6(visit: _Visit) -> Iterator[Finding]:
    """Log in, look, and log out, as the only pic of this machine."""
    found = []
    try:
        with connect.logged_in(visit.client, visit.environment, visit.timeouts) as session:
            found = list(_within(session, visit.settings))
    except PiholeError as error:
        yield _refused(LOGIN, error)
        yield from (skipped(name, "nobody is logged in") for name in (RIGHTS, SEATS, RECORDS))
    yield from found


def _within(session: Session, settings: Settings) -> Iterator[Finding]:
    told = session.get(SESSIONS, "reading its sessions")
    seats = [mapping(each, "session") for each in sequence(told.get("sessions"), "sessions")]
    ours = next((each for each in seats if each.get("current_session") is True), None)
    kind = _kind(ours)
    yield passed(LOGIN, f"it is entered {kind}")
    yield from run_check(RIGHTS, lambda: _rights(session, kind))
    yield from run_check(SEATS, lambda: _seats(session, len(seats)))
    yield from run_check(RECORDS, lambda: _records(session, settings.cluster_id))


WEB, APP, CLI = "with the web password", "with an app password", "with its CLI password"
OPEN = "without a password, since it has none"


def _kind(session: Mapping[str, object] | None) -> str:
    if session is None:
        return OPEN
    return CLI if session.get("cli") is True else APP if session.get("app") is True else WEB


def _rights(session: Session, kind: str) -> Iterator[Finding]:
    problem = ""
    if kind == CLI:
        problem = answers.CLI_MAY_NOT
    elif kind == APP and not _setting(session, "app_sudo"):
        problem = answers.APP_MAY_NOT
    if problem:
        yield failed(RIGHTS, problem, exit_code=USAGE)
        return
    try:
        v6.check_rights(session)
    except PiholeError as error:
        yield _refused(RIGHTS, error)
        return
    yield passed(RIGHTS, "its local DNS records may be written")


def _seats(session: Session, taken: int) -> Iterator[Finding]:
    most = _setting(session, "max_sessions")
    # With the session that looks, which is given back.
    message = f"{taken} of {most} sessions are in use"
    if taken == most:
        yield passed(SEATS, message, "log out of some in Settings, Web interface / API")
    else:
        yield passed(SEATS, message)


def _setting(session: Session, name: str) -> object:
    answer = session.get(f"{API}/{name}", "reading its configuration")
    return v6.config_value(answer, "webserver", "api", name)


def _records(session: Session, cluster_id: str) -> Iterator[Finding]:
    found = v6.V6(session, hosts_lines.Rules(hosts_lines.marker_for(cluster_id))).read()
    counts = Counter(each.ours for each in found)
    if cluster_id:
        message = f"{counts[True]} of this cluster, {counts[False]} of others"
        yield passed(RECORDS, message, "those of others stay as they are" if counts[False] else "")
    else:
        yield skipped(RECORDS, f"{len(found)}; pic:clusterId is not set, which tells ours")


def _dns_local(visit: _Visit) -> Iterator[Finding]:
    """Read the records, which is all that this interface shows."""
    try:
        cluster = visit.settings.cluster_id or "unknown"
        found = connect.read_records(
            visit.settings, cluster, visit.environment, timeouts=visit.timeouts
        )
    except PiholeError as error:
        yield _refused(LOGIN, error)
        yield from (skipped(name, "the token is not accepted") for name in (RIGHTS, SEATS, RECORDS))
        return
    yield passed(LOGIN, "the token is accepted")
    yield skipped(RIGHTS, "this interface does not tell them before a write")
    yield skipped(SEATS, "this interface has no sessions")
    yield passed(RECORDS, f"{len(found)}; whose they are, the annotations of Ingresses tell")
