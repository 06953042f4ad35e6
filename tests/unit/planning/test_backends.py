"""Tests where the traffic of a backend goes, and which backends are refused."""

import pytest

from pic.core.ingress import ResourceBackend, Service, ServiceBackend, ServicePort
from pic.core.model import Target
from pic.core.notices import Reason
from pic.planning.backends import BackendError, Resolver
from pic.planning.notice_log import Problem
from pic.settings.parse import Settings

WEB = Service(
    "prod",
    "web",
    (
        ServicePort("http", 80, 8080),
        ServicePort("tls", 443, app_protocol="HTTPS"),
        ServicePort("grpc", 81, app_protocol="kubernetes.io/h2c"),
    ),
)
PODS = Service(
    "prod",
    "pods",
    (
        ServicePort("a", 80, 8080),
        ServicePort("b", 81),
        ServicePort("c", 82, 0),
        ServicePort("d", 83, "web"),
        ServicePort("e", 84, 70000),
    ),
    headless=True,
)
BARE = Service("prod", "bare")
FAR = Service(
    "prod",
    "far",
    (ServicePort("tls", 443, app_protocol="https"),),
    external=True,
    external_name="a.example.org",
)
SERVICES = {(service.namespace, service.name): service for service in (WEB, PODS, BARE, FAR)}
READ = Resolver(SERVICES, Settings())
UNREAD = Resolver(None, Settings(backend_scheme="https", cluster_domain="k8s.lan"))
ALLOWED = Resolver(SERVICES, Settings(allow_external_name=True))


@pytest.mark.parametrize(
    ("resolver", "service", "port", "scheme", "target"),
    [
        (READ, "web", 80, None, Target("web.prod.svc.cluster.local", 80, "http")),
        (READ, "web", "http", "https", Target("web.prod.svc.cluster.local", 80, "https")),
        (READ, "web", "tls", None, Target("web.prod.svc.cluster.local", 443, "https")),
        (READ, "web", "grpc", "http", Target("web.prod.svc.cluster.local", 81, "http")),
        (READ, "pods", "a", None, Target("pods.prod.svc.cluster.local", 8080, "http")),
        (READ, "pods", "b", None, Target("pods.prod.svc.cluster.local", 81, "http")),
        (READ, "pods", "c", None, Target("pods.prod.svc.cluster.local", 82, "http")),
        (UNREAD, "any", 80, None, Target("any.prod.svc.k8s.lan", 80, "https")),
        (ALLOWED, "far", 8080, None, Target("a.example.org", 8080, "http")),
        (ALLOWED, "far", 443, None, Target("a.example.org", 443, "https")),
        (ALLOWED, "far", "tls", "http", Target("a.example.org", 443, "http")),
    ],
)
def test_a_backend_resolves_to_an_address_port_and_scheme(
    resolver: Resolver, service: str, port: int | str, scheme: str | None, target: Target
) -> None:
    assert resolver.resolve(ServiceBackend(service, port), "prod", scheme)[:2] == (target, None)


@pytest.mark.parametrize(
    ("resolver", "service", "port", "reason", "message"),
    [
        (
            READ,
            "web",
            "x",
            Reason.BACKEND_INVALID,
            "Service web has no port 'x'; its ports are: 80 http, 443 tls, 81 grpc",
        ),
        (
            READ,
            "bare",
            80,
            Reason.BACKEND_INVALID,
            "Service bare has no port 80; its ports are: none",
        ),
        (
            READ,
            "web",
            None,
            Reason.BACKEND_INVALID,
            "the backend must name one port of Service web, by number or by name",
        ),
        (
            READ,
            "pods",
            "e",
            Reason.BACKEND_INVALID,
            "port 70000 of Service pods is not in the range 1 to 65535",
        ),
        (
            READ,
            "gone",
            80,
            Reason.BACKEND_NOT_FOUND,
            "Service gone does not exist in namespace prod",
        ),
        (READ, "", 80, Reason.BACKEND_INVALID, "'' is not a valid name of a Service"),
        (
            READ,
            "${SVC}",
            80,
            Reason.BACKEND_INVALID,
            "the backend has a variable not filled in: ${SVC}",
        ),
        (
            UNREAD,
            "web",
            "$(PORT)",
            Reason.BACKEND_INVALID,
            "the backend has a variable not filled in: $(PORT)",
        ),
        (
            UNREAD,
            "web",
            None,
            Reason.BACKEND_INVALID,
            "port '' of Service web cannot be resolved, because no Services were read: add the"
            " Service, or use its port number",
        ),
        (
            ALLOWED,
            "far",
            "x",
            Reason.BACKEND_INVALID,
            "Service far has no port 'x'; its ports are: 443 tls",
        ),
    ],
)
def test_an_unusable_backend_is_refused_with_a_reason(
    resolver: Resolver, service: str, port: int | str | None, reason: Reason, message: str
) -> None:
    with pytest.raises(BackendError) as caught:
        resolver.resolve(ServiceBackend(service, port), "prod", None)

    assert caught.value.problem == Problem(reason, message)
    assert str(caught.value) == message


def test_a_backend_that_is_not_a_service_is_refused() -> None:
    with pytest.raises(BackendError, match="the backend is Bucket/b, but must be a Service"):
        READ.resolve(ResourceBackend("Bucket/b"), "prod", None)
