"""Tests how the tunnel of a host is found."""

import pytest

from pic.core.model import Organization, Schema, Snapshot, Tunnel, TunnelRef
from pic.core.notices import Reason
from pic.planning.notice_log import Problem
from pic.planning.tunnels import ResolvedTunnel, Tunnels
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


def test_tunnels_that_were_not_read_count_as_existing() -> None:
    tunnels = Tunnels(Snapshot(), Settings(tunnel_namespace="net"))

    assert tunnels.find("edge", "prod") == ResolvedTunnel(TunnelRef("edge", "net"))
    assert tunnels.find("net/edge", "prod") == ResolvedTunnel(TunnelRef("edge", "net"))


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
