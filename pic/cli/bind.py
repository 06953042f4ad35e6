"""Binds a stack to its cluster for `pic init`, and reports what the cluster lacks.

The id of the cluster in the stack file is what later keeps a wrong kubeconfig from removing hosts:
the guard refuses any other cluster.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pic.cluster import listing
from pic.cluster.listing import Transport
from pic.cluster.review_access import CRDS, is_allowed, served_kinds
from pic.core.errors import ClusterError, SettingsError
from pic.run.targets import permissions_for_up
from pic.settings.kinds import BY_NAME, PANGOLIN, TUNNEL, register_namespace
from pic.settings.parse import Settings, TargetName, Tenants, parse
from pic.settings.stack_file import StackFile
from pic.snapshot.parse import identity

Ask = Callable[[str], str]
REGISTER_QUESTION = """pic remembers who has which host, in a namespace where only the platform team
may write ConfigMaps. Which namespace? """
TUNNELS_QUESTION = """All tunnels are in namespace {}. Every host may use them.
Can only the platform team create tunnels there? [y/N] """


@dataclass(frozen=True, slots=True)
class BindResult:
    """The output of `pic init`, and its exit code."""

    text: str
    exit_code: int


def bind_stack(
    root: Path,
    stack: str,
    overrides: Mapping[str, object],
    environment: Mapping[str, str],
    ask: Ask = lambda _: "",
) -> BindResult:
    """Write the stack file of a stack, and check its cluster.

    Args:
        root: The folder of the project.
        stack: The name of the stack, which may already have a file.
        overrides: Settings from the command line, which go into the file.
        environment: Selects the cluster, with KUBECONFIG.
        ask: Asks the user a question; an empty answer leaves it open.

    Raises:
        SettingsError: The settings are invalid, or the stack belongs to another cluster.
        ClusterError: The cluster does not answer.
    """
    file = StackFile(root, stack)
    stored = file.settings() if file.path.exists() else {}
    settings, _ = parse({**stored, **overrides}, environment)
    transport = listing.connect(settings, environment)
    return write_stack_file(file, overrides, settings, transport, ask)


def write_stack_file(
    file: StackFile,
    overrides: Mapping[str, object],
    settings: Settings,
    transport: Transport,
    ask: Ask = lambda _: "",
) -> BindResult:
    """Write the stack file for a connected cluster, and check that cluster.

    Raises:
        SettingsError: The stack belongs to another cluster, or the file cannot be written.
        ClusterError: The cluster does not answer.
    """
    cluster_id = listing.read_cluster_id(transport, settings)
    if settings.cluster_id not in ("", cluster_id):
        raise SettingsError(
            [
                f"stack {file.stack} belongs to cluster {settings.cluster_id}, but this is cluster"
                f" {cluster_id}: check pic:context and KUBECONFIG, or use another stack"
            ]
        )
    namespaces = _tunnel_namespaces(transport, settings)
    chosen = _chosen_namespaces(namespaces, settings, ask)
    values: dict[str, object] = {**overrides, "clusterId": cluster_id}
    if not settings.stack_id:
        values["stackId"] = secrets.token_hex(8)
    values.update(chosen)
    settings = _with_namespaces(settings, chosen)
    missing = [
        *(() if settings.publishes else _missing_crds(transport)),
        *_missing_permissions(transport, settings),
        *_missing_register(settings),
    ]
    # Last, so that an error of the cluster leaves no file behind.
    file.merge(values)
    needs_none = "tunnelNamespace" in chosen or settings.publishes
    advice = () if needs_none else _tunnel_advice(file.stack, namespaces)
    return _result(file, values, advice, missing)


def _chosen_namespaces(
    tunnels: Sequence[str] | None, settings: Settings, ask: Ask
) -> Mapping[str, str]:
    """Return the namespaces of the tunnels and of the register that no setting names yet."""
    chosen = {}
    if tunnels and len(tunnels) == 1 and _is_trusted(tunnels[0], settings, ask):
        chosen["tunnelNamespace"] = tunnels[0]
    if not settings.register_namespace:
        suggested = settings.tunnel_namespace or chosen.get("tunnelNamespace")
        if register := suggested or ask(REGISTER_QUESTION):
            chosen["registerNamespace"] = register
    return chosen


def _is_trusted(namespace: str, settings: Settings, ask: Ask) -> bool:
    # A tenant who made the only tunnel would otherwise get the hosts of all, and the register.
    if settings.tenants is Tenants.ONE:
        return True
    return ask(TUNNELS_QUESTION.format(namespace)).lower() in ("y", "yes")


def _with_namespaces(settings: Settings, chosen: Mapping[str, str]) -> Settings:
    parsed, _ = parse(chosen, {})
    return replace(
        settings,
        tunnel_namespace=parsed.tunnel_namespace or settings.tunnel_namespace,
        register_namespace=parsed.register_namespace or settings.register_namespace,
    )


def _missing_crds(transport: Transport) -> Iterator[str]:
    served = served_kinds(transport)
    for plural in CRDS:
        if plural not in served:
            yield f"CRD {plural}.{PANGOLIN} is missing: {listing.INSTALL_HINT}"


def _missing_permissions(transport: Transport, settings: Settings) -> Iterator[str]:
    for permission in permissions_for_up(settings):
        if not permission.optional and not is_allowed(transport, permission):
            yield f"not allowed: {permission} ({permission.why})"


def _missing_register(settings: Settings) -> Iterator[str]:
    if not register_namespace(settings):
        yield (
            "no namespace for the register, in which pic remembers who has which host: run pic init"
            " with --register-namespace and a namespace that only the platform team may write"
        )


def _tunnel_namespaces(transport: Transport, settings: Settings) -> Sequence[str] | None:
    """Return the namespaces with tunnels; None if the settings name some, or it is unknown."""
    named = settings.tunnel_namespace or settings.tunnel_namespaces
    if named or TargetName.PANGOLIN not in settings.targets:
        return None
    try:
        tunnels = listing.list_objects(transport, listing.Listing(BY_NAME[TUNNEL]))
    except ClusterError:
        # The list of what the cluster lacks already contains the CRD or the permission.
        return None
    return sorted({identity(tunnel)[0] for tunnel in tunnels})


def _tunnel_advice(stack: str, namespaces: Sequence[str] | None) -> Sequence[str]:
    """Return what a user should know who has not named the namespace of the tunnels."""
    if namespaces is None:
        return ()
    where = ", ".join(namespaces) if namespaces else "none yet"
    example = namespaces[0] if len(namespaces) == 1 else "NAMESPACE"
    return (
        "",
        f"pic:tunnelNamespace is not set. Namespaces with tunnels: {where}.",
        "Until you set it, pic exposes no new host. If only the platform team can create tunnels"
        " there:",
        f"  pic init --stack {stack} --tunnel-namespace {example}",
        "or, to use the tunnels in the namespace of each Ingress:",
        f"  pic init --stack {stack} --config tunnelNamespaces=.",
    )


def _result(
    file: StackFile, values: Mapping[str, object], advice: Sequence[str], missing: Sequence[str]
) -> BindResult:
    written = [f"  pic:{key}: {value}" for key, value in values.items()]
    lines = [f"wrote {file.display_path}", *written, *advice]
    if missing:
        lines += ["", "The cluster lacks:", *(f"  {line}" for line in missing)]
        return BindResult("\n".join(lines), ClusterError.exit_code)
    lines += ["", "The cluster has all CRDs and permissions that pic needs. Next:"]
    lines += [f"  pulumi stack init {file.stack}", f"  pulumi preview --stack {file.stack}"]
    return BindResult("\n".join(lines), 0)
