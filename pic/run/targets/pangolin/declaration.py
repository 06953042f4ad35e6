"""Declares planned PangolinResources as resources of the Kubernetes provider."""

from importlib.metadata import version

from pic.core.model import API_VERSION, FIELD_MANAGER, KIND, Plan, Resource
from pic.planning import serialise
from pic.run.targets.interface import Declaration, Declarations, HookSet, Provider
from pic.settings.parse import Settings

# The provider allows 50 requests a second by default, which is slower than the engine.
QPS, BURST = 1000, 2000
DELETE_TIMEOUT = "2m"
TOKEN = f"kubernetes:{API_VERSION}:{KIND}"

ANNOTATIONS = {
    "pulumi.com/deletionPropagationPolicy": "background",
    "pulumi.com/patchFieldManager": FIELD_MANAGER,
    "pulumi.com/patchForce": "true",
}


def declarations(plan: Plan, cluster_id: str, settings: Settings) -> Declarations:
    """Return the declarations of all PangolinResources of a plan."""
    return Declarations(
        TOKEN,
        version("pulumi-kubernetes"),
        provider(cluster_id, settings),
        HookSet.RESOURCE,
        DELETE_TIMEOUT,
        [declaration(resource, settings) for resource in plan.resources],
    )


def provider(cluster_id: str, settings: Settings) -> Provider:
    """Return the only provider, which is bound to this cluster.

    It finds its credentials as kubectl does, through KUBECONFIG or in the pod, so no path and no
    credential enters the state. KUBECONFIG of an engine that pic starts leads to one cluster only.
    """
    inputs = {
        # Without this empty value the SDK would fill in the path of KUBECONFIG.
        "kubeconfig": "",
        "context": settings.context or None,
        "cluster_identifier": cluster_id,
        # Otherwise the plugin would replace a ConfigMap of the register in order to change it.
        "enable_config_map_mutable": True,
        "kube_client_settings": {"qps": QPS, "burst": BURST},
    }
    return Provider("kubernetes", "cluster", inputs)


def declaration(resource: Resource, settings: Settings) -> Declaration:
    """Return the declaration of a resource: the whole object, and the live object to import."""
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
    # If the state was lost, the engine imports our live object instead of creating a second one.
    import_id = "/".join(resource.key) if resource.adopts else ""
    return Declaration(resource.host, inputs, import_id, adopting=resource.inherits)
