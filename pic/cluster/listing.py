"""Reads everything that a run needs from the Kubernetes API, complete or not at all.

A plan from half a cluster would remove the other half. So a listing is read to its last page at one
resource version, and anything less raises an error that names the scope and a remedy.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from pic.cluster.access import ClusterAccess, resolve
from pic.cluster.connection import (
    TIMEOUTS,
    ApiTransport,
    StatusError,
    Timeouts,
    Transport,
    connect,
    connect_to,
)
from pic.core import names
from pic.core.errors import ClusterError
from pic.core.json_values import MalformedError, Raw, mapping, text
from pic.core.operator_objects import Schema
from pic.settings.kinds import (
    BY_NAME,
    CONFIG_MAP,
    INGRESS,
    NAMESPACE,
    NAMESPACE_KIND,
    RESOURCE,
    SERVICE,
    Kind,
    needed_kinds,
    register_namespace,
)
from pic.settings.parse import Settings, TargetName
from pic.snapshot import pangolin, parse
from pic.snapshot.assemble import RawSnapshot

# Other packages import the connection from here, so the Kubernetes API has one entry point.
__all__ = [
    "TIMEOUTS",
    "ApiTransport",
    "ClusterAccess",
    "StatusError",
    "Timeouts",
    "Transport",
    "connect",
    "connect_to",
    "resolve",
]

# Objects in a page, as kubectl requests them.
PAGE_SIZE = 500
# How often to try a listing. A continue token expires when etcd compacts the version of the
# listing, after five minutes by default.
LISTING_ATTEMPTS = 3
# Threads that read at the same time.
READERS = 4

NETWORKING = BY_NAME[INGRESS].path
CORE = BY_NAME[SERVICE].path
PANGOLIN = BY_NAME[RESOURCE].path
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = f"{CRDS}/pangolinresources.tunnel.pangolin.io"
IDENTITY = f"{CORE}/namespaces/kube-system"
_REGISTER = Kind(CONFIG_MAP, "", "configmaps", "to read the register")
INSTALL_HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"


class ForbiddenError(ClusterError):
    """The account may not list a collection."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A collection that a run lists: one kind, in one namespace or in all of them.

    Attributes:
        namespace: The namespace to list; empty for all namespaces.
        label: The label that the objects must have; empty lists all.
    """

    kind: Kind
    namespace: str = ""
    label: str = ""

    @property
    def path(self) -> str:
        """The path of the collection on the API server."""
        return f"{self.kind.path}/{self.scope}{self.kind.plural}"

    @property
    def scope(self) -> str:
        """The part of the path that names the namespace."""
        return f"namespaces/{self.namespace}/" if self.namespace else ""

    def __str__(self) -> str:
        where = f"in namespace {self.namespace}" if self.namespace else "in all namespaces"
        return f"{self.kind.plural} {where}"


def listings(settings: Settings) -> list[Listing]:
    """Return the collections that a run with these settings lists, and no others."""
    return [
        Listing(kind, namespace)
        for kind in needed_kinds(settings)
        for namespace in kind.namespaces(settings)
    ]


def read_snapshot(transport: Transport, settings: Settings) -> RawSnapshot:
    """Read every collection that a run needs, the cluster id, the schema and the namespaces.

    Raises:
        ClusterError: A part could not be read completely.
    """
    with ThreadPoolExecutor(READERS) as pool:
        cluster_id = pool.submit(read_cluster_id, transport, settings)
        schema = pool.submit(read_schema, transport, settings)
        register = pool.submit(read_register, transport, settings)
        namespaces = pool.submit(read_namespaces, transport, settings)
        of_operator = pool.submit(read_objects_of_operator, transport, settings)
        jobs = [
            (listing.kind.name, pool.submit(list_objects, transport, listing))
            for listing in listings(settings)
        ]
        try:
            # In this order, so that the most basic error is raised first: a wrong cluster, then
            # missing CRDs.
            raw = RawSnapshot({}, cluster_id.result(), schema.result())
            objects: dict[str, list[Raw]] = {}
            for name, job in jobs:
                objects.setdefault(name, []).extend(job.result())
            objects.update(register.result())
            objects.update(of_operator.result())
            # In another cluster they need not exist, and the guard refuses that cluster anyway.
            is_bound = settings.cluster_id in ("", raw.cluster_id)
            if is_bound and (read := namespaces.result()) is not None:
                objects[NAMESPACE] = read
        finally:
            # After an error, the results of the other requests are not needed.
            pool.shutdown(wait=False, cancel_futures=True)
    return replace(raw, objects=objects, now=transport.now())


def read_register(transport: Transport, settings: Settings) -> dict[str, list[Raw]]:
    """Return the ConfigMaps of the registers by their kind; none if pic may not read them.

    Raises:
        ClusterError: They could not be read completely.
    """
    namespace = register_namespace(settings)
    if not namespace:
        return {}
    listing = Listing(_REGISTER, namespace, names.BUCKET_LABEL)
    try:
        return {CONFIG_MAP: list_objects(transport, listing)}
    except ForbiddenError:
        # Until the platform team grants it, pic plans without a register.
        return {}


def read_objects_of_operator(transport: Transport, settings: Settings) -> dict[str, list[Raw]]:
    """Return the PangolinResources by their kind, where pic changes Pangolin itself.

    An operator may expose a host with them. Without their CRD, or without the permission to read
    them, there is none that pic knows.

    Raises:
        ClusterError: They could not be read completely.
    """
    if not settings.publishes:
        return {}
    try:
        return {RESOURCE: list_objects(transport, Listing(BY_NAME[RESOURCE]))}
    except ClusterError as error:
        cause = error.__cause__
        if isinstance(cause, StatusError) and cause.status in (403, 404):
            return {}
        raise


def read_cluster_id(transport: Transport, settings: Settings) -> str:
    """Return the uid of namespace kube-system, which identifies the cluster.

    Kubernetes has no cluster id of its own. This namespace exists in every cluster and is never
    recreated. If pic is not allowed to read it, the setting pic:clusterId replaces the uid.

    Raises:
        ClusterError: The namespace could not be read, and the setting does not apply.
    """
    try:
        return _uid(transport.get(IDENTITY))
    except StatusError as error:
        if error.status == 403 and settings.cluster_id:
            return settings.cluster_id
        raise _refused("namespace kube-system", "get", error, "set pic:clusterId") from error
    except MalformedError as error:
        raise ClusterError(f"namespace kube-system cannot be understood: {error}") from error


def _uid(answer: object) -> str:
    metadata = mapping(mapping(answer, "it").get("metadata"), "metadata")
    uid = text(metadata.get("uid"))
    if not uid:
        raise MalformedError("it has no uid")
    return uid


def read_schema(transport: Transport, settings: Settings) -> Schema:
    """Return what the installed CRD of PangolinResource can hold.

    The setting pic:resourceSchema replaces the lookup.

    Raises:
        ClusterError: The CRD is not installed, is being deleted, or could not be read.
    """
    if settings.publishes:
        return pangolin.SCHEMA_API
    # A schema in the settings also saves the permission to read the CRD.
    if schema := pangolin.fixed_schema(settings.resource_schema):
        return schema
    if TargetName.PANGOLIN not in settings.targets:
        return pangolin.SCHEMA_TARGETS
    try:
        crd = mapping(transport.get(CRD), "CRD")
        if pangolin.is_terminating(crd):
            raise ClusterError(
                "Kubernetes is deleting the CRD of PangolinResource, and every object of it: wait"
                f" until it is gone, then {INSTALL_HINT}"
            )
        return pangolin.crd_schema(crd)
    except StatusError as error:
        if error.status == 404:
            raise ClusterError(
                f"the cluster has no CRD for PangolinResource: {INSTALL_HINT}"
            ) from error
        remedy = "set pic:resourceSchema"
        raise _refused("the CRD of PangolinResource", "get", error, remedy) from error
    except MalformedError as error:
        raise ClusterError(f"the CRD of PangolinResource cannot be understood: {error}") from error


def read_namespaces(transport: Transport, settings: Settings) -> list[Raw] | None:
    """Return the namespaces of `pic:namespaces`, or all, as far as pic may read them.

    A namespace that does not exist has a phase that says so.

    Returns:
        None if pic may read no namespace. Then it counts every namespace as there.

    Raises:
        ClusterError: None of `pic:namespaces` exists, or a namespace could not be read.
    """
    if not settings.namespaces:
        return _all_namespaces(transport)
    read = [_namespace(transport, name) for name in settings.namespaces]
    if all(body is not None and not parse.namespace(body).exists for body in read):
        listed = ", ".join(settings.namespaces)
        raise ClusterError(
            f"the cluster has no namespace {listed}: correct pic:namespaces, or check that this is"
            " the right cluster"
        )
    return [body for body in read if body is not None] or None


def _all_namespaces(transport: Transport) -> list[Raw] | None:
    try:
        return list_objects(transport, Listing(NAMESPACE_KIND))
    except ClusterError as error:
        if isinstance(error.__cause__, StatusError) and error.__cause__.status == 403:
            return None
        raise


def _namespace(transport: Transport, name: str) -> Raw | None:
    """Return a namespace; None if pic may not read it."""
    try:
        return mapping(transport.get(f"{CORE}/namespaces/{name}"), "namespace")
    except StatusError as error:
        if error.status == 404:
            return {"metadata": {"name": name}, "status": {"phase": parse.NOT_FOUND}}
        if error.status == 403:
            return None
        raise _refused(f"namespace {name}", "get", error, "") from error
    except MalformedError as error:
        raise ClusterError(f"namespace {name} cannot be understood: {error}") from error


def list_objects(transport: Transport, listing: Listing) -> list[Raw]:
    """Return every object of a collection.

    A listing that expires between two pages starts again from its first page.

    Raises:
        ClusterError: The collection could not be read completely.
    """
    for _ in range(LISTING_ATTEMPTS):
        try:
            return [item for page in list_pages(transport, listing) for item in page.items]
        except StatusError as error:
            if error.status != 410:  # 410 Gone: the continue token has expired.
                raise listing_error(listing, "list", error) from error
    raise ClusterError(
        f"listing {listing} expired {LISTING_ATTEMPTS} times before its end: the API server is"
        " overloaded; try again later"
    )


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a listing.

    Attributes:
        resource_version: The resource version of the whole listing, from which a watch can start.
        continue_token: Requests the next page; empty on the last page.
    """

    items: Sequence[Raw]
    resource_version: str
    continue_token: str


