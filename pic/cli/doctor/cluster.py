"""Checks the cluster: that it answers, which one it is, its CRDs, and what pic may do there."""

from collections.abc import Iterator

from pic.cli.doctor.project import Stack
from pic.cluster import listing, review_access
from pic.cluster.listing import StatusError, Timeouts, Transport
from pic.core.errors import ClusterError
from pic.core.findings import (
    USAGE,
    Finding,
    failed,
    passed,
    run_check,
    skipped,
)
from pic.core.json_values import mapping, text
from pic.run.doctor_context import DoctorContext
from pic.run.targets import needed
from pic.settings.kinds import PANGOLIN
from pic.settings.parse import ResourceSchema, Settings, TargetName

CONNECT_SECONDS = 5.0
CHECKS = ("cluster id", "CRDs", "permissions")


def examine(context: DoctorContext, stack: Stack) -> Iterator[Finding]:
    """Yield what is to be said of the cluster of a stack."""
    settings = stack.settings
    if settings is None:
        reason = "the settings of the stack are not known"
        yield from (skipped(name, reason) for name in ("cluster", *CHECKS))
        return
    try:
        patience = Timeouts(connect=CONNECT_SECONDS, read=context.seconds)
        transport = listing.connect(settings, context.environment, patience)
        yield _answering(transport)
    except ClusterError as error:
        yield failed("cluster", str(error))
        yield from (skipped(name, "the cluster does not answer") for name in CHECKS)
        return
    yield from run_check("cluster id", lambda: _identity(transport, settings, stack.name or ""))
    yield from run_check("CRDs", lambda: _kinds(transport, settings))
    yield from run_check("permissions", lambda: _permissions(transport, settings))


def _answering(transport: Transport) -> Finding:
    """Return that the cluster answers.

    Raises:
        ClusterError: It does not, or knows nothing of who asks.
    """
    try:
        version = text(mapping(transport.get("/version"), "version").get("gitVersion"))
    except StatusError as error:
        if error.status == 401:
            raise ClusterError("the API server rejects the credentials: renew them") from error
        return passed("cluster", f"it answers, but not with its version (HTTP {error.status})")
    return passed("cluster", f"Kubernetes {version}")


def _identity(transport: Transport, settings: Settings, stack: str) -> Iterator[Finding]:
    name, known = "cluster id", listing.read_cluster_id(transport, settings)
    if not settings.cluster_id:
        message = f"pic:clusterId is not set, and this is {known}"
        yield failed(name, message, f"pic init --stack {stack}", USAGE)
    elif settings.cluster_id != known:
        message = f"this is {known}, and the stack belongs to {settings.cluster_id}"
        yield failed(name, message, "check pic:context and KUBECONFIG", USAGE)
    else:
        yield passed(name, known)


def _kinds(transport: Transport, settings: Settings) -> Iterator[Finding]:
    name = "CRDs"
    if TargetName.PANGOLIN not in settings.targets:
        yield skipped(name, "pic:targets does without Pangolin")
        return
    there = review_access.served_kinds(transport)
    missing = [plural for plural in review_access.CRDS if plural not in there]
    for plural in missing:
        yield failed(name, f"{plural}.{PANGOLIN} is missing", listing.INSTALL_HINT)
    if not missing:
        yield passed(name, _generation(transport, settings))


def _generation(transport: Transport, settings: Settings) -> str:
    schema = listing.read_schema(transport, settings)
    generation = "older generation, one target" if schema.single_target else "current generation"
    lacks = {
        "hosts without a subdomain": schema.subdomain_optional,
        "tunnels of other namespaces": schema.tunnel_namespace,
        "login and block": schema.protection,
    }
    without = ", ".join(what for what, has in lacks.items() if not has)
    said = (
        "" if settings.resource_schema is ResourceSchema.AUTO else " (so says pic:resourceSchema)"
    )
    return f"{generation}{f', without {without}' if without else ''}{said}"


def _permissions(transport: Transport, settings: Settings) -> Iterator[Finding]:
    name, wanted = "permissions", list(needed(settings))
    denied = [each for each in wanted if not review_access.is_allowed(transport, each)]
    for each in denied:
        yield failed(name, f"not allowed: {each} ({each.why})", "grant it: docs/permissions.md")
    if not denied:
        yield passed(name, f"all {len(wanted)} are granted")
