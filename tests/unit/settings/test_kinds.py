"""Tests which kinds a run reads, and in which namespaces, for which settings."""

import pytest

from pic.cluster import listing
from pic.settings.kinds import (
    BY_NAME,
    INGRESS,
    INGRESS_CLASS,
    NAMESPACE,
    ORGANIZATION,
    RESOURCE,
    SERVICE,
    TUNNEL,
    tunnel_search,
)
from pic.settings.parse import Settings, TargetName


def listings(settings: Settings) -> list[str]:
    return [str(item) for item in listing.listings(settings)]


def test_by_default_a_run_reads_every_kind_but_classes_in_all_namespaces() -> None:
    assert listings(Settings()) == [
        "ingresses in all namespaces",
        "services in all namespaces",
        "pangolintunnels in all namespaces",
        "pangolinorganizations in all namespaces",
        "pangolinresources in all namespaces",
    ]


def test_a_run_reads_our_objects_in_all_namespaces_whatever_the_setting() -> None:
    assert listings(Settings(namespaces=("a", "b"))) == [
        "ingresses in namespace a",
        "ingresses in namespace b",
        "services in namespace a",
        "services in namespace b",
        "pangolintunnels in all namespaces",
        "pangolinorganizations in all namespaces",
        "pangolinresources in all namespaces",
    ]


def test_a_run_reads_tunnels_only_in_the_namespaces_that_can_hold_them() -> None:
    settings = Settings(tunnel_namespace="t", tunnel_namespaces=("t", "u"))

    assert listings(settings)[2:] == [
        "pangolintunnels in namespace t",
        "pangolintunnels in namespace u",
        "pangolinorganizations in namespace t",
        "pangolinorganizations in namespace u",
        "pangolinresources in all namespaces",
    ]


@pytest.mark.parametrize(
    ("namespaces", "expected"), [((), ["", ""]), (("a", "t"), ["t", "u", "a"] * 2)]
)
def test_a_run_reads_the_tunnels_of_ingresses_if_they_may_use_their_own(
    namespaces: tuple[str, ...], expected: list[str]
) -> None:
    settings = Settings(
        namespaces=namespaces, tunnel_namespace="t", tunnel_namespaces=(".", "u", "t")
    )

    places = [
        place for kind in (TUNNEL, ORGANIZATION) for place in BY_NAME[kind].namespaces(settings)
    ]

    assert places == expected


def test_a_run_reads_all_tunnels_while_live_hosts_keep_theirs() -> None:
    assert BY_NAME[TUNNEL].namespaces(Settings(tunnel_namespaces=("t",))) == ("",)


@pytest.mark.parametrize(
    ("settings", "search"),
    [
        (Settings(), ()),
        (Settings(tunnel_namespace="t"), ("t",)),
        (Settings(tunnel_namespaces=("u", "prod")), ("u", "prod")),
        (Settings(tunnel_namespaces=(".", "u")), ("u", "prod")),
        (Settings(tunnel_namespace="t", tunnel_namespaces=("prod", ".", "t")), ("t", "prod")),
    ],
)
def test_the_search_for_a_tunnel_ends_in_the_namespace_of_the_ingress(
    settings: Settings, search: tuple[str, ...]
) -> None:
    assert tunnel_search(settings, "prod") == search


def test_a_run_reads_classes_when_an_ingress_without_a_class_can_be_ours() -> None:
    settings = Settings(ingress_classes=("pangolin", ""))

    assert listings(settings)[:3] == [
        "ingresses in all namespaces",
        "ingressclasses in all namespaces",
        "services in all namespaces",
    ]


def test_a_run_for_pihole_reads_only_ingresses() -> None:
    assert listings(Settings(targets=(TargetName.PIHOLE,))) == ["ingresses in all namespaces"]


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (INGRESS, "/apis/networking.k8s.io/v1"),
        (SERVICE, "/api/v1"),
        (TUNNEL, "/apis/tunnel.pangolin.io/v1alpha1"),
    ],
)
def test_the_core_group_has_a_path_of_its_own(kind: str, path: str) -> None:
    assert BY_NAME[kind].path == path


def test_files_can_name_an_earlier_group_of_ingresses_and_classes() -> None:
    groups = ("networking.k8s.io", "extensions", "")

    assert {name: [BY_NAME[name].is_in(group) for group in groups] for name in BY_NAME} == {
        INGRESS: [True, True, False],
        INGRESS_CLASS: [True, True, False],
        SERVICE: [False, False, True],
        NAMESPACE: [False, False, True],
        TUNNEL: [False, False, False],
        ORGANIZATION: [False, False, False],
        RESOURCE: [False, False, False],
    }
