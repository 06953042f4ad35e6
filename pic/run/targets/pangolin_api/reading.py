"""Reads what an organisation of Pangolin has: three lists, and single resources where needed."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from pic.core.errors import FailureClass, PangolinError
from pic.core.json_values import Raw, integer, text
from pic.core.published import (
    BaseDomain,
    Detail,
    DetailedTarget,
    PublicResource,
    PublicTarget,
    Published,
    Site,
)
from pic.pangolin_api import client, model
from pic.pangolin_api.client import Client, Server
from pic.pangolin_api.connection import IN_FLIGHT, Timeouts
from pic.pangolin_api.openapi import Dialect
from pic.run.targets.interface import Look, ReadTimeouts
from pic.settings.parse import Settings

_EXACT = "cname"  # the kind of a base domain that covers no host below it
_LOCAL = "local"  # the kind of a site that is no tunnel, so that nothing reports it as online
# What a server can do, by its URL, as the last listing found it: only an update changes it.
_dialects: dict[str, Dialect] = {}


def connect(
    settings: Settings,
    environment: Mapping[str, str],
    timeouts: ReadTimeouts | None = None,
    dialect: Dialect | None = None,
) -> Client:
    """Connect to the organisation of a stack.

    Raises:
        PangolinError: The key is malformed, or the server is unreachable, no Pangolin or too old.
    """
    server = Server(settings.pangolin_url, settings.pangolin_org, settings.pangolin_ca)
    waits = Timeouts(connect=timeouts.connect, read=timeouts.answer) if timeouts else None
    return client.connect(server, environment, waits, dialect)


def read(
    settings: Settings, environment: Mapping[str, str], timeouts: ReadTimeouts | None = None
) -> Published:
    """Return what the organisation has, by one request for each 1,000 resources and three more.

    Raises:
        PangolinError: It cannot be read completely.
    """
    reader = connect(settings, environment, timeouts).reader
    _dialects[settings.pangolin_url] = reader.dialect
    resources, sites, domains = reader.resources(), reader.sites(), reader.domains()
    if not (resources or sites or domains):
        # With a root key, Pangolin answers so for an organisation that does not exist.
        raise PangolinError(
            f"organisation {settings.pangolin_org} has no site, no base domain and no resource:"
            " check pic:pangolinOrg",
            kind=FailureClass.INVALID,
        )
    return Published(
        settings.pangolin_url,
        settings.pangolin_org,
        tuple(map(_site, sites)),
        tuple(map(_domain, domains)),
        tuple(_resource(row) for row in resources if row.host),
    )


def detailed(
    published: Published, ids: tuple[int, ...], settings: Settings, look: Look
) -> Published:
    """Return the same with the details of some resources, by two requests for each.

    A resource that does not exist any more is left out.

    Raises:
        PangolinError: One of them cannot be read.
    """
    dialect = _dialects.get(settings.pangolin_url)
    reader = connect(settings, look.environment, look.timeouts, dialect).reader
    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        lives = list(pool.map(reader.live, ids))
    details = {live.id: _detail(live) for live in lives if live}
    gone = set(ids) - details.keys()
    return replace(
        published,
        resources=tuple(row for row in published.resources if row.id not in gone),
        details={**published.details, **details},
    )


def _site(row: model.Site) -> Site:
    return Site(row.id, row.nice_id, row.name, row.online or row.kind == _LOCAL)


def _domain(row: model.Domain) -> BaseDomain:
    return BaseDomain(row.id, row.base, row.verified, exact=row.kind == _EXACT)


def _resource(row: model.ListedResource) -> PublicResource:
    targets = tuple(
        PublicTarget(target.ip, target.port, target.site_id, target.enabled, target.health)
        for target in row.targets
    )
    return PublicResource(row.id, row.nice_id, row.name, row.host, row.enabled, row.sso, targets)


def _detail(live: model.Live) -> Detail:
    fields = live.fields
    return Detail(
        fields.get("enabled") is True,
        fields.get("sso") is True,
        fields.get("blockAccess") is True,
        text(fields.get("domainId")),
        tuple(_detailed_target(target.fields) for target in live.targets),
    )


def _detailed_target(row: Raw) -> DetailedTarget:
    return DetailedTarget(
        text(row.get("ip")),
        integer(row.get("port")) or 0,
        integer(row.get("siteId")) or 0,
        text(row.get("method")),
        row.get("enabled") is True,
        text(row.get("path")) or None,
        text(row.get("pathMatchType")) or None,
        integer(row.get("priority")),
    )
