"""Tests what is said about the annotations of other controllers."""

from pic.core.notices import Reason
from pic.planning.foreign.notices import MOST_KEYS, protecting, unprotected, without_effect
from pic.planning.foreign.reading import read
from pic.planning.notice_log import Problem

NGINX = "nginx.ingress.kubernetes.io/"
WAYS_OUT = (
    "set pangolin.ingress.k8s.io/sso to true to require a login, or to false if it should be public"
)


def test_a_warning_names_the_annotations_and_the_ways_out() -> None:
    others = read({f"{NGINX}auth-url": "x", f"{NGINX}auth-type": "basic", f"{NGINX}app-root": "/a"})

    keys = protecting(others)

    assert keys == (f"{NGINX}auth-type", f"{NGINX}auth-url")
    assert unprotected("a.example.com", keys, hold=False) == Problem(
        Reason.FOREIGN_PROTECTION,
        f"{NGINX}auth-type, {NGINX}auth-url have no effect here, so the host is public: {WAYS_OUT}",
        "a.example.com",
    )


def test_a_held_host_is_said_not_to_be_exposed() -> None:
    problem = unprotected("a.example.com", [f"{NGINX}auth-url"], hold=True)

    assert problem.message == (
        f"{NGINX}auth-url has no effect here, so the host is not exposed: {WAYS_OUT}"
    )


def test_a_warning_names_a_bounded_number_of_annotations() -> None:
    keys = [f"a/{number:02}" for number in range(MOST_KEYS + 3)]

    assert " a/09 and 3 more have no effect" in unprotected("a.org", keys, hold=False).message


def test_one_remark_says_what_happens_here_in_place_of_each_annotation() -> None:
    values = {
        f"{NGINX}rewrite-target": "/",
        f"{NGINX}auth-url": "x",
        f"{NGINX}ssl-redirect": "true",
        f"{NGINX}use-regex": "true",
    }

    assert without_effect(read(values), []) == Problem(
        Reason.FOREIGN_ANNOTATION,
        f"no effect here: {NGINX}auth-url (it protects nothing); {NGINX}rewrite-target (the backend"
        f" gets the path as the visitor sent it); {NGINX}use-regex (paths are plain text; set"
        ' pangolin.ingress.k8s.io/path-regex: "true")',
    )


def test_what_has_a_warning_or_no_consequence_needs_no_remark() -> None:
    values = {f"{NGINX}auth-url": "x", f"{NGINX}ssl-redirect": "true"}

    assert without_effect(read(values), [f"{NGINX}auth-url"]) is None


def test_a_remark_names_a_bounded_number_of_annotations() -> None:
    values: dict[str, str | None] = {
        f"{NGINX}new-{number:02}": "x" for number in range(MOST_KEYS + 2)
    }
    problem = without_effect(read(values), [])

    assert problem is not None
    assert problem.message.endswith("new-09 (pic does not read it); and 2 more")
