"""Checks the cluster: whether it answers, is the right one, and has the CRDs and permissions."""

from collections.abc import Iterator
from dataclasses import replace

from pic.cli.doctor import operator
from pic.cli.doctor.project import Stack
from pic.cluster import listing, review_access
from pic.cluster.listing import StatusError, Timeouts, Transport
from pic.core.errors import ClusterError
from pic.core.findings import USAGE, Finding, failed, passed, run_check, skipped
from pic.core.json_values import mapping, text
from pic.run.doctor_context import DoctorContext
from pic.run.targets import permissions_for_up
from pic.settings.kinds import PANGOLIN
from pic.settings.parse import ResourceSchema, Settings, TargetName

# Shorter than for a run: a user waits for the answer.
TIMEOUTS = Timeouts(connect=5.0)
CHECKS = ("cluster id", "CRDs", operator.NAME, "permissions")


def examine(
    context: DoctorContext, stack: Stack, timeouts: Timeouts = TIMEOUTS
) -> Iterator[Finding]:
    """Yield the findings on the cluster of a stack.

    Args:
        context: How long an answer may take, and the environment with KUBECONFIG.
        stack: The stack, as far as it could be read.
        timeouts: The other time limits.
    """
    settings = stack.settings
    if settings is None:
        reason = "the settings of the stack are unknown"
        yield from (skipped(name, reason) for name in ("cluster", *CHECKS))
        return
    try:
        limits = replace(timeouts, read=context.seconds)
        transport = listing.connect(settings, context.environment, limits)
        yield _version(transport)
    except ClusterError as error:
        yield failed("cluster", str(error))
        yield from (skipped(name, "the cluster does not answer") for name in CHECKS)
        return
    yield from run_check("cluster id", lambda: _cluster_id(transport, settings, stack.name or ""))
    yield from run_check("CRDs", lambda: _crds(transport, settings))
    yield from run_check(operator.NAME, lambda: operator.examine(transport, settings))
    yield from run_check("permissions", lambda: _permissions(transport, settings))


def _version(transport: Transport) -> Finding:
    """Return the version of the cluster.

    Raises:
        ClusterError: The cluster does not answer, or rejects the credentials.
    """
    try:
        version = text(mapping(transport.get("/version"), "version").get("gitVersion"))
    except StatusError as error:
        if error.status == 401:
            raise ClusterError("the API server rejects the credentials: renew them") from error
        # Some clusters do not let every user read the version. A run does not need it.
        return passed("cluster", f"it answers, but hides its version (HTTP {error.status})")
    return passed("cluster", f"Kubernetes {version}")


def _cluster_id(transport: Transport, settings: Settings, stack: str) -> Iterator[Finding]:
    name, live_id = "cluster id", listing.read_cluster_id(transport, settings)
    if not settings.cluster_id:
        message = f"pic:clusterId is not set, and this is cluster {live_id}"
        yield failed(name, message, f"pic init --stack {stack}", USAGE)
    elif settings.cluster_id != live_id:
        message = f"this is cluster {live_id}, but the stack belongs to {settings.cluster_id}"
        yield failed(name, message, "check pic:context and KUBECONFIG", USAGE)
    else:
        yield passed(name, live_id)


def _crds(transport: Transport, settings: Settings) -> Iterator[Finding]:
    name = "CRDs"
    if TargetName.PANGOLIN not in settings.targets:
        yield skipped(name, "pic:targets does not contain pangolin")
        return
    served = review_access.served_kinds(transport)
    missing = [plural for plural in review_access.CRDS if plural not in served]
    for plural in missing:
        yield failed(name, f"{plural}.{PANGOLIN} is missing", listing.INSTALL_HINT)
    if not missing:
        yield passed(name, _generation(transport, settings))


def _generation(transport: Transport, settings: Settings) -> str:
    """Describe the version of the CRD, and the features that it does not have."""
    schema = listing.read_schema(transport, settings)
    generation = "older generation, one target" if schema.single_target else "current generation"
    features = {
        "hosts without a subdomain": schema.subdomain_optional,
        "tunnels of other namespaces": schema.tunnel_namespace,
        "login and block": schema.protection,
    }
    lacking = ", ".join(feature for feature, supported in features.items() if not supported)
    without = f", without {lacking}" if lacking else ""
    is_set = settings.resource_schema is not ResourceSchema.AUTO
    return f"{generation}{without}{' (set in pic:resourceSchema)' if is_set else ''}"


def _permissions(transport: Transport, settings: Settings) -> Iterator[Finding]:
    name, permissions = "permissions", list(permissions_for_up(settings))
    denied = [
        permission
        for permission in permissions
        if not review_access.is_allowed(transport, permission)
    ]
    for permission in denied:
        message = f"not allowed: {permission} ({permission.why})"
        if permission.optional:
            yield skipped(name, message)
        else:
            yield failed(name, message, "grant it, see docs/permissions.md")
    if not denied:
        yield passed(name, f"all {len(permissions)} are granted")
