import pytest

from pic.core.model import (
    Organization,
    Schema,
    Snapshot,
    Tunnel,
    TunnelRef,
)
from pic.core.notices import Reason
from pic.planning.notice_log import Problem
from pic.planning.tunnels import ResolvedTunnel, Tunnels
from pic.settings.parse import Settings

ACME = Organization("net", "acme", ("example.com",))
HERE = Tunnel("prod", "edge", ("net", "acme"), "Ready")
FAR = Tunnel("net", "far", None, "")
SNAPSHOT = Snapshot(tunnels=(HERE, FAR), organizations=(ACME,))


def test_a_tunnel_comes_with_its_organisation_and_its_state() -> None:
    tunnels = Tunnels(SNAPSHOT, Settings())

    assert tunnels.find("edge", "prod") == ResolvedTunnel(TunnelRef("edge"), ACME)
    assert tunnels.find("far", "prod") == ResolvedTunnel(
        TunnelRef("far", "net"), None, "without a status"
    )


def test_the_answer_is_the_same_every_time() -> None:
    tunnels = Tunnels(SNAPSHOT, Settings())

    assert tunnels.find("edge", "prod") is tunnels.find("edge", "prod")
    assert tunnels.find("gone", "prod") is tunnels.find("gone", "prod")


def test_organisations_that_were_not_looked_at_are_not_missed() -> None:
    tunnels = Tunnels(Snapshot(tunnels=(HERE,)), Settings())

    assert tunnels.find("edge", "prod") == ResolvedTunnel(TunnelRef("edge"))


def test_tunnels_that_were_not_looked_at_all_exist() -> None:
    tunnels = Tunnels(Snapshot(), Settings(tunnel_namespace="net"))

    assert tunnels.find("edge", "prod") == ResolvedTunnel(TunnelRef("edge", "net"))
    assert tunnels.find("net/edge", "prod") == ResolvedTunnel(TunnelRef("edge", "net"))


@pytest.mark.parametrize(
    "written", ["", "/", "/edge", "a/b/edge", "Edge", "net/", "a b", "x" * 300]
)
def test_what_is_no_name_names_no_tunnel(written: str) -> None:
    found = Tunnels(Snapshot(), Settings(tunnel_namespaces=("a", "net"))).find(written, "prod")

    assert found == Problem(Reason.TUNNEL_NOT_FOUND, f"{written[:80]!r} names no tunnel")


def test_a_tunnel_may_be_named_with_the_one_namespace_where_tunnels_are() -> None:
    tunnels = Tunnels(SNAPSHOT, Settings(tunnel_namespace="net"))

    assert tunnels.find("net/far", "prod") == tunnels.find("far", "prod")
    assert tunnels.find("prod/edge", "prod") == Problem(
        Reason.TUNNEL_NOT_FOUND,
        "tunnel prod/edge: pic:tunnelNamespaces does not list prod",
    )


def test_a_crd_without_the_namespace_field_gets_none() -> None:
    legacy = Snapshot(tunnels=(HERE,), schema=Schema(tunnel_namespace=False))

    found = Tunnels(legacy, Settings(tunnel_namespace="prod")).find("edge", "prod")

    assert found == ResolvedTunnel(TunnelRef("edge"))
