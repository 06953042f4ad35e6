"""Tests how the providers of targets are registered with the engine."""

from pic.engine.targets import providers
from pic.run.targets.interface import Provider
from tests.support import engine


def registered(provider: Provider) -> dict[str, object]:
    """Register a provider, and return its type, name and inputs as the engine gets them."""
    result = engine.run(lambda: _declare(provider))
    assert result.error is None
    [resource] = result.resources
    return {key: resource[key] for key in ("type", "name", "object")}


def _declare(provider: Provider) -> None:
    providers.provider_resource(provider)


def test_a_kubernetes_provider_gets_its_nested_settings_as_json() -> None:
    inputs = {
        "kubeconfig": "",
        "context": None,
        "cluster_identifier": "cluster-1",
        "kube_client_settings": {"qps": 5, "burst": 10},
    }

    assert registered(Provider("kubernetes", "cluster", inputs)) == {
        "type": "pulumi:providers:kubernetes",
        "name": "cluster",
        "object": {
            "kubeconfig": "",
            "clusterIdentifier": "cluster-1",
            "kubeClientSettings": '{"burst": 10, "qps": 5}',
        },
    }


def test_a_provider_of_another_package_gets_its_inputs_unchanged() -> None:
    assert registered(Provider("pihole", "dns", {"url": "http://pi.hole"})) == {
        "type": "pulumi:providers:pihole",
        "name": "dns",
        "object": {"url": "http://pi.hole"},
    }
