"""Tests that paths match as Kubernetes defines it, and that unsafe ones are refused."""

import re
from dataclasses import replace

import pytest

from pic.core.ingress import IngressPath, PathType
from pic.planning.paths import (
    ROOT,
    Dialect,
    PathMatch,
    UnusablePathError,
    proxy_key,
    quote,
    shown,
    translate,
)

PREFIX, EXACT, SPECIFIC = PathType.PREFIX, PathType.EXACT, PathType.IMPLEMENTATION_SPECIFIC


def matches(route: PathMatch, request: str) -> bool:
    if route.path is None:
        return True
    if route.match == "exact":
        return request == route.path
    return re.search(route.path, request) is not None


def chosen(routes: list[PathMatch], request: str) -> PathMatch | None:
    fitting = [route for route in routes if matches(route, request)]
    return max(fitting, key=lambda route: route.priority or 0, default=None)


@pytest.mark.parametrize(
    ("kind", "path", "request_path", "expected"),
    [
        (PREFIX, "/", "/any/path", True),
        (EXACT, "/foo", "/foo", True),
        (EXACT, "/foo", "/bar", False),
        (EXACT, "/foo", "/foo/", False),
        (EXACT, "/foo/", "/foo", False),
        (PREFIX, "/foo", "/foo", True),
        (PREFIX, "/foo", "/foo/", True),
        (PREFIX, "/foo/", "/foo", True),
        (PREFIX, "/foo/", "/foo/", True),
        (PREFIX, "/aaa/bb", "/aaa/bbb", False),
        (PREFIX, "/aaa/bbb", "/aaa/bbb", True),
        (PREFIX, "/aaa/bbb/", "/aaa/bbb", True),
        (PREFIX, "/aaa/bbb", "/aaa/bbb/", True),
        (PREFIX, "/aaa/bbb", "/aaa/bbb/ccc", True),
        (PREFIX, "/aaa/bbb", "/aaa/bbbxyz", False),
        (PREFIX, "/aaa", "/ccc", False),
    ],
)
def test_paths_match_as_in_the_table_of_the_kubernetes_documentation(
    kind: PathType, path: str, request_path: str, *, expected: bool
) -> None:
    assert matches(translate(path, kind, regex=False), request_path) is expected


@pytest.mark.parametrize(
    ("paths", "request_path", "winner"),
    [
        ([("/", PREFIX), ("/aaa", PREFIX)], "/aaa/ccc", 1),
        ([("/", PREFIX), ("/aaa", PREFIX), ("/aaa/bbb", PREFIX)], "/aaa/bbb", 2),
        ([("/", PREFIX), ("/aaa", PREFIX), ("/aaa/bbb", PREFIX)], "/ccc", 0),
        ([("/foo", PREFIX), ("/foo", EXACT)], "/foo", 1),
        ([("/foo", EXACT), ("/foo/bar", PREFIX)], "/foo/bar", 1),
        ([("/", EXACT), ("/", PREFIX)], "/", 0),
    ],
)
def test_the_longest_path_wins_and_exact_wins_over_prefix(
    paths: list[tuple[str, PathType]], request_path: str, winner: int
) -> None:
    routes = [translate(path, kind, regex=False) for path, kind in paths]

    assert chosen(routes, request_path) is routes[winner]


@pytest.mark.parametrize(
    ("path", "kind", "regex", "route"),
    [
        ("", PREFIX, False, ROOT),
        ("/", SPECIFIC, False, ROOT),
        ("/", SPECIFIC, True, ROOT),
        ("", EXACT, False, PathMatch("/", "exact", 105, 1)),
        ("/foo/", EXACT, False, PathMatch("/foo/", "exact", 113, 5)),
        ("/foo/", PREFIX, True, PathMatch("^/foo(/|$)", "regex", 110, 4)),
        ("/foo", SPECIFIC, False, PathMatch("^/foo(/|$)", "regex", 110, 4)),
        ("/f.o$", SPECIFIC, True, PathMatch("^/f.o$", "regex", 112, 5)),
        ("^/f", SPECIFIC, True, PathMatch("^/f", "regex", 106, 2)),
        ("/a.b", PREFIX, False, PathMatch("^/a\\.b(/|$)", "regex", 110, 4)),
        ("/.well-known/x", PREFIX, False, PathMatch("^/\\.well-known/x(/|$)", "regex", 130, 14)),
        ("/" + "a" * 448, PREFIX, False, PathMatch(f"^/{'a' * 448}(/|$)", "regex", 1000, 449)),
        (
            "/" + "a" * 448,
            EXACT,
            False,
            PathMatch("/" + "a" * 448, "exact", 1000, 449, capped=True),
        ),
    ],
)
def test_a_path_becomes_a_route(
    path: str, kind: PathType, *, regex: bool, route: PathMatch
) -> None:
    assert translate(path, kind, regex=regex) == route


