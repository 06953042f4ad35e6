"""Finds the Pangolin operator of a cluster by its Deployment or its CRD, and names its limits."""

from collections.abc import Iterator
from urllib.parse import urlencode

from pic.cluster import listing
from pic.cluster.listing import StatusError, Transport
from pic.core import operators
from pic.core.errors import ClusterError
from pic.core.findings import Finding, failed, passed, skipped
from pic.core.json_values import Raw, mapping, sequence, text
from pic.core.operator_objects import Schema
from pic.settings.parse import Settings, TargetName, Unpublish

NAME = "operator"
PATH = f"/apis/apps/v1/deployments?{urlencode({'labelSelector': operators.DEPLOYMENT_LABEL})}"
_UNPUBLISH = (
    "set pic:ownerReferences to false and pic:unpublish to block, so that a host which is no longer"
    " declared is not public (docs/limits.md)"
)
_BY_HAND = (
    "remove the resource in the dashboard of Pangolin when a host is no longer declared"
    " (docs/limits.md)"
)


def examine(transport: Transport, settings: Settings) -> Iterator[Finding]:
    """Yield the finding on the operator: it names the limits, and what to set because of them.

    Raises:
        ClusterError: The API server did not return the CRD or the Deployments.
    """
    if TargetName.PANGOLIN not in settings.targets:
        yield skipped(NAME, "pic:targets does not contain pangolin")
        return
    schema = listing.read_schema(transport, settings)
    by_crd = operators.of_crd(single_target=schema.single_target)
    deployments = _deployments(transport)
    if deployments is None:
        where = "by its CRD, since pic may not list Deployments"
        yield _finding(by_crd, where, schema, settings)
    for deployment in deployments or ():
        known = operators.of_image(_image(deployment)) or by_crd
        stopped = mapping(deployment.get("spec"), "spec").get("replicas") == 0
        where = f"Deployment {_name(deployment)}, image {_image(deployment)}"
        if stopped:
            remedy = "scale it up: without it nothing changes in Pangolin"
            yield failed(NAME, f"{where} has 0 replicas", remedy)
        else:
            yield _finding(known, where, schema, settings)
    if deployments == []:
        where = "by its CRD, since no Deployment has the usual label"
        yield _finding(by_crd, where, schema, settings)


def _finding(
    known: operators.KnownOperator, where: str, schema: Schema, settings: Settings
) -> Finding:
    unpublishes = settings.unpublish is Unpublish.BLOCK
    advice = "" if unpublishes else _UNPUBLISH if schema.protection else _BY_HAND
    return passed(NAME, f"{known.name} ({where}): {', '.join(known.limits)}", advice)


def _deployments(transport: Transport) -> list[Raw] | None:
    """Return the Deployments with the label of the operators; None if pic may not list them."""
    try:
        answer = mapping(transport.get(PATH), "deployments")
    except StatusError as error:
        if error.status == 403:
            return None
        raise ClusterError(f"cannot list Deployments: {error} (HTTP {error.status})") from error
    return [mapping(it, "items[]") for it in sequence(answer.get("items"), "items")]


def _name(deployment: Raw) -> str:
    metadata = mapping(deployment.get("metadata"), "metadata")
    return f"{text(metadata.get('namespace'))}/{text(metadata.get('name'))}"


def _image(deployment: Raw) -> str:
    template = mapping(mapping(deployment.get("spec"), "spec").get("template"), "spec.template")
    pod = mapping(template.get("spec"), "spec.template.spec")
    containers = [mapping(it, "containers[]") for it in sequence(pod.get("containers"), "pod")]
    # Another container, such as a proxy for metrics, may stand before it.
    main = next((it for it in containers if it.get("name") == "manager"), None)
    return text((main or (containers[0] if containers else {})).get("image"))
