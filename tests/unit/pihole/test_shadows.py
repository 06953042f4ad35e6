"""Tests what Pi-hole answers for a host in place of its record."""

from dev.pihole import PiHole
from pic.pihole.shadows import shadows
from tests.support.pihole_fakes import a
from tests.support.pihole_v6 import logged_in


def test_a_cname_answers_for_each_of_its_aliases() -> None:
    records = ["App.lan,nas.lan", "a.lan, b.lan. ,target.lan,300"]

    assert shadows(records, ()) == {
        "app.lan": "nas.lan, a CNAME of dns.cnameRecords",
        "a.lan": "target.lan, a CNAME of dns.cnameRecords",
        "b.lan": "target.lan, a CNAME of dns.cnameRecords",
    }


def test_only_lines_that_answer_for_a_host_with_a_record_count() -> None:
    lines = [
        "cname=app.lan,nas.lan  # by hand",
        "--host-record=web.lan,www.lan,10.0.0.4,fe80::4,60",
        "address=/other.lan/10.0.0.5",
        "# cname=no.lan,nas.lan",
        "",
    ]

    assert shadows((), lines) == {
        "app.lan": "nas.lan, a CNAME of misc.dnsmasq_lines",
        "web.lan": "10.0.0.4, fe80::4 too, a host-record of misc.dnsmasq_lines",
        "www.lan": "10.0.0.4, fe80::4 too, a host-record of misc.dnsmasq_lines",
    }


def test_pihole_shows_both_settings_and_a_record_stays_next_to_them() -> None:
    with PiHole(cname_records=["web,nas"], dnsmasq_lines=["cname=tv,nas"]) as server:
        with logged_in(server) as hosts:
            assert hosts.shadows() == {
                "web": "nas, a CNAME of dns.cnameRecords",
                "tv": "nas, a CNAME of misc.dnsmasq_lines",
            }
            assert hosts.apply([a("web")]) == {}
        assert len(server.lines) == 1
