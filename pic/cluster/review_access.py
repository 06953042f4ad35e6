"""Asks the API server which kinds it serves and what pic may do."""

from pic.cluster import listing
from pic.cluster.listing import Transport
from pic.core.errors import ClusterError
from pic.core.json_values import mapping, sequence
from pic.settings.permissions import Permission

CRDS = ("pangolinresources", "pangolintunnels", "pangolinorganizations")
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def served_kinds(transport: Transport) -> set[object]:
    """Return the kinds that the API server has, which everybody may ask.

    Raises:
        ClusterError: It does not say.
    """
    try:
        found = mapping(transport.get(listing.PANGOLIN), "kinds")
    except listing.StatusError as error:
        if error.status == 404:
            return set()
        raise ClusterError(f"kinds cannot be asked for: {error} (HTTP {error.status})") from error
    listed = sequence(found.get("resources"), "kinds.resources")
    return {mapping(each, "kinds.resources[]").get("name") for each in listed}


def is_allowed(transport: Transport, permission: Permission) -> bool:
    """Ask the API server whether who runs pic has a permission.

    Raises:
        ClusterError: It does not say.
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
        answer = mapping(transport.request("POST", REVIEW, review), "review")
    except listing.StatusError as error:
        raise ClusterError(
            f"permissions cannot be asked for: {error} (HTTP {error.status})"
        ) from error
    return mapping(answer.get("status"), "status").get("allowed") is True
