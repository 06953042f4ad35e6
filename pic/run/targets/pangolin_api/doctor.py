"""Checks Pangolin: does it answer, does it accept the key, and may pic do there what it has to?

The doctor changes nothing. Where it has to know whether the key may write, it sends a request
without content: Pangolin checks the key first, and then refuses the content.
"""

from collections.abc import Iterator, Mapping, Sequence

from pic.core.errors import FailureClass, PangolinError
from pic.core.findings import UNREACHABLE, USAGE, Finding, failed, passed, run_check, skipped
from pic.pangolin_api import client, naming
from pic.pangolin_api.client import Server
from pic.pangolin_api.connection import Timeouts
from pic.pangolin_api.model import Domain, ListedResource, Site
from pic.pangolin_api.reading import Reader
from pic.run.doctor_context import DoctorContext
from pic.run.targets import plugin_check
from pic.settings.parse import Settings

PLUGIN, REACHED, TLS = "pangolin plugin", "pangolin api", "pangolin TLS"
KEY, SITES, DOMAINS, RESOURCES = (
    "pangolin key",
    "pangolin sites",
    "pangolin domains",
    "pangolin resources",
)
AFTER = (KEY, SITES, DOMAINS, RESOURCES)
CONNECT_SECONDS = 5.0
_MOST_NAMES = 5
_NOT_TRIED = "updateResource, deleteResource, createTarget, updateTarget, deleteTarget, getResource"


def examine(context: DoctorContext, settings: Settings) -> Iterator[Finding]:
    """Yield the findings on the Pangolin of a stack.

    Args:
        context: The environment with the key, and how long an answer may take.
        settings: Where Pangolin is.
    """
    yield from run_check(PLUGIN, lambda: plugin_check.examine(context, "pangolin", PLUGIN))
    server = Server(settings.pangolin_url, settings.pangolin_org, settings.pangolin_ca)
    timeouts = Timeouts(connect=CONNECT_SECONDS, read=context.seconds, retries=0)
    try:
        reader = client.connect(server, context.environment, timeouts).reader
    except PangolinError as error:
        yield _failed(REACHED, error)
        yield from (skipped(name, "Pangolin does not answer") for name in (TLS, *AFTER))
        return
    yield passed(REACHED, f"{settings.pangolin_url} is an Integration API that pic knows")
    yield _tls(settings)
    yield from _organisation(reader, settings)


def _failed(name: str, error: PangolinError) -> Finding:
    """Return the finding for an error. Its message names the remedy."""
    is_usage = error.kind in (FailureClass.AUTH, FailureClass.INVALID)
    return failed(name, str(error), exit_code=USAGE if is_usage else UNREACHABLE)


def _tls(settings: Settings) -> Finding:
    if settings.pangolin_url.startswith("https://"):
        return passed(TLS, "pic accepts the certificate")
    advice = "do this only in a network that you trust; otherwise set an https URL"
    return passed(TLS, "without TLS, pic sends the key as plain text", advice)


def _organisation(reader: Reader, settings: Settings) -> Iterator[Finding]:
    try:
        resources, sites, domains = reader.resources(), reader.sites(), reader.domains()
    except PangolinError as error:
        yield _failed(KEY, error)
        yield from (skipped(name, "the key does not suffice") for name in AFTER[1:])
        return
    if not (resources or sites or domains):
        message = f"organisation {settings.pangolin_org} has nothing: check pic:pangolinOrg"
        yield failed(KEY, message, exit_code=USAGE)
    else:
        yield from run_check(KEY, lambda: _rights(reader, resources, settings))
    yield _sites(sites, settings)
    yield _domains(domains)
    ours = [row for row in resources if _is_ours(row, settings)]
    yield passed(
        RESOURCES, f"{len(ours)} belong to this stack, {len(resources) - len(ours)} do not"
    )


def _is_ours(row: ListedResource, settings: Settings) -> bool:
    # The name of the stack is part of the marker as well, but its id tells stacks apart.
    tail = f"-{naming.prefix('', settings.stack_id).split('-')[-2]}-"
    return bool(settings.stack_id) and row.nice_id.startswith("pic-") and tail in row.nice_id


def _rights(
    reader: Reader, resources: Sequence[ListedResource], settings: Settings
) -> Iterator[Finding]:
    """Try each action by a request without content, which Pangolin refuses after the key."""
    tries = {"createResource": ("PUT", f"{reader.org_path}/{reader.dialect.word}")}
    ours = next((row for row in resources if _is_ours(row, settings)), None)
    if ours:
        path = reader.path(ours.id)
        tries |= {
            "getResource": ("GET", path),
            "listTargets": ("GET", f"{path}/targets"),
            "updateResource": ("POST", path),
            "createTarget": ("PUT", f"{path}/target"),
        }
    problems = [problem for it in tries.items() if (problem := _missing(reader, *it))]
    for problem in problems:
        yield failed(KEY, problem, exit_code=USAGE)
    if not problems:
        rest = "deleteResource, updateTarget, deleteTarget" if ours else _NOT_TRIED
        advice = f"only a change shows whether it may {rest}"
        yield passed(KEY, f"the key may {', '.join(tries)} and list everything", advice)


def _missing(reader: Reader, action: str, request: tuple[str, str]) -> str:
    """Return why the key may not do something; empty if it may."""
    method, path = request
    body: Mapping[str, object] | None = None if method == "GET" else {}
    try:
        reader.request(method, path, action, body)
    except PangolinError as error:
        return str(error) if error.kind is FailureClass.AUTH else ""
    return ""


def _sites(sites: Sequence[Site], settings: Settings) -> Finding:
    if not sites:
        remedy = "create one in the dashboard of Pangolin"
        return failed(SITES, "the organisation has no site", remedy, USAGE)
    offline = sorted(it.nice_id for it in sites if not it.online and it.kind != "local")
    names = {it.nice_id for it in sites} | {it.name for it in sites}
    if settings.default_tunnel not in names:
        known = ", ".join(sorted(it.nice_id for it in sites)[:_MOST_NAMES])
        remedy = f"set pic:defaultTunnel to one of {known}"
        message = f"pic:defaultTunnel is {settings.default_tunnel}, which is no site"
        return failed(SITES, message, remedy, USAGE)
    advice = f"offline: {', '.join(offline[:_MOST_NAMES])}" if offline else ""
    return passed(SITES, f"{len(sites) - len(offline)} of {len(sites)} are online", advice)


def _domains(domains: Sequence[Domain]) -> Finding:
    verified = sorted(it.base for it in domains if it.verified)
    waiting = sorted(it.base for it in domains if not it.verified)
    advice = f"not verified: {', '.join(waiting[:_MOST_NAMES])}" if waiting else ""
    if not verified:
        remedy = "verify one in the dashboard of Pangolin under Domains"
        return failed(DOMAINS, "the organisation has no verified base domain", remedy, USAGE)
    return passed(DOMAINS, f"verified: {', '.join(verified[:_MOST_NAMES])}", advice)
