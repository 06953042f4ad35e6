"""The one door to the Kubernetes API: whole listings or an error, never half a cluster."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlencode

from pic.cluster.connection import (
    TIMEOUTS,
    ApiTransport,
    StatusError,
    Timeouts,
    Transport,
    connect,
)
from pic.core.errors import ClusterError
from pic.core.json_values import (
    MalformedError,
    Raw,
    mapping,
    text,
)
from pic.core.model import Schema
from pic.settings.kinds import BY_NAME, INGRESS, RESOURCE, SERVICE, Kind, needed_kinds
from pic.settings.parse import Settings, TargetName
from pic.snapshot import pangolin
from pic.snapshot.assemble import RawSnapshot

# What a connection is belongs to this door.
__all__ = ["TIMEOUTS", "ApiTransport", "StatusError", "Timeouts", "Transport", "connect"]

PAGE = 500
RESTARTS = 3
READERS = 4

NETWORKING = BY_NAME[INGRESS].path
CORE = BY_NAME[SERVICE].path
PANGOLIN = BY_NAME[RESOURCE].path
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = f"{CRDS}/pangolinresources.tunnel.pangolin.io"
IDENTITY = f"{CORE}/namespaces/kube-system"
INSTALL_HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"


@dataclass(frozen=True, slots=True)
class Listing:
    """One collection that a run lists.

    Attributes:
        namespace: The namespace to list; empty for all namespaces.
    """

    kind: Kind
    namespace: str = ""

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
    """Read everything a run needs.

    Raises:
        ClusterError: Any part of it could not be read whole; names scope and remedy.
    """
    wanted = listings(settings)
    with ThreadPoolExecutor(READERS) as pool:
        identity = pool.submit(read_cluster_id, transport, settings)
        schema = pool.submit(read_schema, transport, settings)
        lists = [pool.submit(list_objects, transport, each) for each in wanted]
        try:
            known, shape = identity.result(), schema.result()
            objects: dict[str, list[Raw]] = {}
            for each, found in zip(wanted, lists, strict=True):
                objects.setdefault(each.kind.name, []).extend(found.result())
        finally:
            # After an error nothing is worth waiting for.
            pool.shutdown(wait=False, cancel_futures=True)
    return RawSnapshot(objects, known, shape)


def read_cluster_id(transport: Transport, settings: Settings) -> str:
    """Return the uid of namespace kube-system, which stands for the cluster.

    Where that may not be read, pic:clusterId stands in.

    Raises:
        ClusterError: It could not be read, and nothing stands in.
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
    found = text(metadata.get("uid"))
    if not found:
        raise MalformedError("it has no uid")
    return found


def read_schema(transport: Transport, settings: Settings) -> Schema:
    """Return what the installed CRD can hold, or what pic:resourceSchema says it can.

    Raises:
        ClusterError: The CRD is not installed, or could not be read.
    """
    if known := pangolin.fixed_schema(settings.resource_schema):
        return known
    if TargetName.PANGOLIN not in settings.targets:
        return pangolin.SCHEMA_TARGETS
    try:
        return pangolin.crd_schema(mapping(transport.get(CRD), "CRD"))
    except StatusError as error:
        if error.status == 404:
            raise ClusterError(
                f"the cluster has no CRD for PangolinResource: {INSTALL_HINT}"
            ) from error
        remedy = "set pic:resourceSchema"
        raise _refused("the CRD of PangolinResource", "get", error, remedy) from error
    except MalformedError as error:
        raise ClusterError(f"the CRD of PangolinResource cannot be understood: {error}") from error


def list_objects(transport: Transport, wanted: Listing) -> list[Raw]:
    """Return every object of a collection, whole.

    A listing that expires between two pages is started again, a bounded number of times.

    Raises:
        ClusterError: It could not be read whole.
    """
    for _ in range(RESTARTS):
        try:
            return [item for page in list_pages(transport, wanted) for item in page.items]
        except StatusError as error:
            if error.status != 410:
                raise listing_error(wanted, "list", error) from error
    raise ClusterError(
        f"listing {wanted} expired {RESTARTS} times before its end: the API server is under load;"
        " run again later"
    )


@dataclass(frozen=True, slots=True)
class ListPage:
    """A part of a listing.

    Attributes:
        version: The resource version that the whole listing is of.
        after: Asks for the next page; empty at the end.
    """

    items: Sequence[Raw]
    resource_version: str
    continue_token: str


def list_pages(transport: Transport, wanted: Listing, size: int = PAGE) -> Iterator[ListPage]:
    """Yield a collection page by page.

    Raises:
        StatusError: The API server said no; 410 where the listing expired on the way.
        ClusterError: An answer is missing, or no such page.
    """
    token = ""
    while True:
        query = {"limit": size, **({"continue": token} if token else {})}
        found = _page(transport.get(f"{wanted.path}?{urlencode(query)}"), wanted)
        yield found
        token = found.continue_token
        if not token:
            return


def _page(answer: object, wanted: Listing) -> ListPage:
    expected = f"{wanted.kind.name}List"
    match answer:
        case {"kind": kind, "metadata": dict() as metadata, "items": list() as items} if (
            kind == expected and all(isinstance(item, dict) for item in items)
        ):
            version, after = metadata.get("resourceVersion"), metadata.get("continue")
            return ListPage(items, text(version), text(after))
    kind = text(answer.get("kind")) if isinstance(answer, dict) else "no object"
    raise ClusterError(f"listing {wanted} gave {kind or 'no kind'}, not a whole {expected}")


def listing_error(wanted: Listing, verb: str, error: StatusError) -> ClusterError:
    """Return the error for a collection that was not given; names scope and remedy."""
    return _refused(str(wanted), verb, error, wanted.kind.remedy)


def _refused(what: str, verb: str, error: StatusError, instead: str) -> ClusterError:
    match error.status:
        case 401:
            remedy = "the credentials are not accepted: renew them"
        case 403:
            remedy = f"grant the verb {verb} to who runs pic"
            remedy += f", or {instead}" if instead else ""
        case 404:
            remedy = INSTALL_HINT
        case _:
            remedy = "run again when the API server is well"
    return ClusterError(f"cannot {verb} {what}: {error} (HTTP {error.status}); {remedy}")
