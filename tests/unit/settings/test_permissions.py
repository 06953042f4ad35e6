"""Tests which permissions pic needs, for which settings."""

from collections.abc import Sequence

from pic.cluster import listing
from pic.run.targets import permissions_for_up
from pic.settings.parse import ResourceSchema, Settings, TargetName
from pic.settings.permissions import Permission, watch_permissions


def shown(settings: Settings) -> list[str]:
    return [str(permission) for permission in permissions_for_up(settings)]


def writes(*namespaces: str) -> list[str]:
    """Return the permissions on our own objects, in some namespaces or in all."""
    verbs = ("get", "watch", "create", "patch", "delete")
    scopes: Sequence[str] = [f" in {namespace}" for namespace in namespaces] or [""]
    return [f"{verb} pangolinresources.tunnel.pangolin.io{at}" for at in scopes for verb in verbs]


def test_by_default_a_run_reads_and_writes_in_all_namespaces() -> None:
    assert shown(Settings()) == [
        "list ingresses.networking.k8s.io",
        "list services",
        "list pangolintunnels.tunnel.pangolin.io",
        "list pangolinorganizations.tunnel.pangolin.io",
        "list pangolinresources.tunnel.pangolin.io",
        "list namespaces",
        "get namespaces",
        "get customresourcedefinitions.apiextensions.k8s.io",
        *writes(),
        "create events",
    ]


def test_narrower_settings_need_fewer_permissions() -> None:
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
        "list services in a",
        "list services in b",
        "list pangolintunnels.tunnel.pangolin.io in t",
        "list pangolintunnels.tunnel.pangolin.io in u",
        "list pangolinorganizations.tunnel.pangolin.io in t",
        "list pangolinorganizations.tunnel.pangolin.io in u",
        "list pangolinresources.tunnel.pangolin.io",
        "list configmaps in t",
        "get namespaces in a",
        "get namespaces in b",
        "get namespaces",
        *writes("a", "b"),
        *(f"{verb} configmaps in t" for verb in ("get", "create", "patch", "delete")),
    ]


def test_ingresses_without_a_class_need_the_permission_to_list_classes() -> None:
    extra = set(shown(Settings(ingress_classes=("",)))) - set(shown(Settings()))

    assert extra == {"list ingressclasses.networking.k8s.io"}


def test_pihole_alone_needs_only_the_ingresses() -> None:
    assert list(permissions_for_up(Settings(targets=(TargetName.PIHOLE,)))) == [
        Permission("networking.k8s.io", "ingresses", "list", "to find the hosts to expose"),
        Permission(
            *("", "namespaces", "list", "optional, to see which namespaces are being deleted"),
            optional=True,
        ),
        Permission("", "namespaces", "get", "to identify the cluster", name="kube-system"),
        Permission("networking.k8s.io", "ingresses", "patch", "to record which hosts Pi-hole has"),
        Permission("", "events", "create", "to create Events on Ingresses"),
    ]


def test_without_annotations_pihole_needs_no_permission_to_change_ingresses() -> None:
    settings = Settings(targets=(TargetName.PIHOLE,), pihole_annotate=False, events=False)

    assert shown(settings) == [
        "list ingresses.networking.k8s.io",
        "list namespaces",
        "get namespaces",
    ]


def test_a_watcher_watches_what_a_run_lists_and_has_a_lease() -> None:
    settings = Settings(namespaces=("a", "b"), tunnel_namespace="t", ingress_classes=("",))

    assert [str(permission) for permission in watch_permissions(settings, "pic")] == [
        "watch ingresses.networking.k8s.io in a",
        "watch ingresses.networking.k8s.io in b",
        "watch ingressclasses.networking.k8s.io",
        "watch services in a",
        "watch services in b",
        "watch pangolintunnels.tunnel.pangolin.io in t",
        "watch pangolinorganizations.tunnel.pangolin.io in t",
        "watch pangolinresources.tunnel.pangolin.io",
        "get leases.coordination.k8s.io in pic",
        "create leases.coordination.k8s.io in pic",
        "update leases.coordination.k8s.io in pic",
    ]


def test_every_listing_has_its_permission() -> None:
    settings = Settings(
        namespaces=("a", "b"), tunnel_namespace="t", ingress_classes=("pangolin", "")
    )
    allowed = {
        (permission.resource, permission.namespace)
        for permission in permissions_for_up(settings)
        if permission.verb == "list"
    }

    assert {(one.kind.plural, one.namespace) for one in listing.listings(settings)} <= allowed
