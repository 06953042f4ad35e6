"""Tests how hosts are normalised and split, and which ones are refused."""

import pytest

from pic.planning import hosts

LONG = ".".join(["a" * 61] * 4)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("app.example.com", "app.example.com"),
        ("APP.Example.COM", "app.example.com"),
        ("app.example.com.", "app.example.com"),
        ("a--b.example.com", "a--b.example.com"),
        ("1.example.com", "1.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example.", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("bücher.example。", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("ΣΑΣ.example", "xn--mxa9ab.example"),
        ("nas", "nas"),
        ("nas2", "nas2"),
        ("app.v2", "app.v2"),
        (f"{'a' * 63}.example", f"{'a' * 63}.example"),
        (f"{LONG}.abcde", f"{LONG}.abcde"),
    ],
)
def test_every_spelling_of_a_host_has_one_normal_form(written: str, normal: str) -> None:
    assert hosts.normalise(written) == normal
    assert hosts.normalise(normal) == normal


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("", "it contains an empty label"),
        (".", "it contains an empty label"),
        ("a..example", "it contains an empty label"),
        (".example", "it contains an empty label"),
        ("a.example..", "it contains an empty label"),
        ("*.example", "wildcards are not supported"),
        ("a*.example", "wildcards are not supported"),
        ("ü*.example", "wildcards are not supported"),
        ("192.0.2.1", "it is an IP address, not a host name"),
        ("a.example.1", "it is an IP address, not a host name"),
        ("::1", "it is an IP address, not a host name"),
        ("[::1]", "it is an IP address, not a host name"),
        ("a.example:80", "it contains a colon; write it without a port"),
        ("https://a.example", "it contains a colon; write it without a port"),
        (f"{LONG}.abcdef", "it is longer than 253 characters"),
        (f"{'a' * 64}.example", f"the label {'a' * 20}… is longer than 63 characters"),
        ("a_b.example", "it contains an underscore"),
        ("-a.example", "the label -a begins or ends with a hyphen"),
        ("a-.example", "the label a- begins or ends with a hyphen"),
        ("${HOST}.example", "variable not filled in: ${HOST}"),
        ("{{ .Values.host }}", "variable not filled in: {{ .Values.host }}"),
        ("$(HOST).example", "variable not filled in: $(HOST)"),
        ("app.$DOMAIN", "variable not filled in: $DOMAIN"),
        ("<your-host>.example", "variable not filled in: <your-host>"),
        ("${HÖST}.example", "variable not filled in: ${HÖST}"),
        (" a.example", "it contains ' ', which host names do not allow"),
        ("a/b.example", "it contains '/', which host names do not allow"),
        ("a\n.example", "it contains '\\u000a' (U+000A), which host names do not allow"),
        ("\u2024.example", "it contains '\u2024' (U+2024), which host names do not allow"),
        (
            "xn--a.example",
            "it is not a valid IDNA name: Codepoint U+0080 at position 1 of '\\x80' not allowed",
        ),
    ],
)
def test_an_invalid_host_is_refused_with_a_reason(written: str, problem: str) -> None:
    with pytest.raises(hosts.UnusableHostError) as caught:
        hosts.normalise(written)

    assert str(caught.value) == problem


def test_a_single_label_is_not_public() -> None:
    with pytest.raises(hosts.UnusableHostError) as caught:
        hosts.public("nas")

    assert str(caught.value) == "a public host needs a domain, and this is a single label"
    assert hosts.public("Nas.example") == "nas.example"


def test_the_suffix_is_the_longest_domain_that_the_host_is_below() -> None:
    domains = ("example.com", "b.example.com", "xb.example.com", "a.b.example.com.org")

    assert hosts.suffix_of("a.b.example.com", domains) == "b.example.com"
    assert hosts.suffix_of("example.com", domains) == "example.com"
    assert hosts.suffix_of("anexample.com", domains) is None
    assert hosts.suffix_of("a.example.com", ()) is None


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.b.example.com", "example.com"),
        ("a.example.co.uk", "example.co.uk"),
        ("a.me.github.io", "me.github.io"),
        ("a.b.unheard-of", "b.unheard-of"),
        ("co.uk", "co.uk"),
        ("a.xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_the_registrable_domain_is_a_public_suffix_and_one_label(host: str, domain: str) -> None:
    assert hosts.registrable(host) == domain


def test_the_subdomain_precedes_the_domain() -> None:
    assert hosts.subdomain("a.b.example.com", "example.com") == "a.b"
    assert hosts.subdomain("example.com", "example.com") is None
