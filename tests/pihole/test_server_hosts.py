"""GET, PUT and DELETE of `dns.hosts`: exact matches, and lines that a write tidies."""

from urllib.parse import quote

import pytest

from dev.pihole import PiHole
from tests.pihole.client import HOSTS, Client, logged_in, refused

FIRST = "192.168.9.1 a.lab.example"
PRESENT = refused("Item already present", "Uniqueness of items is enforced")
LABEL = "x" * 63


@pytest.fixture
def client(pihole: PiHole) -> Client:
    pihole.lines = [FIRST]
    return logged_in(pihole)


def test_the_lines_are_read(client: Client) -> None:
    assert client.request("GET", HOSTS) == (200, {"config": {"dns": {"hosts": [FIRST]}}})


@pytest.mark.parametrize("target", [f"{HOSTS}/{quote(FIRST)}", "/api/config/dns/nothing"])
def test_a_path_below_the_list_or_unknown_is_empty(client: Client, target: str) -> None:
    assert client.request("GET", target) == (200, {"config": {}})


def test_details_show_the_effect_of_a_write(client: Client) -> None:
    status, answer = client.request("GET", f"{HOSTS}?detailed=true")

    assert (status, answer["config"]["dns"]["hosts"]) == (
        200,
        {
            "description": "The setting hosts",
            "allowed": "Lines as in a hosts file",
            "type": "string array",
            "value": [FIRST],
            "default": [],
            "modified": True,
            "flags": {"restart_dnsmasq": False, "session_reset": False, "env_var": False},
        },
    )


@pytest.mark.parametrize("method", ["HEAD", "POST"])
def test_other_methods_are_not_found(client: Client, method: str) -> None:
    assert client.request(method, HOSTS)[0] == 404


@pytest.mark.parametrize("target", [HOSTS, f"{HOSTS}/", "/api/config/dns/nothing/x"])
def test_a_put_without_a_line_is_not_found(client: Client, target: str) -> None:
    assert client.request("PUT", target) == (404, {})


@pytest.mark.parametrize(
    ("method", "change"), [("PUT", 'add "{}" to'), ("DELETE", 'remove "{}" from')]
)
def test_a_path_may_be_too_short(client: Client, method: str, change: str) -> None:
    action = f"{change.format('127.0.0.1')} config.dns.upstreams"
    hint = f"Use, e.g., {method} /api/config/dns/upstreams/127.0.0.1 to {action}"

    assert client.request(method, "/api/config/dns") == (400, refused("Invalid path depth", hint))


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("192.168.9.2 b.lan", "192.168.9.2 b.lan"),
        ("192.168.9.2 a.lab.example", "192.168.9.2 a.lab.example"),
        ("192.168.9.1 A.lab.example", "192.168.9.1 A.lab.example"),
        ("192.168.9.1 a.lab.example.", "192.168.9.1 a.lab.example."),
        ("192.168.9.1  a.lab.example ", FIRST),
        ("192.168.9.1\ta.lab.example", FIRST),
        ("192.168.9.1 a.lab.example # hi", "192.168.9.1 a.lab.example # hi"),
        ("192.168.9.1  a.lab.example\t#  hi  there ", "192.168.9.1 a.lab.example #  hi  there "),
        ("1.2.3.4 a b c", "1.2.3.4 a b c"),
        ("1.2.3.4 foo_bar.lan -foo.lan foo-.lan", "1.2.3.4 foo_bar.lan -foo.lan foo-.lan"),
        ("1.2.3.4 123.456", "1.2.3.4 123.456"),
        ("1.2.3.4 1.2.3.4", "1.2.3.4 1.2.3.4"),
        (f"1.2.3.4 {'x' * 100}", f"1.2.3.4 {'x' * 100}"),
        (f"1.2.3.4 {LABEL}.lan", f"1.2.3.4 {LABEL}.lan"),
        (f"1.2.3.4 {'a.' * 127}x", f"1.2.3.4 {'a.' * 127}x"),
        ("0.0.0.0 zero.lan", "0.0.0.0 zero.lan"),
        ("::ffff:1.2.3.4 six.lan", "::ffff:1.2.3.4 six.lan"),
        ("fe80::1 six.lan", "fe80::1 six.lan"),
        ("1.2.3.4 xn--mnchen-3ya.lan", "1.2.3.4 xn--mnchen-3ya.lan"),
        ("1.2.3.4 foo.lan\0bar", "1.2.3.4 foo.lan"),
    ],
)
def test_a_line_is_added_and_tidied(client: Client, pihole: PiHole, sent: str, stored: str) -> None:
    assert client.put(sent) == (201, {})
    assert (pihole.lines, pihole.saved, pihole.writes) == ([FIRST, stored], [FIRST, stored], 1)


def test_an_equal_line_is_refused(client: Client, pihole: PiHole) -> None:
    assert client.put(FIRST) == (400, PRESENT)
    assert (pihole.lines, pihole.writes) == ([FIRST], 0)


