"""`pic init`: binds a stack to its cluster, and says what the cluster lacks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pic.cluster import listing
from pic.cluster.listing import Transport
from pic.cluster.review_access import CRDS, is_allowed, served_kinds
from pic.core.errors import ClusterError, SettingsError
from pic.run.targets import needed
from pic.settings.kinds import BY_NAME, PANGOLIN, TUNNEL
from pic.settings.parse import Settings, parse
from pic.settings.stack_file import StackFile
from pic.snapshot.parse import identity


@dataclass(frozen=True, slots=True)
class BindResult:
    """What init has to say."""

    text: str
    exit_code: int


def run(stack: str, overrides: Mapping[str, object], environment: Mapping[str, str]) -> BindResult:
    """Write the stack file of a stack and check its cluster.

    Raises:
        SettingsError: The settings cannot be right, or the stack belongs to another cluster.
        ClusterError: The cluster does not answer.
    """
    file = StackFile(Path.cwd(), stack)
    stored = file.settings() if file.path.exists() else {}
    settings, _ = parse({**stored, **overrides}, environment)
    return bind(file, overrides, settings, listing.connect(settings, environment))


def bind(
    file: StackFile, overrides: Mapping[str, object], settings: Settings, transport: Transport
) -> BindResult:
    """Write the stack file for the cluster of a connection, and check that cluster.

    Raises:
        SettingsError: The stack belongs to another cluster, or the file cannot be written.
        ClusterError: The cluster does not answer.
    """
    known = listing.read_cluster_id(transport, settings)
    if settings.cluster_id not in ("", known):
        raise SettingsError(
            [
                f"stack {file.stack} belongs to cluster {settings.cluster_id}, and this is"
                f" {known}: check pic:context and KUBECONFIG, or use another stack"
            ]
        )
    missing = [*_missing_kinds(transport), *_missing_permissions(transport, settings)]
    values: dict[str, object] = {**overrides, "clusterId": known}
    if place := _tunnel_namespace(transport, settings):
        values["tunnelNamespace"] = place
    file.merge(values)
    return _result(file, values, missing)


def _missing_kinds(transport: Transport) -> Iterator[str]:
    there = served_kinds(transport)
    for plural in CRDS:
        if plural not in there:
            yield f"CRD {plural}.{PANGOLIN} is missing: {listing.INSTALL_HINT}"


def _missing_permissions(transport: Transport, settings: Settings) -> Iterator[str]:
    for permission in needed(settings):
        if not is_allowed(transport, permission):
            yield f"not allowed: {permission} ({permission.why})"


def _tunnel_namespace(transport: Transport, settings: Settings) -> str | None:
    """Return where the tunnels are, when they are all in one namespace and nothing is said yet."""
    if settings.tunnel_namespace or settings.tunnel_namespaces:
        return None
    try:
        found = listing.list_objects(transport, listing.Listing(BY_NAME[TUNNEL]))
    except ClusterError:
        # The missing CRD or permission is told already.
        return None
    places = {identity(raw)[0] for raw in found}
    return places.pop() if len(places) == 1 else None


def _result(file: StackFile, values: Mapping[str, object], missing: Sequence[str]) -> BindResult:
    written = [f"  pic:{key}: {value}" for key, value in values.items()]
    lines = [f"wrote {file.display_path}", *written]
    if missing:
        lines += ["", "The cluster lacks:", *(f"  {each}" for each in missing)]
        return BindResult("\n".join(lines), ClusterError.exit_code)
    lines += ["", "CRDs and permissions are there. Next:"]
    lines += [f"  pulumi stack init {file.stack}", f"  pulumi preview --stack {file.stack}"]
    return BindResult("\n".join(lines), 0)