def list_pages(transport: Transport, listing: Listing, size: int = PAGE_SIZE) -> Iterator[ListPage]:
    """Yield a collection page by page.

    Raises:
        StatusError: The API server answered with an error; 410 if the listing has expired.
        ClusterError: An answer is missing, or is not a page of this collection.
    """
    # Without a resource version, the API server returns the most recent state. All further pages
    # have the version of the first one.
    token = ""
    while True:
        query = {
            "limit": size,
            **({"labelSelector": listing.label} if listing.label else {}),
            **({"continue": token} if token else {}),
        }
        page = _page(transport.get(f"{listing.path}?{urlencode(query)}"), listing)
        yield page
        token = page.continue_token
        if not token:
            return


def _page(answer: object, listing: Listing) -> ListPage:
    # A proxy or a wrong server may answer with other JSON, which must not count as an empty list.
    expected = f"{listing.kind.name}List"
    match answer:
        case {"kind": kind, "metadata": dict() as metadata, "items": list() as items} if (
            kind == expected and all(isinstance(item, dict) for item in items)
        ):
            version, token = metadata.get("resourceVersion"), metadata.get("continue")
            return ListPage(items, text(version), text(token))
    kind = text(answer.get("kind")) if isinstance(answer, dict) else "no object"
    raise ClusterError(f"listing {listing} gave {kind or 'no kind'}, not a whole {expected}")


def listing_error(listing: Listing, verb: str, error: StatusError) -> ClusterError:
    """Return the error for a collection that the API server did not return.

    Args:
        listing: The collection.
        verb: What was tried, as RBAC calls it: `list` or `watch`.
        error: The answer of the API server.
    """
    return _refused(str(listing), verb, error, listing.kind.remedy)


def _refused(what: str, verb: str, error: StatusError, alternative: str) -> ClusterError:
    match error.status:
        case 401:
            remedy = "the API server rejects the credentials: renew them"
        case 403:
            remedy = f"grant the verb {verb} to the account that runs pic"
            remedy += f", or {alternative}" if alternative else ""
        case 404:
            remedy = INSTALL_HINT
        case _:
            remedy = "try again when the API server is healthy"
    kind = ForbiddenError if error.status == 403 else ClusterError
    return kind(f"cannot {verb} {what}: {error} (HTTP {error.status}); {remedy}")
