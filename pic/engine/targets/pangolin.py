"""Planned PangolinResources as Pulumi resources."""

from collections.abc import Sequence
from importlib.metadata import version

from pulumi_kubernetes import Provider
from pulumi_kubernetes.provider import KubeClientSettingsArgs

from pic.core.model import API_VERSION, FIELD_MANAGER, KIND, Resource
from pic.engine.hooks import Bindings
from pic.engine.targets.registration import Batch, Declaration, Kind
from pic.planning import serialise
from pic.settings.parse import Settings

# The provider's default of 50 requests a second is slower than the engine.
QPS, BURST = 1000, 2000
DELETE_TIMEOUT = "2m"
TOKEN = f"kubernetes:{API_VERSION}:{KIND}"

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


def batch(
    resources: Sequence[Resource],
    cluster: Provider,
    hooks: Bindings,
    settings: Settings,
) -> Batch:
    """Return the resources as they are declared."""
    kind = Kind(TOKEN, version("pulumi-kubernetes"), cluster, hooks, DELETE_TIMEOUT)
    return Batch(kind, [declaration(each, settings) for each in resources])


def declaration(resource: Resource, settings: Settings) -> Declaration:
    """Return a resource as it is declared: the whole object, and what it is already."""
    owners = serialise.owner_references(resource.owners) if settings.owner_references else []
    metadata = {
        "name": resource.name,
        "namespace": resource.namespace,
        "labels": dict(resource.labels),
        "annotations": ANNOTATIONS,
        "ownerReferences": owners,
    }
    inputs = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": serialise.present(metadata),
        "spec": serialise.spec(resource.spec),
    }
    # A lost state is found again: what is live and ours is imported, never created.
    import_id = "/".join(resource.key) if resource.adopts else ""
    return Declaration(resource.host, inputs, import_id, adopting=resource.inherits)
