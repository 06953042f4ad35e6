"""Tests how the tunnel of a host is found."""

import pytest

from pic.core.model import LiveResource, Snapshot, Spec, TunnelRef
from pic.core.notices import Reason
from pic.core.operator_objects import Organization, Schema, Tunnel
from pic.planning.notice_log import Problem
from pic.planning.tunnels import ResolvedTunnel, Tunnels, declared_tunnel
from pic.settings.parse import Settings

ACME = Organization("net", "acme", ("example.com",))
HERE = Tunnel("prod", "edge", ("net", "acme"), "Ready")
FAR = Tunnel("net", "far", None, "")
SNAPSHOT = Snapshot(tunnels=(HERE, FAR), organizations=(ACME,))


def test_a_tunnel_is_found_with_its_organisation_and_its_status() -> None:
    tunnels = Tunnels(SNAPSHOT, Settings())

    assert tunnels.find("edge", "prod") == ResolvedTunnel(TunnelRef("edge"), ACME)
    assert tunnels.find("far", "prod") == ResolvedTunnel(TunnelRef("far", "net"), None, "none")


def test_answers_are_remembered() -> None:
    tunnels = Tunnels(SNAPSHOT, Settings())

    assert tunnels.find("edge", "prod") is tunnels.find("edge", "prod")
    assert tunnels.find("gone", "prod") is tunnels.find("gone", "prod")


def test_organisations_that_were_not_read_are_not_required() -> None:
    tunnels = Tunnels(Snapshot(tunnels=(HERE,)), Settings())

    assert tunnels.find("edge", "prod") == ResolvedTunnel(TunnelRef("edge"))


def test_tunnels_that_were_not_read_count_as_existing_where_the_search_begins() -> None:
    tunnels = Tunnels(Snapshot(), Settings(tunnel_namespace="net"))
    listed = Tunnels(Snapshot(), Settings(tunnel_namespaces=("net", ".")))

    assert Tunnels(Snapshot(), Settings()).find("edge", "prod") == ResolvedTunnel(TunnelRef("edge"))
    assert listed.find("edge", "prod") == ResolvedTunnel(TunnelRef("edge", "net"))

    assert tunnels.find("edge", "prod") == ResolvedTunnel(TunnelRef("edge", "net"))
    assert tunnels.find("net/edge", "prod") == ResolvedTunnel(TunnelRef("edge", "net"))


LIVE = Snapshot("cluster-1", tunnels=(HERE, FAR), organizations=(ACME,))


def test_on_a_cluster_no_tunnel_is_the_only_one_anywhere() -> None:
    missing = Tunnels(LIVE, Settings()).find("far", "prod")

    assert missing == Problem(
        Reason.TUNNEL_NOT_FOUND,
        "PangolinTunnel far is not looked for, because pic:tunnelNamespace is not set: run pic init"
        ' --tunnel-namespace NAMESPACE, or list "." in pic:tunnelNamespaces to use the tunnels in'
        " the namespace of the Ingress",
    )


def test_a_name_is_looked_for_in_the_listed_namespaces_only() -> None:
    tunnels = Tunnels(LIVE, Settings(tunnel_namespace="a", tunnel_namespaces=("net", ".")))

    assert tunnels.find("far", "prod") == ResolvedTunnel(TunnelRef("far", "net"), None, "none")
    assert tunnels.find("edge", "prod") == ResolvedTunnel(TunnelRef("edge", "prod"), ACME)
    assert tunnels.find("edge", "test") == Problem(
        Reason.TUNNEL_NOT_FOUND,
        "PangolinTunnel edge does not exist in namespaces a, net, test: create it, or correct the"
        " name",
    )


def test_an_ingress_may_name_its_own_namespace_where_the_settings_have_a_dot() -> None:
    tunnels = Tunnels(LIVE, Settings(tunnel_namespaces=(".",)))

    assert tunnels.find("prod/edge", "prod") == ResolvedTunnel(TunnelRef("edge"), ACME)
    assert tunnels.find("prod/edge", "test") == Problem(
        Reason.TUNNEL_NOT_FOUND,
        "tunnel prod/edge is not allowed: pic:tunnelNamespaces does not list prod",
    )


