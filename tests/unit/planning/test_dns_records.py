from dataclasses import replace

from pic.core.model import (
    Ingress,
    Owner,
    Record,
    Rule,
    Snapshot,
)
from pic.planning import dns_records
from pic.planning.notice_log import NoticeLog
from pic.settings.parse import Settings, TargetName

REGISTER = f"{dns_records.PREFIX}register"
SETTINGS = Settings(targets=(TargetName.PIHOLE,), pihole_target_ip="192.0.2.1")


def ingress(name: str, *hosts: str, address: str | None = None) -> Ingress:
    annotations: dict[str, str | None] = {f"{dns_records.PREFIX}register": "true"}
    if address:
        annotations[f"{dns_records.PREFIX}target-ip"] = address
    rules = tuple(Rule(host) for host in hosts)
    return Ingress("lab", name, f"uid-{name}", annotations=annotations, rules=rules)


def test_records_come_by_host_and_the_older_family_first() -> None:
    nas = Owner("lab", "nas", "uid-nas")
    seen = Snapshot(
        ingresses=(
            ingress("web", "b.lan", "A.lan"),
            ingress("nas", "nas", "nas", address="192.0.2.7, 2001:db8:0::7"),
        )
    )
    notices = NoticeLog()

    found = dns_records.plan(seen, SETTINGS, notices)

    web = Owner("lab", "web", "uid-web")
    assert found == (
        Record("a.lan", "192.0.2.1", (web,)),
        Record("b.lan", "192.0.2.1", (web,)),
        Record("nas", "192.0.2.7", (nas,)),
        Record("nas", "2001:db8::7", (nas,)),
    )
    assert notices.sorted() == ()


def test_hosts_are_asked_for_also_where_the_address_or_the_wish_cannot_be_read() -> None:
    wrong = ingress("wrong", "wrong.lan", address="none")
    unsure = replace(ingress("unsure", "Unsure.lan"), annotations={REGISTER: "ture"})
    off = replace(ingress("off", "off.lan"), annotations={REGISTER: "no"})

    found = dns_records.asked_for((ingress("web", "web.lan"), wrong, unsure, off), SETTINGS)

    assert found == {"web.lan", "wrong.lan", "unsure.lan"}


def managed(name: str, hosts: str | None) -> Ingress:
    return Ingress("lab", name, f"uid-{name}", annotations={dns_records.MANAGED_HOSTS: hosts})


def test_managed_hosts_are_those_of_the_annotations() -> None:
    found = dns_records.managed_hosts(
        (
            managed("web", "web.lan, TV.lan,,*.lan"),
            managed("nas", "nas,web.lan"),
            managed("null", None),
            Ingress("lab", "bare", "uid-bare"),
        )
    )

    assert found == {"web.lan", "tv.lan", "nas"}
