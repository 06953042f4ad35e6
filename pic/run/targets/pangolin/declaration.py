"""Declares planned PangolinResources as resources of the Kubernetes provider."""

from importlib.metadata import version

from pic.core.model import API_VERSION, FIELD_MANAGER, KIND, Plan, Resource
from pic.planning import serialise
from pic.run.targets.interface import Declaration, Declarations, HookSet, Provider
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


def declarations(plan: Plan, cluster_id: str, settings: Settings) -> Declarations:
    """Return the PangolinResources of a plan as they are declared."""
    return Declarations(
        TOKEN,
        version("pulumi-kubernetes"),
        provider(cluster_id, settings),
        HookSet.RESOURCE,
        DELETE_TIMEOUT,
        [declaration(resource, settings) for resource in plan.resources],
    )


def provider(cluster_id: str, settings: Settings) -> Provider:
    """Return the one provider, bound to this cluster.

    It finds its credentials as the Kubernetes client does, from KUBECONFIG or in the cluster: no
    path and no credential enters the state.
    """
    inputs = {
        # Empty, since the SDK would fill in the path of KUBECONFIG.
        "kubeconfig": "",
        "context": settings.context or None,
        "cluster_identifier": cluster_id,
        "kube_client_settings": {"qps": QPS, "burst": BURST},
    }
    return Provider("kubernetes", "cluster", inputs)


def declaration(resource: Resource, settings: Settings) -> Declaration:
    """Return one resource as it is declared: the whole object, and the live one to import."""
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
    # A lost state heals: what is live and ours is imported, never created.
    import_id = "/".join(resource.key) if resource.adopts else ""
    return Declaration(resource.host, inputs, import_id, adopting=resource.inherits)
