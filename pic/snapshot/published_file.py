"""Writes what Pangolin has to a snapshot file, and reads it from one.

A file holds the resources that pic made, and those of others whose host a rule of an Ingress names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from pic.core.errors import PangolinError
from pic.core.json_values import MalformedError, Raw, integer, mapping, sequence, text
from pic.core.published import BaseDomain, PublicResource, PublicTarget, Published, Site
from pic.core.unread import Silent
from pic.snapshot.assemble import RawSnapshot

_MARK = "pic-"  # how the niceId of a resource begins that a stack of pic made
T = TypeVar("T")


def content(raw: RawSnapshot, hosts: frozenset[str]) -> dict[str, object]:
    """Return what a file says of Pangolin, as JSON.

    Args:
        raw: What the run read.
        hosts: The hosts of the rules of all Ingresses.
    """
    silent = raw.silent and {"url": raw.silent.url, "problem": str(raw.silent.error)}
    published = raw.published
    if published is None:
        return {"silent": silent}
    rows = [
        row for row in published.resources if row.nice_id.startswith(_MARK) or row.host in hosts
    ]
    return {
        "silent": silent,
        "url": published.url,
        "org": published.org,
        "sites": [[it.id, it.nice_id, it.name, it.online] for it in published.sites],
        "domains": [[it.id, it.base, it.verified, it.exact] for it in published.domains],
        "resources": [_resource(row) for row in sorted(rows, key=lambda it: (it.host, it.id))],
    }


def _resource(row: PublicResource) -> dict[str, object]:
    return {
        "id": row.id,
        "niceId": row.nice_id,
        "name": row.name,
        "host": row.host,
        "enabled": row.enabled,
        "sso": row.sso,
        "targets": [[it.ip, it.port, it.site, it.enabled, it.health] for it in row.targets],
    }


def read(value: object) -> tuple[Published | None, Silent | None]:
    """Return what a file says of Pangolin.

    Raises:
        MalformedError: It has another shape.
    """
    body = mapping(value, "pangolin")
    return _published(body) if "org" in body else None, _silent(body.get("silent"))


def _silent(value: object) -> Silent | None:
    if value is None:
        return None
    body = mapping(value, "silent")
    return Silent(text(body.get("url")), PangolinError(text(body.get("problem"))))


def _published(body: Raw) -> Published:
    return Published(
        text(body.get("url")),
        text(body.get("org")),
        tuple(_rows(body, "sites", _site)),
        tuple(_rows(body, "domains", _domain)),
        tuple(_read_resource(mapping(it, "resource")) for it in _list(body, "resources")),
    )


def _site(row: Sequence[object]) -> Site:
    return Site(_number(row[0]), text(row[1]), text(row[2]), _flag(row[3]))


def _domain(row: Sequence[object]) -> BaseDomain:
    return BaseDomain(text(row[0]), text(row[1]), _flag(row[2]), exact=_flag(row[3]))


def _read_resource(body: Raw) -> PublicResource:
    return PublicResource(
        _number(body.get("id")),
        text(body.get("niceId")),
        text(body.get("name")),
        text(body.get("host")),
        _flag(body.get("enabled")),
        _flag(body.get("sso")),
        tuple(_rows(body, "targets", _target)),
    )


def _target(row: Sequence[object]) -> PublicTarget:
    ip, health = text(row[0]), text(row[4])
    return PublicTarget(ip, _number(row[1]), _number(row[2]), _flag(row[3]), health)


def _rows(body: Raw, name: str, make: Callable[[Sequence[object]], T]) -> Iterator[T]:
    for item in _list(body, name):
        row = sequence(item, name)
        try:
            yield make(row)
        except IndexError as error:
            raise MalformedError(f"{name} has a row that is too short") from error


def _list(body: Mapping[str, object], name: str) -> Sequence[object]:
    return sequence(body.get(name), name)


def _number(value: object) -> int:
    number = integer(value)
    if number is None:
        raise MalformedError("an id is not a number")
    return number


def _flag(value: object) -> bool:
    return value is True
