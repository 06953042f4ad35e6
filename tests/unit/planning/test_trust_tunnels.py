"""Tests that a host keeps its tunnel in a stack that names no namespace of tunnels."""

from dataclasses import replace

from pic.core.model import Plan, TunnelRef
from pic.core.notices import Reason
from pic.core.operator_objects import Tunnel
from pic.core.register import HostEntry
from tests.support.memories import entry
from tests.support.tenants import cluster, ingress, plan

HOST = "a.example.com"
FAR = Tunnel("net", "edge", status="Ready")
OWN = Tunnel("prod", "edge", status="Ready")


def planned(*tunnels: Tunnel, remembered: HostEntry, namespace: str = "prod") -> Plan:
    """Plan an Ingress that was created again, so that its host has no object."""
    web = ingress(HOST, namespace=namespace, tunnel_name="edge")
    return plan(replace(cluster([web], (), [remembered]), tunnels=tunnels))


def test_08_a_host_whose_ingress_is_created_again_keeps_the_tunnel_in_the_register() -> None:
    far = planned(FAR, OWN, remembered=entry(HOST, tunnel="net/edge"))
    own = planned(FAR, OWN, remembered=entry(HOST, tunnel="prod/edge"))

    assert [resource.spec.tunnel for resource in far.resources] == [TunnelRef("edge", "net")]
    assert [resource.spec.tunnel for resource in own.resources] == [TunnelRef("edge")]


def test_08_the_register_gives_no_tunnel_to_another_namespace_or_without_an_entry() -> None:
    other = planned(FAR, remembered=entry(HOST, tunnel="net/edge"), namespace="evil")
    without = planned(FAR, remembered=entry(HOST, tunnel=""))

    for result in (other, without):
        assert result.resources == ()
        assert Reason.TUNNEL_NOT_FOUND in {notice.reason for notice in result.notices}
