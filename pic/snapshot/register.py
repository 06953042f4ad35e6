"""Reads the register from its ConfigMaps, and writes the data of a ConfigMap. No I/O.

Each of the sixteen buckets is a ConfigMap with one key for each host. The value is a map in JSON,
so that `kubectl get configmap -o yaml` shows one readable line for each host. A key that is no host
name, `_bucket`, holds what is about the bucket itself.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pic.core import names
from pic.core.json_values import MalformedError, Raw, integer, mapping, text
from pic.core.model import Family
from pic.core.register import (
    BUCKETS,
    Bucket,
    GoneBy,
    HostEntry,
    RecordEntry,
    Register,
    RegisterStatus,
    bucket_of,
)

HEAD = "_bucket"
_FAMILIES = tuple(map(str, Family))


def read(config_maps: Iterable[Raw]) -> dict[str, Register]:
    """Return the register of each stack, by the value of the stack label.

    Args:
        config_maps: The ConfigMaps with a stack label in the namespace of the registers.
    """
    registers: dict[str, Register] = {}
    for body in config_maps:
        labels = mapping(mapping(body.get("metadata"), "metadata").get("labels"), "labels")
        stack, digit = text(labels.get(names.STACK_LABEL)), text(labels.get(names.BUCKET_LABEL))
        if stack and digit in tuple(BUCKETS):
            empty = Register(RegisterStatus.READ)
            registers[stack] = _with_bucket(registers.get(stack, empty), digit, body)
    return registers


def _with_bucket(register: Register, digit: str, body: Raw) -> Register:
    try:
        data = mapping(body.get("data"), "data")
        bucket = _bucket(_decoded(data.get(HEAD)))
        # A host is in its own bucket, or someone else has written it.
        values = {host: _decoded(data[host]) for host in data if _belongs(host, digit)}
        hosts = {host: entry for host in values for entry in _host(host, values[host])}
        records = {entry.record: entry for host in values for entry in _records(host, values[host])}
    except (MalformedError, ValueError):
        # Someone has edited it. The next run writes it again from what is live.
        return replace(register, unreadable=(*register.unreadable, digit))
    return replace(
        register,
        hosts={**register.hosts, **hosts},
        records={**register.records, **records},
        buckets={**register.buckets, digit: bucket},
    )


def _belongs(key: str, digit: str) -> bool:
    return key != HEAD and bucket_of(key) == digit


def _decoded(value: object) -> Raw:
    return mapping(json.loads(text(value) or "{}"), "value")


def _bucket(head: Raw) -> Bucket:
    return Bucket(
        text(head.get("stack")), text(head.get("cluster")), integer(head.get("serial")) or 0
    )


def _host(host: str, value: Raw) -> Iterator[HostEntry]:
    if "namespace" not in value:
        return
    namespace, source = text(value["namespace"]), text(value.get("source"))
    yield HostEntry(
        host,
        namespace,
        text(value.get("name")) or _usual_name(namespace, source, host),
        source,
        text(value.get("tunnel")),
        sso=value.get("login") is True,
        block_access=value.get("block") is True,
        since=text(value.get("since")),
        serial=integer(value.get("serial")) or 0,
        gone=text(value.get("gone")),
        gone_by=_gone_by(value),
        form=text(value.get("form")),
    )


def _records(host: str, value: Raw) -> Iterator[RecordEntry]:
    for family in _FAMILIES:
        if family in value:
            entry = mapping(value[family], family)
            yield RecordEntry(
                f"{host}/{family}",
                text(entry.get("ip")),
                text(entry.get("namespace")),
                text(entry.get("source")),
                since=text(entry.get("since")),
                serial=integer(entry.get("serial")) or 0,
                gone=text(entry.get("gone")),
                gone_by=_gone_by(entry),
            )


def _gone_by(value: Raw) -> GoneBy | None:
    return GoneBy(text(value.get("goneBy"))) if value.get("gone") else None


def _usual_name(namespace: str, source: str, host: str) -> str:
    return names.object_name(namespace, source.partition("/")[2], host)


def data(register: Register) -> dict[str, dict[str, str]]:
    """Return the data of each ConfigMap that is not empty, by its digit."""
    values: dict[str, dict[str, Raw]] = {}
    for entry in register.hosts.values():
        _value(values, entry.host).update(_host_value(entry))
    for record in register.records.values():
        family = record.record.rpartition("/")[2]
        _value(values, record.host)[family] = _record_value(record)
    return {
        digit: {
            HEAD: _encoded(_head(register.buckets.get(digit, Bucket()))),
            **{host: _encoded(value) for host, value in sorted(values[digit].items())},
        }
        for digit in sorted(values)
    }


def _value(values: dict[str, dict[str, Raw]], host: str) -> dict[str, object]:
    value = values.setdefault(bucket_of(host), {}).setdefault(host, {})
    assert isinstance(value, dict)  # noqa: S101 - Raw is the type of maps that are only read
    return value


def _head(bucket: Bucket) -> dict[str, object]:
    return _present(stack=bucket.stack_id, cluster=bucket.cluster_id, serial=bucket.serial)


def _host_value(entry: HostEntry) -> dict[str, object]:
    usual = _usual_name(entry.namespace, entry.source, entry.host)
    return _present(
        namespace=entry.namespace,
        name="" if entry.name == usual else entry.name,
        source=entry.source,
        tunnel=entry.tunnel,
        login=entry.sso,
        block=entry.block_access,
        form=entry.form,
        since=entry.since,
        serial=entry.serial,
        gone=entry.gone,
        goneBy=entry.gone_by,
    )


def _record_value(entry: RecordEntry) -> dict[str, object]:
    return _present(
        ip=entry.ip,
        namespace=entry.namespace,
        source=entry.source,
        since=entry.since,
        serial=entry.serial,
        gone=entry.gone,
        goneBy=entry.gone_by,
    )


def _present(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value}


def _encoded(value: Mapping[str, object]) -> str:
    return json.dumps(value, separators=(",", ":"))
