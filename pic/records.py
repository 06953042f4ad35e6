"""Which DNS records Pi-hole should have, from the Ingresses that ask for them. No I/O."""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from pic import annotations, hosts, select
from pic.annotations import Switch
from pic.config import Settings, TargetName
from pic.model import Ingress, Owner, Record, Snapshot
from pic.notices import Reason
from pic.select import Notices

PREFIX = "pihole.io/"


@dataclass(frozen=True, slots=True)
class _Wish:
    host: str
    addresses: tuple[str, ...]
    ingress: Ingress


def plan(snapshot: Snapshot, settings: Settings, notices: Notices) -> tuple[Record, ...]:
    """Return one record for each host and address family; the oldest Ingress has the host."""
    if TargetName.PIHOLE not in settings.targets:
        return ()
    by_host: dict[str, list[_Wish]] = {}
    for ingress in sorted(snapshot.ingresses, key=lambda each: each.age):
        for wish in _wishes(ingress, settings, notices):
            by_host.setdefault(wish.host, []).append(wish)
    found = [record for host in sorted(by_host) for record in _settle(by_host[host], notices)]
    return tuple(sorted(found, key=lambda record: (record.host, ":" in record.ip, record.ip)))


def _wishes(ingress: Ingress, settings: Settings, notices: Notices) -> Iterator[_Wish]:
    register = annotations.switch(ingress.annotations, f"{PREFIX}register")
    if register is Switch.UNREADABLE:
        shown = ingress.annotations[f"{PREFIX}register"]
        notices.add(
            Reason.INVALID_ANNOTATION,
            ingress,
            f"{PREFIX}register is {str(shown)[:80]!r}, allowed is true or false: nothing is"
            " registered",
        )
    if register is not Switch.ON or select.ignored(ingress):
        return
    addresses = _addresses(ingress, settings, notices)
    found = dict.fromkeys(_hosts(ingress, notices))
    if not found:
        notices.add(Reason.NO_HOSTS, ingress, "it asks for DNS records and has no usable host")
    if addresses:
        yield from (_Wish(host, addresses, ingress) for host in found)


def _hosts(ingress: Ingress, notices: Notices) -> Iterator[str]:
    listed = ingress.annotations.get(f"{PREFIX}hosts")
    names = [rule.host for rule in ingress.rules] if listed is None else listed.split(",")
    for name in (each.strip() for each in names):
        if name in ("", "_"):
            continue
        try:
            yield hosts.normalise(name)
        except hosts.UnusableHostError as error:
            shown = name[:253]
            notices.add(Reason.INVALID_HOST, ingress, f"{shown}: {error}: no DNS record", shown)


def _addresses(ingress: Ingress, settings: Settings, notices: Notices) -> tuple[str, ...]:
    """Return one IPv4 address and perhaps one IPv6 address; nothing where they are unusable."""
    written = ingress.annotations.get(f"{PREFIX}target-ip")
    text = settings.pihole_target_ip if written is None else written
    try:
        found = [ipaddress.ip_address(part.strip()) for part in text.split(",")]
    except ValueError:
        found = []
    # A zone, as in fe80::1%eth0, means nothing to whoever asks for the record.
    if [each.version for each in found] not in ([4], [4, 6]) or "%" in text:
        notices.add(
            Reason.INVALID_TARGET_IP,
            ingress,
            f"the address is {text[:80]!r}; needed is an IPv4 address, and after a comma perhaps"
            " an IPv6 one",
        )
        return ()
    return tuple(str(each) for each in found)


def _settle(wishes: list[_Wish], notices: Notices) -> Iterator[Record]:
    first = wishes[0]
    same = [wish for wish in wishes if wish.addresses == first.addresses]
    owners = tuple(dict.fromkeys(_owner(wish.ingress) for wish in same))
    for wish in wishes:
        if wish.addresses != first.addresses:
            notices.add(
                Reason.HOST_CONFLICT,
                wish.ingress,
                f"the DNS record of {wish.host} is that of Ingress {first.ingress.namespace}/"
                f"{first.ingress.name}, which is older",
                wish.host,
            )
    return (Record(first.host, address, owners) for address in first.addresses)


def _owner(ingress: Ingress) -> Owner:
    return Owner(ingress.namespace, ingress.name, ingress.uid)