@pytest.mark.parametrize(
    ("path", "kind", "regex", "problem"),
    [
        ("/a`b", SPECIFIC, True, "it contains a backtick"),
        ("/a b", EXACT, False, "it contains a space"),
        ("/a\n", PREFIX, False, "it contains a line break"),
        ("/a\x7f", PREFIX, False, "it contains the control character U+007F"),
        ("/ü", PREFIX, False, "it contains ü (U+00FC)"),
        ("foo", PREFIX, False, "it must begin with /"),
        ("foo", SPECIFIC, True, "it must begin with /"),
        ("/a//b", EXACT, False, "it contains //"),
        ("//", PREFIX, False, "it contains //"),
        ("//*", SPECIFIC, False, "it contains //"),
        ("/a?b", PREFIX, False, "it contains ?"),
        ("/a#b", EXACT, False, "it contains #"),
        ("/a%2fb", SPECIFIC, False, "it contains %2f"),
        ("/a/..", PREFIX, False, "it contains /.."),
        ("/a/./b", PREFIX, False, "it contains /./"),
        ("/" + "a" * 1024, EXACT, False, "it is longer than 1024 characters"),
        ("/[", SPECIFIC, True, "it is not a valid RE2 regular expression: missing ]: ["),
        (
            "/(?<!a)",
            SPECIFIC,
            True,
            "it is not a valid RE2 regular expression: invalid perl operator: (?<!",
        ),
    ],
)
def test_a_path_that_the_proxy_would_misread_is_refused(
    path: str, kind: PathType, *, regex: bool, problem: str
) -> None:
    with pytest.raises(UnusablePathError) as caught:
        translate(path, kind, regex=regex)

    assert str(caught.value) == problem


def test_only_characters_with_a_meaning_are_quoted() -> None:
    assert quote("\\.+*?()|[]{}^$") == "\\\\\\.\\+\\*\\?\\(\\)\\|\\[\\]\\{\\}\\^\\$"
    assert quote("/a-b_c~d%20&e=f@g:h,i;j!k'l\"") == "/a-b_c~d%20&e=f@g:h,i;j!k'l\""


def test_the_key_of_older_proxies_is_the_beginning_of_the_encoded_path() -> None:
    assert proxy_key("/a-b") == "2fa2db"
    assert proxy_key("/" + "a" * 60) == "2f" + "a" * 48


@pytest.mark.parametrize(
    ("path", "kind", "dialect"),
    [
        ("/api/*", SPECIFIC, Dialect.BELOW),
        ("/*", SPECIFIC, Dialect.BELOW),
        ("/api/*", PREFIX, Dialect.PATTERN),
        ("/api/*", EXACT, Dialect.PATTERN),
        ("/api*", SPECIFIC, Dialect.PATTERN),
        ("/*/api/*", SPECIFIC, Dialect.PATTERN),
        ("/api/.*", SPECIFIC, Dialect.PATTERN),
        ("/a(/|$)(.*)", PREFIX, Dialect.PATTERN),
        ("/a{1}", EXACT, Dialect.PATTERN),
        ("/a.b-c_d~e", SPECIFIC, Dialect.PLAIN),
        ("/", SPECIFIC, Dialect.PLAIN),
    ],
)
def test_the_dialect_of_a_path(path: str, kind: PathType, dialect: Dialect) -> None:
    assert translate(path, kind, regex=False).dialect is dialect


@pytest.mark.parametrize(
    ("path", "same"), [("/api/*", "/api"), ("/*", "/"), ("/a.b/*", "/a.b/"), ("/a//*", None)]
)
def test_a_star_at_the_end_is_a_prefix_without_it(path: str, same: str | None) -> None:
    if same is None:
        with pytest.raises(UnusablePathError):
            translate(path, SPECIFIC, regex=False)
    else:
        match = translate(path, SPECIFIC, regex=False)
        assert replace(match, dialect=Dialect.PLAIN) == translate(same, PREFIX, regex=False)


def test_a_path_is_shown_as_written_with_its_place() -> None:
    assert shown(IngressPath("/a(b)", EXACT, None, "spec.rules[0].http.paths[1]")) == (
        "path /a(b) (spec.rules[0].http.paths[1])"
    )
    assert shown(IngressPath("", EXACT, None)) == "path /"
    assert shown(IngressPath("/" + "a" * 200, EXACT, None)) == f"path /{'a' * 99}…"
