"""Attacks with tunnels: a tenant creates a tunnel, or names one of another namespace."""

import pytest

from tests.engine.answers import succeeded
from tests.engine.stage import Object, Stage

TUNNEL_NAME = "pangolin.ingress.k8s.io/tunnel-name"


def create_tunnel(stage: Stage, namespace: str, name: str) -> None:
    """Create a tunnel that is ready, for the organization of the stage."""
    spec = {"organizationRef": {"name": "home", "namespace": stage.name}}
    stage.cluster.apply("PangolinTunnel", namespace, name, spec=spec)
    ready = {"status": {"status": "Ready"}}
    stage.cluster.patch("PangolinTunnel", namespace, name, ready, "/status")


def expose(stage: Stage, namespace: str, word: str, tunnel: str) -> None:
    """Create an Ingress with one host that selects a tunnel."""
    stage.ingress(word, word, namespace=namespace, annotations={TUNNEL_NAME: tunnel})


def tunnels(stage: Stage) -> dict[str, Object]:
    """Return the tunnel of every live object, by host."""
    return {
        live["spec"]["name"]: live["spec"]["tunnelRef"]
        for namespace in stage.namespaces
        for live in stage.objects(namespace)
    }


@pytest.fixture
def name(stage: Stage) -> str:
    """The name of a tunnel that no other namespace of the cluster has."""
    return f"edge-{stage.name}"


@pytest.fixture
def finance(stage: Stage, name: str) -> str:
    """A namespace with a tunnel, in a stack that names no namespace of tunnels."""
    namespace = stage.add_namespace()
    create_tunnel(stage, namespace, name)
    stage.settings(tunnelNamespace="")
    return namespace


def test_08_a_bare_name_gives_nobody_the_tunnel_of_another_namespace(
    stage: Stage, finance: str, name: str
) -> None:
    attacker = stage.add_namespace()
    expose(stage, attacker, "bare", name)
    expose(stage, attacker, "named", f"{finance}/{name}")

    answer = stage.up()

    assert (answer.code, tunnels(stage)) == (0, {})
    assert answer.warnings == (
        f"TunnelNotFound: Ingress {attacker}/bare: PangolinTunnel {name} is not looked for, because"
        " pic:tunnelNamespace is not set: run pic init --tunnel-namespace NAMESPACE, or list"
        ' "." in pic:tunnelNamespaces to use the tunnels in the namespace of the Ingress'
        f" (its hosts: {stage.host('bare')})",
        f"TunnelNotFound: Ingress {attacker}/named: tunnel {finance}/{name} is not allowed:"
        f" pic:tunnelNamespaces does not list {finance} (its hosts: {stage.host('named')})",
    )


def test_08_a_live_host_stays_with_its_tunnel_whatever_tunnels_an_attacker_makes(
    stage: Stage, finance: str, name: str
) -> None:
    attacker, victim = stage.add_namespace(), stage.name
    stage.settings(tunnelNamespace=victim, tunnelNamespaces=[finance])
    expose(stage, victim, "www", name)
    stage.up()
    before = stage.objects()
    assert tunnels(stage) == {stage.host("www"): {"name": name, "namespace": finance}}
    # From here on, the stack is like one that never had these settings.
    stage.settings(tunnelNamespace="", tunnelNamespaces=[])
    create_tunnel(stage, attacker, name)

    assert stage.up() == succeeded()
    stage.cluster.delete("PangolinTunnel", finance, name)
    held = stage.up()
    create_tunnel(stage, victim, name)
    held_again = stage.up()
    create_tunnel(stage, finance, name)

    assert held.warnings == held_again.warnings
    assert held.warnings == (
        f"TunnelNotFound: Ingress {victim}/www: PangolinTunnel {name} does not exist in namespace"
        f" {finance}: create it, correct the name, or set pic:tunnelNamespace with pic init"
        f" (its hosts: {stage.host('www')})",
    )
    assert (held.steps, held_again.steps, stage.up()) == ((), (), succeeded())
    assert stage.objects() == before


def test_08_the_listed_namespaces_win_over_the_tunnel_of_an_attacker(
    stage: Stage, finance: str, name: str
) -> None:
    attacker = stage.add_namespace()
    stage.settings(tunnelNamespace=stage.name, tunnelNamespaces=["."])
    for tunnel in ("default", name):
        create_tunnel(stage, attacker, tunnel)
    expose(stage, stage.name, "www", "default")
    expose(stage, finance, "pay", name)
    expose(stage, finance, "lost", "default")
    expose(stage, attacker, "his", name)

    assert stage.up().code == 0
    assert tunnels(stage) == {
        stage.host("www"): {"name": "default", "namespace": stage.name},
        stage.host("pay"): {"name": name, "namespace": finance},
        stage.host("lost"): {"name": "default", "namespace": stage.name},
        stage.host("his"): {"name": name, "namespace": attacker},
    }
