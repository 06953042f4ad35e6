"""The one door to the Kubernetes API: whole listings or an error, never half a cluster."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, assert_never
from urllib.parse import urlencode

import urllib3
import yaml
from kubernetes import client, config
from kubernetes.config import incluster_config

from pic import assemble, live
from pic.assemble import Seen
from pic.config import ResourceSchema, Settings, TargetName
from pic.errors import ClusterError
from pic.model import Schema
from pic.objects import MalformedError, Raw, mapping, text
from pic.permissions import tunnel_places

PAGE = 500
RESTARTS = 3
READERS = 4

NETWORKING = "/apis/networking.k8s.io/v1"
CORE = "/api/v1"
PANGOLIN = f"/apis/tunnel.pangolin.io/{live.VERSION}"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = f"{CRDS}/pangolinresources.tunnel.pangolin.io"
IDENTITY = f"{CORE}/namespaces/kube-system"
INSTALL_HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"

# What makes do with less than a refused listing.
INSTEAD: Mapping[str, str] = {
    "ingresses": "narrow pic:namespaces",
    "services": "narrow pic:namespaces",
    "ingressclasses": "take the empty class out of pic:ingressClasses",
    "pangolintunnels": "set pic:tunnelNamespace",
    "pangolinorganizations": "set pic:tunnelNamespace",
}


class StatusError(Exception):
    """The API server's own no.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(reason)


class Transport(Protocol):
    """Asks the API server."""

    def get(self, path: str) -> object:
        """Return the decoded JSON of a path.

        Raises:
            StatusError: The API server said no.
            ClusterError: There was no answer, or not a whole one.
        """

    def request(self, method: str, path: str, body: object) -> object:
        """Send a body to a path and return the decoded JSON of the answer, or raise as `get`."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds an API server may take.

    Attributes:
        retry_after: The longest wait that it may ask for.
        backoff: The wait before a second retry; each further one doubles it.
    """

    connect: float = 5.0
    read: float = 60.0
    retry_after: int = 10
    backoff: float = 0.4


PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class ApiTransport:
    """The official client's connection, authentication and TLS, with JSON as it comes."""

    api: client.ApiClient
    server: str
    patience: Patience

    def get(self, path: str) -> object:
        """Return the decoded JSON of a path."""
        return self.request("GET", path, None)

    def request(self, method: str, path: str, body: object) -> object:
        """Send a body to a path and return the decoded JSON of the answer."""
        pool: urllib3.PoolManager = self.api.rest_client.pool_manager
        try:
            answer = pool.request(
                method,
                f"{self.server}{path}",
                body=None if body is None else json.dumps(body).encode(),
                headers={"Accept": "application/json", **_content(method), **self._credentials()},
                timeout=urllib3.Timeout(connect=self.patience.connect, read=self.patience.read),
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            cause = getattr(error, "reason", None) or error
            raise ClusterError(
                f"no answer from {self.server}: {cause}. Check the network, KUBECONFIG and"
                " pic:context"
            ) from error
        return _decoded(answer.status, answer.data, f"{self.server}{path}")

    def _credentials(self) -> dict[str, str]:
        settings = self.api.configuration.auth_settings().values()
        return {each["key"]: each["value"] for each in settings}


def _content(method: str) -> dict[str, str]:
    # A merge patch is what every kind understands.
    kind = "merge-patch+json" if method == "PATCH" else "json"
    return {} if method == "GET" else {"Content-Type": f"application/{kind}"}


def _decoded(status: int, data: bytes, where: str) -> object:
    try:
        found = json.loads(data)
    except ValueError as error:
        if status < 400:
            raise ClusterError(f"{where} answered with something that is not JSON") from error
        found = {}
    if status >= 400:
        raw = found if isinstance(found, dict) else {}
        raise StatusError(status, text(raw.get("message")) or "no reason given")
    return found


def connect(
    settings: Settings, environment: Mapping[str, str], patience: Patience = PATIENCE
) -> ApiTransport:
    """Connect as kubectl would: pic:kubeconfig, KUBECONFIG or in the cluster; then pic:context.

    Raises:
        ClusterError: There is no usable configuration.
    """
    try:
        configuration = _configuration(settings, environment)
    except _NO_WAY as error:
        raise ClusterError(
            f"no way to the cluster: {error}. Set KUBECONFIG, or pic:context to one of its contexts"
        ) from error
    configuration.retries = urllib3.Retry(
        total=3,
        backoff_factor=patience.backoff / 2,
        retry_after_max=patience.retry_after,
        status_forcelist=(429, 500, 502, 503, 504),
        allowed_methods={"GET"},
        raise_on_status=False,
    )
    return ApiTransport(client.ApiClient(configuration), configuration.host, patience)


# What the client makes of a kubeconfig that is missing, incomplete or of the wrong shape.
_MISFITS = (ValueError, KeyError, TypeError, AttributeError)
_NO_WAY = (config.ConfigException, yaml.YAMLError, OSError, *_MISFITS)


def _configuration(settings: Settings, environment: Mapping[str, str]) -> client.Configuration:
    configuration = client.Configuration()
    path = settings.kubeconfig or environment.get("KUBECONFIG")
    if not path and not settings.context and environment.get("KUBERNETES_SERVICE_HOST"):
        incluster_config.InClusterConfigLoader(  # type: ignore[no-untyped-call]
            incluster_config.SERVICE_TOKEN_FILENAME,
            incluster_config.SERVICE_CERT_FILENAME,
            environ=environment,
        ).load_and_set(configuration)
        return configuration
    config.load_kube_config(  # type: ignore[no-untyped-call]
        config_file=path or None,
        context=settings.context or _current_context(path or ""),
        client_configuration=configuration,
        persist_config=False,
    )
    return configuration


def _current_context(paths: str) -> str | None:
    """Return the context of the first file that names one, as kubectl and the engine do.

    The client takes the last one, which may be another cluster.
    """
    files = [Path(each).expanduser() for each in paths.split(os.pathsep) if each]
    found = [yaml.safe_load(each.read_text(encoding="utf-8")) for each in files if each.exists()]
    named = (each["current-context"] for each in found if each and each.get("current-context"))
    return next(named, None)


@dataclass(frozen=True, slots=True)
class Read:
    """One listing that a run needs.

    Attributes:
        plural: The resource, as RBAC names it.
        namespace: Where; empty is everywhere.
    """

    kind: str
    base: str
    plural: str
    namespace: str = ""

    @property
    def path(self) -> str:
        """The path of the collection."""
        return f"{self.base}/{self.scope}{self.plural}"

    @property
    def scope(self) -> str:
        """The path's part for the namespace."""
        return f"namespaces/{self.namespace}/" if self.namespace else ""

    def __str__(self) -> str:
        where = f"in namespace {self.namespace}" if self.namespace else "in all namespaces"
        return f"{self.plural} {where}"


def reads(settings: Settings) -> list[Read]:
    """Return the listings these settings need, and no others.

    Our own objects are listed everywhere, whatever the namespaces setting says.
    """
    places = settings.namespaces or ("",)
    found = [Read(assemble.INGRESS, NETWORKING, "ingresses", place) for place in places]
    if TargetName.PANGOLIN not in settings.targets:
        return found
    if "" in settings.ingress_classes:
        found.append(Read(assemble.INGRESS_CLASS, NETWORKING, "ingressclasses"))
    found += [Read(assemble.SERVICE, CORE, "services", place) for place in places]
    for place in tunnel_places(settings):
        found.append(Read(assemble.TUNNEL, PANGOLIN, "pangolintunnels", place))
        found.append(Read(assemble.ORGANIZATION, PANGOLIN, "pangolinorganizations", place))
    found.append(Read(assemble.RESOURCE, PANGOLIN, "pangolinresources"))
    return found


def read(transport: Transport, settings: Settings) -> Seen:
    """Read everything a run needs.

    Raises:
        ClusterError: Any part of it could not be read whole; names scope and remedy.
    """
    wanted = reads(settings)
    with ThreadPoolExecutor(READERS) as pool:
        identity = pool.submit(cluster_id, transport, settings)
        schema = pool.submit(resource_schema, transport, settings)
        lists = [pool.submit(listing, transport, each) for each in wanted]
        try:
            known, shape = identity.result(), schema.result()
            objects: dict[str, list[Raw]] = {}
            for each, found in zip(wanted, lists, strict=True):
                objects.setdefault(each.kind, []).extend(found.result())
        finally:
            # After an error nothing is worth waiting for.
            pool.shutdown(wait=False, cancel_futures=True)
    return Seen(objects, known, shape)


def cluster_id(transport: Transport, settings: Settings) -> str:
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


def resource_schema(transport: Transport, settings: Settings) -> Schema:
    """Return what the installed CRD can hold, or what pic:resourceSchema says it can.

    Raises:
        ClusterError: The CRD is not installed, or could not be read.
    """
    if known := fixed_schema(settings.resource_schema):
        return known
    if TargetName.PANGOLIN not in settings.targets:
        return live.SCHEMA_TARGETS
    try:
        return live.schema(mapping(transport.get(CRD), "CRD"))
    except StatusError as error:
        if error.status == 404:
            raise ClusterError(
                f"the cluster has no CRD for PangolinResource: {INSTALL_HINT}"
            ) from error
        remedy = "set pic:resourceSchema"
        raise _refused("the CRD of PangolinResource", "get", error, remedy) from error
    except MalformedError as error:
        raise ClusterError(f"the CRD of PangolinResource cannot be understood: {error}") from error


def fixed_schema(setting: ResourceSchema) -> Schema | None:
    """Return the schema that a setting names, or None where the CRD decides."""
    match setting:
        case ResourceSchema.TARGETS:
            return live.SCHEMA_TARGETS
        case ResourceSchema.TARGET:
            return live.SCHEMA_TARGET
        case ResourceSchema.AUTO:
            return None
        case _:
            assert_never(setting)


def listing(transport: Transport, wanted: Read) -> list[Raw]:
    """Return every object of a collection, whole.

    A listing that expires between two pages is started again, a bounded number of times.

    Raises:
        ClusterError: It could not be read whole.
    """
    for _ in range(RESTARTS):
        try:
            return [item for page in _pages(transport, wanted) for item in page]
        except StatusError as error:
            if error.status != 410:
                instead = INSTEAD.get(wanted.plural, "")
                raise _refused(str(wanted), "list", error, instead) from error
    raise ClusterError(
        f"listing {wanted} expired {RESTARTS} times before its end: the API server is under load;"
        " run again later"
    )


def _pages(transport: Transport, wanted: Read) -> Iterator[Sequence[Raw]]:
    token = ""
    while True:
        query = {"limit": PAGE, **({"continue": token} if token else {})}
        answer = transport.get(f"{wanted.path}?{urlencode(query)}")
        items, token = _page(answer, wanted)
        yield items
        if not token:
            return


def _page(answer: object, wanted: Read) -> tuple[Sequence[Raw], str]:
    expected = f"{wanted.kind}List"
    match answer:
        case {"kind": kind, "metadata": dict() as metadata, "items": list() as items} if (
            kind == expected and all(isinstance(item, dict) for item in items)
        ):
            return items, text(metadata.get("continue"))
    kind = text(answer.get("kind")) if isinstance(answer, dict) else "no object"
    raise ClusterError(f"listing {wanted} gave {kind or 'no kind'}, not a whole {expected}")


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