def test_a_plus_is_a_space(client: Client, pihole: PiHole) -> None:
    assert client.request("PUT", f"{HOSTS}/1.2.3.4+b.lan") == (201, {})
    assert pihole.lines == [FIRST, "1.2.3.4 b.lan"]


def address(text: str) -> str:
    return f'dns.hosts[1]: neither a valid IPv4 nor IPv6 address ("{text}")'


def name(text: str) -> str:
    return f'dns.hosts[1]: invalid hostname ("{text}")'


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("999.1.1.1 a.lan", address("999.1.1.1")),
        ("01.02.03.04 a.lan", address("01.02.03.04")),
        ("1.2.3 a.lan", address("1.2.3")),
        ("fe80::1%eth0 a.lan", address("fe80::1%eth0")),
        ("1.2.3.4,d.lan", address("1.2.3.4,d.lan")),
        ("# only", address("#")),
        ("1.2.3.4", 'dns.hosts[1]: entry does not have at least one hostname ("1.2.3.4")'),
        ("1.2.3.4 #x", 'dns.hosts[1]: entry does not have at least one hostname ("1.2.3.4 #x")'),
        ("1.2.3.4 *.lab.example", name("*.lab.example")),
        ("1.2.3.4 good.lan münchen.lan", name("münchen.lan")),
        ("1.2.3.4 a,b", name("a,b")),
        ("1.2.3.4 a;b", name("a;b")),
        ("1.2.3.4 a!b", name("a!b")),
        ("1.2.3.4 a..b", name("a..b")),
        ("1.2.3.4 .a", name(".a")),
        (f"1.2.3.4 {LABEL}x.lan", name(f"{LABEL}x.lan")),
        (f"1.2.3.4 {'x' * 256}", name("x" * 256)[:255]),
        (" ", 'dns.hosts[1]: found no first element (" ")'),
    ],
)
def test_an_invalid_line_is_refused(client: Client, pihole: PiHole, line: str, hint: str) -> None:
    assert client.put(line) == (400, refused("Invalid value", hint))
    assert (pihole.lines, pihole.writes) == ([FIRST], 0)


def test_a_bad_foreign_line_blocks_every_put_but_no_delete(client: Client, pihole: PiHole) -> None:
    pihole.lines = ["oops a.lan", FIRST]
    hint = 'dns.hosts[0]: neither a valid IPv4 nor IPv6 address ("oops")'

    assert client.put("1.2.3.4 b.lan") == (400, refused("Invalid value", hint))
    assert client.delete(FIRST) == (204, None)


def test_only_the_first_of_equal_lines_is_deleted(client: Client, pihole: PiHole) -> None:
    client.put("192.168.9.2 b.lan")
    client.put(f"{FIRST} ")
    assert pihole.lines == [FIRST, "192.168.9.2 b.lan", FIRST]

    assert client.delete(FIRST) == (204, None)
    assert pihole.lines == ["192.168.9.2 b.lan", FIRST]


@pytest.mark.parametrize(
    "line",
    ["192.168.9.1 b.lan", "192.168.9.1 B", "192.168.9.1  b a # x", "192.168.9.1 b", FIRST.upper()],
)
def test_a_line_that_differs_is_not_deleted(client: Client, pihole: PiHole, line: str) -> None:
    pihole.lines = [FIRST, "192.168.9.1 b a # x"]

    assert client.delete(line) == (404, {})
    assert (pihole.lines, pihole.writes) == ([FIRST, "192.168.9.1 b a # x"], 0)


def test_a_line_with_a_slash_is_never_found(client: Client, pihole: PiHole) -> None:
    line = "1.2.3.4 a.lan # k8s/one"

    assert client.put(line) == (404, {})
    assert client.patch([line])[0] == 200
    assert client.delete(line) == (404, {})
    assert pihole.lines == [line]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (f"{HOSTS}/1.2.3.4%20a.lan%0Ab", "Error 400: Bad Request\nInvalid URI"),
        (f"{HOSTS}/{'x' * 20_000}", "Malformed message"),
    ],
)
def test_some_request_targets_are_refused(client: Client, target: str, message: str) -> None:
    assert client.request("PUT", target) == (400, message)


def test_long_request_targets_are_accepted(client: Client) -> None:
    names = " ".join(["x" * 98] * 110)

    assert client.put(f"1.2.3.4 {names}") == (201, {})


def test_a_long_list_grows_and_shrinks_by_single_lines(client: Client, pihole: PiHole) -> None:
    pihole.lines = lines = [
        f"10.0.{n // 250}.{n % 250} host-{n:04}.lab.example" for n in range(2500)
    ]

    assert client.put(FIRST) == (201, {})
    assert client.delete(lines[0]) == (204, None)
    assert pihole.lines == [*lines[1:], FIRST]


def test_an_acknowledged_line_survives_a_crash(client: Client, pihole: PiHole) -> None:
    client.put("192.168.9.2 b.lan")

    pihole.die("a test")
    pihole.restart()

    assert pihole.lines == [FIRST, "192.168.9.2 b.lan"]
