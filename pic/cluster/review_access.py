"""Asks the API server which kinds it serves and what pic may do."""

from pic.cluster import listing
from pic.cluster.listing import Transport
from pic.core.errors import ClusterError
from pic.core.json_values import mapping, sequence
from pic.settings.permissions import Permission

CRDS = ("pangolinresources", "pangolintunnels", "pangolinorganizations")
REVIEWS_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def served_kinds(transport: Transport) -> set[object]:
    """Return the resource names of the Pangolin API group that the API server serves.

    Kubernetes allows every authenticated user this request.

    Raises:
        ClusterError: The API server did not return them.
    """
    try:
        answer = mapping(transport.get(listing.PANGOLIN), "kinds")
    except listing.StatusError as error:
        # The API server has no such API group until a CRD of the group is installed.
        if error.status == 404:
            return set()
        raise ClusterError(
            f"cannot read the kinds of the cluster: {error} (HTTP {error.status})"
        ) from error
    kinds = sequence(answer.get("resources"), "kinds.resources")
    return {mapping(kind, "kinds.resources[]").get("name") for kind in kinds}


def is_allowed(transport: Transport, permission: Permission) -> bool:
    """Say whether the current user has a permission, by a SelfSubjectAccessReview.

    Kubernetes allows every authenticated user this request too.

    Raises:
        ClusterError: The API server did not return a review.
    """
    attributes = {
        "group": permission.group,
        "resource": permission.resource,
        "verb": permission.verb,
        "namespace": permission.namespace,
        "name": permission.name,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    try:
        answer = mapping(transport.request("POST", REVIEWS_PATH, review), "review")
    except listing.StatusError as error:
        raise ClusterError(
            f"cannot review the permissions: {error} (HTTP {error.status})"
        ) from error
    return mapping(answer.get("status"), "status").get("allowed") is True
