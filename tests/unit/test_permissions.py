"""What pic must be allowed to do, for which settings."""

from pic.config import ResourceSchema, Settings, TargetName
from pic.permissions import Permission, needed


def shown(settings: Settings) -> list[str]:
    return [str(each) for each in needed(settings)]


WRITES = [
    f"{verb} pangolinresources.tunnel.pangolin.io"
    for verb in ("get", "list", "watch", "create", "patch", "delete")
]


def test_by_default_everything_is_read_everywhere() -> None:
    assert shown(Settings()) == [
        "list ingresses.networking.k8s.io",
        "get namespaces",
        "list services",
        "list pangolintunnels.tunnel.pangolin.io",
        "list pangolinorganizations.tunnel.pangolin.io",
        "get customresourcedefinitions.apiextensions.k8s.io",
        *WRITES,
        "list events",
        "watch events",
        "create events",
    ]


def test_settings_that_need_less_ask_for_less() -> None:
    settings = Settings(
        namespaces=("a", "b"),
        tunnel_namespace="t",
        tunnel_namespaces=("u",),
        resource_schema=ResourceSchema.TARGETS,
        events=False,
    )

    assert shown(settings) == [
        "list ingresses.networking.k8s.io in a",
        "list ingresses.networking.k8s.io in b",
        "get namespaces",
        "list services in a",
        "list services in b",
        "list pangolintunnels.tunnel.pangolin.io in t",
        "list pangolinorganizations.tunnel.pangolin.io in t",
        "list pangolintunnels.tunnel.pangolin.io in u",
        "list pangolinorganizations.tunnel.pangolin.io in u",
        *WRITES,
        "list events",
        "watch events",
    ]


def test_an_ingress_without_class_needs_the_classes() -> None:
    extra = set(shown(Settings(ingress_classes=("",)))) - set(shown(Settings()))

    assert extra == {"list ingressclasses.networking.k8s.io"}


def test_pihole_alone_needs_the_ingresses_only() -> None:
    assert list(needed(Settings(targets=(TargetName.PIHOLE,)))) == [
        Permission("networking.k8s.io", "ingresses", "list", "what is to be exposed"),
        Permission("", "namespaces", "get", "tells clusters apart", name="kube-system"),
    ]
