"""Tests which DNS records Ingresses request."""

from dataclasses import replace

from pic.core.ingress import Ingress, Rule
from pic.core.model import Owner, Record, Snapshot
from pic.planning import dns_records, dns_requests
from pic.planning.notice_log import NoticeLog
from pic.settings.parse import Settings, TargetName

SETTINGS = Settings(targets=(TargetName.PIHOLE,), pihole_target_ip="192.0.2.1")


def ingress(name: str, *hosts: str, address: str | None = None) -> Ingress:
    annotations: dict[str, str | None] = {dns_requests.REGISTER: "true"}
    if address:
        annotations[dns_requests.TARGET_IP] = address
    rules = tuple(Rule(host) for host in hosts)
    return Ingress("lab", name, f"uid-{name}", annotations=annotations, rules=rules)


def test_records_are_sorted_by_host_with_ipv4_first() -> None:
    nas = Owner("lab", "nas", "uid-nas")
    snapshot = Snapshot(
        ingresses=(
            ingress("web", "b.lan", "A.lan"),
            ingress("nas", "nas", "nas", address="192.0.2.7, 2001:db8:0::7"),
        )
    )
    notices = NoticeLog()

    records = dns_records.plan(snapshot, SETTINGS, notices)

    web = Owner("lab", "web", "uid-web")
    assert records == (
        Record("a.lan", "192.0.2.1", (web,)),
        Record("b.lan", "192.0.2.1", (web,)),
        Record("nas", "192.0.2.7", (nas,)),
        Record("nas", "2001:db8::7", (nas,)),
    )
    assert notices.sorted() == ()


def test_the_requests_for_annotated_hosts_have_their_addresses() -> None:
    wrong = ingress("wrong", "wrong.lan", address="none")
    unsure = replace(ingress("unsure", "Unsure.lan"), annotations={dns_requests.REGISTER: "ture"})
    off = replace(ingress("off", "off.lan"), annotations={dns_requests.REGISTER: "no"})
    listed = managed("listed", "web.lan,wrong.lan,unsure.lan,off.lan")
    ingresses = (ingress("web", "web.lan", "tv.lan"), wrong, unsure, off, listed)

    annotated = dns_requests.annotated_requests(ingresses, SETTINGS)
    all_of_them = dns_requests.annotated_requests(
        ingresses, replace(SETTINGS, pihole_annotate=False)
    )

    expected = {"web.lan": [("192.0.2.1",)], "wrong.lan": [None], "unsure.lan": [None]}
    assert annotated.addresses == expected
    assert dns_requests.requested_hosts(ingresses, SETTINGS) == {*expected, "tv.lan"}
    assert all_of_them.addresses == {**expected, "tv.lan": [("192.0.2.1",)]}


def managed(name: str, hosts: str | None) -> Ingress:
    return Ingress("lab", name, f"uid-{name}", annotations={dns_requests.MANAGED_HOSTS: hosts})


def test_managed_hosts_are_read_from_the_annotations() -> None:
    hosts = dns_requests.managed_hosts(
        (
            managed("web", "web.lan, TV.lan,,*.lan"),
            managed("nas", "nas,web.lan"),
            managed("null", None),
            Ingress("lab", "bare", "uid-bare"),
        )
    )

    assert hosts == {"web.lan", "tv.lan", "nas"}
