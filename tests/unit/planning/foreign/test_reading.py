"""Tests which annotations of other controllers are known, and what is lost with them."""

import pytest

from pic.planning.foreign.reading import CONTROLLERS, find, kept, read
from pic.planning.foreign.words import REMEDIES, Effect, Topic

NGINX = "nginx.ingress.kubernetes.io/"
PROTECTS, LOST, NONE = Effect.PROTECTS, Effect.LOST, Effect.NONE


@pytest.mark.parametrize(
    ("key", "value", "effect"),
    [
        (f"{NGINX}auth-url", "https://auth.example.com", PROTECTS),
        (f"{NGINX}auth-url", "", NONE),
        (f"{NGINX}auth-url", None, NONE),
        (f"{NGINX}auth-realm", "x", NONE),
        (f"{NGINX}whitelist-source-range", "10.0.0.0/8, 192.168.0.0/16", PROTECTS),
        (f"{NGINX}whitelist-source-range", "0.0.0.0/0,::/0", NONE),
        (f"{NGINX}whitelist-source-range", " ", NONE),
        (f"{NGINX}auth-tls-verify-client", "on", PROTECTS),
        (f"{NGINX}auth-tls-verify-client", "optional", NONE),
        (f"{NGINX}enable-modsecurity", "true", PROTECTS),
        (f"{NGINX}enable-modsecurity", "False", NONE),
        (f"{NGINX}server-snippet", "location /x { deny all; }", PROTECTS),
        (f"{NGINX}configuration-snippet", "auth_request /check;", PROTECTS),
        (
            f"{NGINX}configuration-snippet",
            "more_set_headers 'Access-Control-Allow-Origin: *';",
            LOST,
        ),
        (f"{NGINX}configuration-snippet", "", NONE),
        (f"{NGINX}rewrite-target", "/", LOST),
        (f"{NGINX}use-regex", "true", LOST),
        (f"{NGINX}use-regex", "false", NONE),
        (f"{NGINX}backend-protocol", "GRPC", LOST),
        (f"{NGINX}backend-protocol", "HTTP", NONE),
        (f"{NGINX}ssl-redirect", "false", NONE),
        (f"{NGINX}cors-allow-origin", "*", LOST),
        (f"{NGINX}limit-rps", "5", LOST),
        (f"{NGINX}never-heard-of", "x", LOST),
        (f"{NGINX}new_jwt_check", "x", PROTECTS),
        ("ingress.kubernetes.io/auth-type", "basic", PROTECTS),
        ("ingress.kubernetes.io/url-map", "k8s-um", NONE),
        ("traefik.ingress.kubernetes.io/router.middlewares", "a@file", PROTECTS),
        ("traefik.ingress.kubernetes.io/router.tls.domains.0.main", "x", NONE),
        ("traefik.ingress.kubernetes.io/router.pathmatcher", "PathPrefix", NONE),
        ("traefik.ingress.kubernetes.io/router.pathmatcher", "PathRegexp", LOST),
        ("haproxy.org/deny-list", "0.0.0.0/0", PROTECTS),
        ("haproxy.com/allow-list", "10.0.0.0/8", PROTECTS),
        ("konghq.com/plugins", "key-auth", PROTECTS),
        ("plugins.konghq.com", "key-auth", PROTECTS),
        ("konghq.com/headers.x-route", "a", LOST),
        ("projectcontour.io/response-timeout", "5s", LOST),
        ("alb.ingress.kubernetes.io/auth-type", "oidc", PROTECTS),
        ("alb.ingress.kubernetes.io/auth-type", "none", NONE),
        ("alb.ingress.kubernetes.io/scheme", "internal", PROTECTS),
        ("alb.ingress.kubernetes.io/scheme", "internet-facing", NONE),
        ("alb.ingress.kubernetes.io/actions.redirect", "{}", LOST),
        ("nginx.com/jwt-key", "keys", PROTECTS),
        ("nginx.org/server-snippets", "return 403;", PROTECTS),
        ("haproxy.org/backend-config-snippet", "http-request deny if x", PROTECTS),
        ("route.openshift.io/termination", "passthrough", LOST),
        ("route.openshift.io/termination", "edge", NONE),
    ],
)
def test_what_is_lost_depends_on_the_annotation_and_its_value(
    key: str, value: str | None, effect: Effect
) -> None:
    (found,) = read({key: value})

    assert (found.key, found.effect) == (key, effect)


@pytest.mark.parametrize(
    "key",
    [
        "cert-manager.io/cluster-issuer",
        "kubernetes.io/ingress.class",
        "external-dns.alpha.kubernetes.io/hostname",
        "example.com/auth-url",
        "auth-url",
        "pangolin.ingress.k8s.io/sso",
    ],
)
def test_annotations_of_no_controller_are_not_found(key: str) -> None:
    assert (find(key), kept(key, "x")) == (None, None)


def test_the_table_has_the_annotations_of_many_controllers() -> None:
    keys = [word.key for controller in CONTROLLERS for word in controller.words]

    assert len(CONTROLLERS) >= 7
    assert len(keys) >= 60
    assert len(set(keys)) == len(keys)
    assert all(word.there and word.here for it in CONTROLLERS for word in it.words)
    assert {controller.name for controller in CONTROLLERS} >= {
        *("nginx", "traefik", "haproxy", "kong", "contour", "alb", "f5-nginx", "gce")
    }


def test_every_controller_but_contour_gce_and_cilium_has_words_that_protect() -> None:
    without = {
        controller.name
        for controller in CONTROLLERS
        if not any(word.effect is PROTECTS for word in controller.words)
    }

    # The first and the last protect with resources of their own, and not with annotations.
    assert without == {"contour", "cilium"}


def test_every_topic_has_a_remedy_and_is_used() -> None:
    used = {word.topic for controller in CONTROLLERS for word in controller.words}

    assert set(REMEDIES) == set(Topic)
    # This one is for annotations that the table does not have.
    assert set(Topic) - used == {Topic.UNKNOWN}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (f"{NGINX}auth-secret", "the-name-of-a-secret", "true"),
        (f"{NGINX}auth-secret", "", None),
        (f"{NGINX}auth-realm", "x", None),
        (f"{NGINX}server-snippet", "deny 10.0.0.1;", "deny all"),
        (f"{NGINX}server-snippet", "gzip on;", "true"),
        (f"{NGINX}rewrite-target", ["x"], "true"),
        (f"{NGINX}rewrite-target", None, None),
        ("alb.ingress.kubernetes.io/scheme", "internal", "true"),
    ],
)
def test_a_snapshot_keeps_of_a_value_only_that_it_asks_for_something(
    key: str, value: object, expected: str | None
) -> None:
    stays = kept(key, value)

    assert stays == expected
    if stays and isinstance(value, str):
        assert read({key: stays})[0].effect is read({key: value})[0].effect
