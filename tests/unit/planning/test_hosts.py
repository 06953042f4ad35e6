import pytest

from pic.planning import hosts

LONG = ".".join(["a" * 61] * 4)


@pytest.mark.parametrize(
    ("written", "spelling"),
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
def test_a_host_has_one_spelling(written: str, spelling: str) -> None:
    assert hosts.normalise(written) == spelling
    assert hosts.normalise(spelling) == spelling


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("", "it has an empty label"),
        (".", "it has an empty label"),
        ("a..example", "it has an empty label"),
        (".example", "it has an empty label"),
        ("a.example..", "it has an empty label"),
        ("*.example", "a wildcard cannot be exposed"),
        ("a*.example", "a wildcard cannot be exposed"),
        ("ü*.example", "a wildcard cannot be exposed"),
        ("192.0.2.1", "it is an address, not a name"),
        ("a.example.1", "it is an address, not a name"),
        ("::1", "it is an address, not a name"),
        ("[::1]", "it is an address, not a name"),
        ("a.example:80", "it holds a port or a colon"),
        ("https://a.example", "it holds a port or a colon"),
        (f"{LONG}.abcdef", "it is longer than 253 characters"),
        (f"{'a' * 64}.example", f"the label {'a' * 20}… is longer than 63 characters"),
        ("a_b.example", "an underscore is not allowed in a host name"),
        ("-a.example", "the label -a begins or ends with a hyphen"),
        ("a-.example", "the label a- begins or ends with a hyphen"),
        ("${HOST}.example", "it holds a variable that nothing has filled in"),
        ("{{ .Values.host }}", "it holds a variable that nothing has filled in"),
        (" a.example", "it holds a character that host names cannot have"),
        ("a/b.example", "it holds a character that host names cannot have"),
        ("a\n.example", "it holds a character that host names cannot have"),
        ("\u2024.example", "it holds a character that host names cannot have"),
        (
            "xn--a.example",
            "not a valid IDNA name: Codepoint U+0080 at position 1 of '\\x80' not allowed",
        ),
    ],
)
def test_what_is_no_host_is_refused_with_the_reason(written: str, problem: str) -> None:
    with pytest.raises(hosts.UnusableHostError) as caught:
        hosts.normalise(written)

    assert str(caught.value) == problem


def test_a_single_label_is_not_public() -> None:
    with pytest.raises(hosts.UnusableHostError) as caught:
        hosts.public("nas")

    assert str(caught.value) == "a single label is no public host"
    assert hosts.public("Nas.example") == "nas.example"


def test_the_longest_domain_that_ends_a_host_at_a_label_is_its_suffix() -> None:
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


def test_the_subdomain_is_what_stands_before_the_domain() -> None:
    assert hosts.subdomain("a.b.example.com", "example.com") == "a.b"
    assert hosts.subdomain("example.com", "example.com") is None
