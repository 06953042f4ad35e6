"""Declares planned PangolinResources as Pulumi resources, at the engine's pace."""

from collections.abc import Sequence
from functools import partial

import pulumi
from pulumi_kubernetes import Provider
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs, OwnerReferenceArgs
from pulumi_kubernetes.provider import KubeClientSettingsArgs

from pic import wire
from pic.config import Settings
from pic.live import FIELD_MANAGER
from pic.model import API_VERSION, KIND, Resource
from pic.targets import pacing

# The provider's default of 50 requests a second is slower than the engine.
QPS, BURST = 1000, 2000
DELETE_TIMEOUT = "2m"
INGRESS_VERSION = "networking.k8s.io/v1"

ANNOTATIONS = {
    "pulumi.com/deletionPropagationPolicy": "background",
    "pulumi.com/patchFieldManager": FIELD_MANAGER,
    "pulumi.com/patchForce": "true",
}


def provider(cluster_id: str, settings: Settings) -> Provider:
    """Declare the one provider, bound to this cluster.

    It finds its credentials as the Kubernetes client does, from KUBECONFIG or in the cluster: no
    path and no credential enters the state.
    """
    return Provider(
        "cluster",
        # Empty, since the SDK would fill in the path of KUBECONFIG.
        kubeconfig="",
        context=settings.context or None,
        cluster_identifier=cluster_id,
        kube_client_settings=KubeClientSettingsArgs(qps=QPS, burst=BURST),
    )


def declare(
    resources: Sequence[Resource],
    cluster: Provider,
    hooks: pulumi.ResourceHookBinding,
    settings: Settings,
) -> None:
    """Declare the resources as soon as the program's own code has ended."""
    steps = (partial(_declare, each, cluster, hooks, settings) for each in resources)
    # What runs as the program's entry point is awaited before the SDK waits for all outstanding
    # registrations, in a loop that is quadratic in their number.
    pulumi.run(partial(pacing.register, steps))


def _declare(
    resource: Resource, cluster: Provider, hooks: pulumi.ResourceHookBinding, settings: Settings
) -> CustomResource:
    return CustomResource(
        resource.host,
        api_version=API_VERSION,
        kind=KIND,
        metadata=ObjectMetaArgs(
            name=resource.name,
            namespace=resource.namespace,
            labels=dict(resource.labels),
            annotations=ANNOTATIONS,
            owner_references=_owners(resource, settings),
        ),
        spec=wire.spec(resource.spec),
        opts=pulumi.ResourceOptions(
            provider=cluster,
            # Two objects for one host make the operator's reconciliations fight.
            delete_before_replace=True,
            # A lost state is found again: what is live and ours is imported, never created.
            import_="/".join(resource.key) if resource.adopts else None,
            custom_timeouts=pulumi.CustomTimeouts(delete=DELETE_TIMEOUT),
            hooks=hooks,
        ),
    )


def _owners(resource: Resource, settings: Settings) -> list[OwnerReferenceArgs] | None:
    if not settings.owner_references:
        return None
    return [
        OwnerReferenceArgs(
            api_version=INGRESS_VERSION,
            kind="Ingress",
            name=owner.name,
            uid=owner.uid,
            # One owner only may be the controller: the oldest Ingress.
            controller=at == 0,
            block_owner_deletion=True,
        )
        for at, owner in enumerate(resource.owners)
    ]
