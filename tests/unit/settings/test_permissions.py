"""What pic must be allowed to do, and what it reads, for which settings."""

from collections.abc import Sequence

from pic.cluster import listing
from pic.settings.parse import ResourceSchema, Settings, TargetName
from pic.settings.permissions import Permission, needed, watching


def shown(settings: Settings) -> list[str]:
    return [str(each) for each in needed(settings)]


def writes(*places: str) -> list[str]:
    """The permissions on our own objects, in namespaces or everywhere."""
    verbs = ("get", "watch", "create", "patch", "delete")
    where: Sequence[str] = [f" in {place}" for place in places] or [""]
    return [f"{verb} pangolinresources.tunnel.pangolin.io{it}" for it in where for verb in verbs]


def test_by_default_everything_is_read_everywhere() -> None:
    assert shown(Settings()) == [
        "list ingresses.networking.k8s.io",
        "list services",
        "list pangolintunnels.tunnel.pangolin.io",
        "list pangolinorganizations.tunnel.pangolin.io",
        "list pangolinresources.tunnel.pangolin.io",
        "get namespaces",
        "get customresourcedefinitions.apiextensions.k8s.io",
        *writes(),
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
        "list services in a",
        "list services in b",
        "list pangolintunnels.tunnel.pangolin.io in t",
        "list pangolintunnels.tunnel.pangolin.io in u",
        "list pangolinorganizations.tunnel.pangolin.io in t",
        "list pangolinorganizations.tunnel.pangolin.io in u",
        "list pangolinresources.tunnel.pangolin.io",
        "get namespaces",
        *writes("a", "b"),
    ]


def test_an_ingress_without_class_needs_the_classes() -> None:
    extra = set(shown(Settings(ingress_classes=("",)))) - set(shown(Settings()))

    assert extra == {"list ingressclasses.networking.k8s.io"}


def test_pihole_alone_needs_the_ingresses_only() -> None:
    assert list(needed(Settings(targets=(TargetName.PIHOLE,)))) == [
        Permission("networking.k8s.io", "ingresses", "list", "what is to be exposed"),
        Permission("", "namespaces", "get", "tells clusters apart", name="kube-system"),
        Permission("", "events", "create", "Events at the Ingresses"),
        Permission("networking.k8s.io", "ingresses", "patch", "tells what Pi-hole has"),
    ]


def test_pihole_changes_no_ingress_where_it_is_not_to_annotate_any() -> None:
    settings = Settings(targets=(TargetName.PIHOLE,), pihole_annotate=False, events=False)

    assert shown(settings) == ["list ingresses.networking.k8s.io", "get namespaces"]


def test_a_watcher_watches_what_a_run_lists_and_holds_a_lease() -> None:
    settings = Settings(namespaces=("a", "b"), tunnel_namespace="t", ingress_classes=("",))

    assert [str(each) for each in watching(settings, "pic")] == [
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


# Reads, each of which needs one of these permissions.


def listed(settings: Settings) -> list[str]:
    return [str(each) for each in listing.listings(settings)]


def test_by_default_everything_is_read_everywhere_but_no_classes() -> None:
    assert listed(Settings()) == [
        "ingresses in all namespaces",
        "services in all namespaces",
        "pangolintunnels in all namespaces",
        "pangolinorganizations in all namespaces",
        "pangolinresources in all namespaces",
    ]


def test_our_own_objects_are_read_everywhere_whatever_the_namespaces() -> None:
    assert listed(Settings(namespaces=("a", "b"))) == [
        "ingresses in namespace a",
        "ingresses in namespace b",
        "services in namespace a",
        "services in namespace b",
        "pangolintunnels in all namespaces",
        "pangolinorganizations in all namespaces",
        "pangolinresources in all namespaces",
    ]


def test_tunnels_are_read_only_where_they_may_be() -> None:
    settings = Settings(tunnel_namespace="t", tunnel_namespaces=("t", "u"))

    assert listed(settings)[2:] == [
        "pangolintunnels in namespace t",
        "pangolintunnels in namespace u",
        "pangolinorganizations in namespace t",
        "pangolinorganizations in namespace u",
        "pangolinresources in all namespaces",
    ]


def test_classes_are_read_when_an_ingress_without_class_may_be_ours() -> None:
    settings = Settings(ingress_classes=("pangolin", ""))

    assert listed(settings)[:3] == [
        "ingresses in all namespaces",
        "ingressclasses in all namespaces",
        "services in all namespaces",
    ]


def test_only_ingresses_are_read_for_pihole() -> None:
    assert listed(Settings(targets=(TargetName.PIHOLE,))) == ["ingresses in all namespaces"]


def test_every_listing_has_its_permission() -> None:
    settings = Settings(
        namespaces=("a", "b"), tunnel_namespace="t", ingress_classes=("pangolin", "")
    )
    allowed = {(each.resource, each.namespace) for each in needed(settings) if each.verb == "list"}

    assert {(each.kind.plural, each.namespace) for each in listing.listings(settings)} <= allowed