@pytest.mark.parametrize(
    ("snapshot", "settings", "keeps"),
    [
        (LIVE, Settings(), True),
        (LIVE, Settings(tunnel_namespaces=("net",)), True),
        (LIVE, Settings(tunnel_namespace="net"), False),
        (SNAPSHOT, Settings(), False),
        (Snapshot("cluster-1"), Settings(), False),
    ],
)
def test_live_hosts_keep_their_tunnels_while_a_cluster_has_no_namespace_of_tunnels(
    snapshot: Snapshot,
    settings: Settings,
    keeps: bool,  # noqa: FBT001
) -> None:
    assert Tunnels(snapshot, settings).live_keep is keeps


def test_a_live_host_keeps_the_reference_that_it_has() -> None:
    tunnels = Tunnels(LIVE, Settings())
    own, gone = TunnelRef("edge", "prod"), TunnelRef("edge", "net")

    assert tunnels.keep("edge", "prod", own) == ResolvedTunnel(own, ACME)
    assert tunnels.keep("far", "prod", own) is None
    assert tunnels.keep("prod/edge", "prod", own) is None
    assert tunnels.keep("edge", "prod", gone) == Problem(
        Reason.TUNNEL_NOT_FOUND,
        "PangolinTunnel edge does not exist in namespace net: create it, correct the name, or set"
        " pic:tunnelNamespace with pic init",
    )


REF = TunnelRef("edge", "net")


@pytest.mark.parametrize(
    ("owned", "expected"),
    [
        (None, REF),
        (frozenset(), REF),
        (frozenset({"tunnelRef", "tunnelRef.name", "tunnelRef.namespace"}), REF),
        (frozenset({"tunnelRef", "tunnelRef.name"}), TunnelRef("edge")),
        (frozenset({"targets"}), None),
    ],
)
def test_the_tunnel_of_a_live_object_is_the_one_that_pic_has_declared(
    owned: frozenset[str] | None, expected: TunnelRef | None
) -> None:
    live = LiveResource("prod", "x", "u", "a.example", spec=Spec(tunnel=REF), owned=owned)

    assert declared_tunnel(live) == expected


def test_a_live_object_may_have_no_tunnel() -> None:
    live = LiveResource("prod", "x", "u", "a.example", owned=frozenset({"tunnelRef"}))

    assert declared_tunnel(live) is None


@pytest.mark.parametrize(
    "reference", ["", "/", "/edge", "a/b/edge", "Edge", "net/", "a b", "x" * 300]
)
def test_an_invalid_name_is_refused(reference: str) -> None:
    tunnel = Tunnels(Snapshot(), Settings(tunnel_namespaces=("a", "net"))).find(reference, "prod")

    assert tunnel == Problem(
        Reason.TUNNEL_NOT_FOUND, f"{reference[:80]!r} is not the name of a tunnel"
    )


def test_a_reference_may_name_the_one_namespace_of_all_tunnels() -> None:
    tunnels = Tunnels(SNAPSHOT, Settings(tunnel_namespace="net"))

    assert tunnels.find("net/far", "prod") == tunnels.find("far", "prod")
    assert tunnels.find("prod/edge", "prod") == Problem(
        Reason.TUNNEL_NOT_FOUND,
        "tunnel prod/edge is not allowed: pic:tunnelNamespaces does not list prod",
    )


def test_the_namespace_is_left_out_where_the_crd_has_no_field_for_it() -> None:
    legacy = Snapshot(tunnels=(HERE,), schema=Schema(tunnel_namespace=False))

    tunnel = Tunnels(legacy, Settings(tunnel_namespace="prod")).find("edge", "prod")

    assert tunnel == ResolvedTunnel(TunnelRef("edge"))
