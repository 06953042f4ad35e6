"""Creates the provider resource of a target from the values that the target declares."""

import pulumi
from pulumi_kubernetes import Provider as KubernetesProvider
from pulumi_kubernetes.provider import KubeClientSettingsArgs

from pic.run.targets.interface import Provider


def provider_resource(provider: Provider) -> pulumi.ProviderResource:
    """Declare a provider.

    The class of the Kubernetes SDK encodes nested settings as JSON and adds the version of the
    plugin. Providers of other packages get their inputs unchanged.
    """
    if provider.package == "kubernetes":
        return _kubernetes(provider)
    return pulumi.ProviderResource(provider.package, provider.name, provider.inputs)


def _kubernetes(provider: Provider) -> pulumi.ProviderResource:
    inputs = dict(provider.inputs)
    client = KubeClientSettingsArgs(**inputs.pop("kube_client_settings"))
    resource: pulumi.ProviderResource = KubernetesProvider(
        provider.name, kube_client_settings=client, **inputs
    )
    return resource
