"""DNS from the lines of `dns.hosts`, with a real dnsmasq."""

import os
import signal
import subprocess
import sys

import dns.message
import dns.query
import pytest

from dev.pihole import PiHole, PiHoleError
from dev.workspace import ROOT
from tests.pihole.client import logged_in
from tests.support.waiting import is_gone, until

pytestmark = pytest.mark.usefixtures("needs_dnsmasq")

OWNER = """
import sys
from pathlib import Path
from dev.pihole import PiHole
with PiHole(dns=True) as pihole:
    print(pihole.resolver_pid, flush=True)
    sys.stdin.read()
"""


def test_names_resolve_as_the_lines_say() -> None:
    records = ["192.168.9.1 a.lan b.lan", "192.168.9.2 a.lan # ours", "fe80::1 six.lan"]
    with PiHole(records=records, dns=True) as pihole:
        questions = [("a.lan", "A"), ("A.LAN", "A"), ("b.lan", "A"), ("b.lan", "AAAA")]
        questions += [("six.lan", "AAAA"), ("no.lan", "A"), ("1.9.168.192.in-addr.arpa", "PTR")]

        assert [pihole.ask(*question) for question in questions] == [
            ["192.168.9.1", "192.168.9.2"],
            ["192.168.9.1", "192.168.9.2"],
            ["192.168.9.1"],
            [],
            ["fe80::1"],
            [],
            ["a.lan."],
        ]


@pytest.mark.parametrize("query", [dns.query.udp, dns.query.tcp])
def test_answers_have_a_ttl_of_zero(query: object) -> None:
    with PiHole(records=["1.2.3.4 a.lan"]) as pihole:
        question = dns.message.make_query("a.lan", "A")
        assert callable(query)
        answer = query(question, "127.0.0.1", port=pihole.dns_port, timeout=5)

        assert [str(rrset) for rrset in answer.answer] == ["a.lan. 0 IN A 1.2.3.4"]


def test_a_write_is_visible_without_a_restart() -> None:
    with PiHole(dns=True) as pihole:
        client = logged_in(pihole)
        pid = pihole.resolver_pid

        client.put("1.2.3.4 a.lan # ours")
        until(lambda: pihole.ask("a.lan") == ["1.2.3.4"], "the record")
        client.patch(["1.2.3.5 a.lan", "1.2.3.6 b.lan"])
        until(lambda: pihole.ask("b.lan") == ["1.2.3.6"], "the other record")
        assert pihole.ask("a.lan") == ["1.2.3.5"]
        client.delete("1.2.3.5 a.lan")
        until(lambda: pihole.ask("a.lan") == [], "no record")
        pihole.lines = ["1.2.3.7 by-hand.lan"]
        until(lambda: pihole.ask("by-hand.lan") == ["1.2.3.7"], "the manual record")

        assert pihole.resolver_pid == pid


def test_a_line_break_in_a_comment_resolves() -> None:
    with PiHole(dns=True) as pihole:
        logged_in(pihole).patch(["1.2.3.4 a.lan # x\n6.6.6.6 evil2.lan"])

        until(lambda: pihole.ask("evil2.lan") == ["6.6.6.6"], "the record")


def test_dns_dies_with_the_server() -> None:
    with PiHole(records=["1.2.3.4 a.lan"], dns=True) as pihole:
        port = pihole.dns_port

        pihole.die("a test")
        with pytest.raises(PiHoleError, match="the resolver is dead"):
            pihole.ask("a.lan")
        pihole.restart()

        assert (pihole.ask("a.lan"), pihole.dns_port) == (["1.2.3.4"], port)


def test_the_resolver_dies_with_its_parent_process() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with owner:
        assert owner.stdout
        pid = int(owner.stdout.readline())
        assert not is_gone(pid)
        owner.send_signal(signal.SIGKILL)

    until(lambda: is_gone(pid), "the end of dnsmasq")
