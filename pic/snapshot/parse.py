"""Kubernetes objects as JSON become values of the model, each shape checked. No I/O."""

from datetime import UTC, datetime

from pic.core import names
from pic.core.json_values import MalformedError, Raw, integer, mapping, sequence, string_map, text
from pic.core.model import (
    Backend,
    Ingress,
    IngressClass,
    IngressPath,
    Organization,
    PathType,
    ResourceBackend,
    Rule,
    Service,
    ServiceBackend,
    ServicePort,
    Tunnel,
)

DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
_PATH_TYPES = frozenset(kind.value for kind in PathType)


def identity(raw: Raw, *, namespaced: bool = True) -> tuple[str, str]:
    """Return namespace (default: `default`) and name.

    Raises:
        MalformedError: One of them is not legal in Kubernetes.
    """
    metadata = mapping(raw.get("metadata"), "metadata")
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if not isinstance(name, str) or not names.is_object_name(name):
        raise MalformedError(f"metadata.name {text(name)!r} is not a legal name")
    if not namespaced:
        return "", name
    namespace = "default" if namespace in (None, "") else namespace
    if not isinstance(namespace, str) or not names.is_label_name(namespace):
        raise MalformedError(f"metadata.namespace {text(namespace)!r} is not a legal name")
    return namespace, name


def ingress(raw: Raw) -> Ingress:
    """Read an Ingress of networking.k8s.io/v1, or of v1beta1 as files may still hold it.

    Raises:
        MalformedError: Its shape is wrong.
    """
    namespace, name = identity(raw)
    metadata, spec = mapping(raw.get("metadata"), "metadata"), mapping(raw.get("spec"), "spec")
    rules = sequence(spec.get("rules"), "spec.rules")
    default = spec.get("defaultBackend", spec.get("backend"))
    return Ingress(
        namespace=namespace,
        name=name,
        uid=text(metadata.get("uid")) or names.derived_uid("Ingress", namespace, name),
        created=timestamp(metadata.get("creationTimestamp")),
        class_name=text(spec.get("ingressClassName")),
        labels=string_map(metadata.get("labels"), "metadata.labels"),
        annotations=_annotations(metadata.get("annotations")),
        rules=tuple(_rule(item, f"spec.rules[{at}]") for at, item in enumerate(rules)),
        default_backend=None if default is None else _backend(default, "spec.defaultBackend"),
        foreground=_in_foreground(metadata),
    )


def timestamp(value: object) -> str:
    """Return an RFC 3339 time in UTC, which sorts as text; empty where it is none."""
    try:
        moment = datetime.fromisoformat(text(value))
    except ValueError:
        return ""
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError:
        return ""


def _annotations(value: object) -> dict[str, str | None]:
    found = mapping(value, "metadata.annotations")
    return {text(key): None if item is None else text(item) for key, item in found.items()}


def _in_foreground(metadata: Raw) -> bool:
    finalizers = sequence(metadata.get("finalizers"), "metadata.finalizers")
    return metadata.get("deletionTimestamp") is not None and "foregroundDeletion" in finalizers


def _rule(value: object, where: str) -> Rule:
    raw = mapping(value, where)
    http = mapping(raw.get("http"), f"{where}.http")
    paths = sequence(http.get("paths"), f"{where}.http.paths")
    read = (_path(item, f"{where}.http.paths[{at}]") for at, item in enumerate(paths))
    return Rule(text(raw.get("host")), tuple(read))


def _path(value: object, where: str) -> IngressPath:
    raw = mapping(value, where)
    kind = text(raw.get("pathType")) or PathType.IMPLEMENTATION_SPECIFIC
    if kind not in _PATH_TYPES:
        raise MalformedError(
            f"{where}.pathType {kind!r} is none of {', '.join(sorted(_PATH_TYPES))}"
        )
    # v1beta1 has the fields of the backend under other names, in the same place.
    backend = _backend(raw.get("backend"), f"{where}.backend")
    return IngressPath(text(raw.get("path")), PathType(kind), backend)


def _backend(value: object, where: str) -> Backend | None:
    raw = mapping(value, where)
    if resource := mapping(raw.get("resource"), f"{where}.resource"):
        return ResourceBackend(f"{text(resource.get('kind'))}/{text(resource.get('name'))}")
    if "serviceName" in raw:
        return ServiceBackend(text(raw.get("serviceName")), _int_or_name(raw.get("servicePort")))
    service = mapping(raw.get("service"), f"{where}.service")
    if not service:
        return None
    return ServiceBackend(text(service.get("name")), _port(service.get("port"), where))


def _port(value: object, where: str) -> int | str | None:
    raw = mapping(value, f"{where}.service.port")
    number, name = raw.get("number"), raw.get("name")
    if number is not None and name:
        return None
    return text(name) if name else integer(number)


def _int_or_name(value: object) -> int | str | None:
    return value if isinstance(value, str) and value else integer(value)


def ingress_class(raw: Raw) -> IngressClass:
    """Read an IngressClass.

    Raises:
        MalformedError: Its shape is wrong.
    """
    _, name = identity(raw, namespaced=False)
    metadata = mapping(raw.get("metadata"), "metadata")
    annotations = string_map(metadata.get("annotations"), "metadata.annotations")
    return IngressClass(name, annotations.get(DEFAULT_CLASS) == "true")


def service(raw: Raw) -> Service:
    """Read a Service.

    Raises:
        MalformedError: Its shape is wrong.
    """
    namespace, name = identity(raw)
    spec = mapping(raw.get("spec"), "spec")
    ports = sequence(spec.get("ports"), "spec.ports")
    return Service(
        namespace=namespace,
        name=name,
        ports=tuple(_service_port(item, f"spec.ports[{at}]") for at, item in enumerate(ports)),
        headless=spec.get("clusterIP") == "None",
        external=spec.get("type") == "ExternalName",
        external_name=text(spec.get("externalName")),
    )


def _service_port(value: object, where: str) -> ServicePort:
    raw = mapping(value, where)
    port = integer(raw.get("port"))
    if port is None:
        raise MalformedError(f"{where}.port {text(raw.get('port'))!r} is not a number")
    return ServicePort(
        name=text(raw.get("name")),
        port=port,
        target=_int_or_name(raw.get("targetPort")),
        app_protocol=text(raw.get("appProtocol")),
    )


def tunnel(raw: Raw) -> Tunnel:
    """Read a PangolinTunnel.

    Raises:
        MalformedError: Its shape is wrong.
    """
    namespace, name = identity(raw)
    spec, status = mapping(raw.get("spec"), "spec"), mapping(raw.get("status"), "status")
    ref = mapping(spec.get("organizationRef"), "spec.organizationRef")
    organization = (text(ref.get("namespace")) or namespace, text(ref.get("name")))
    return Tunnel(
        namespace, name, organization if organization[1] else None, text(status.get("status"))
    )


def organization(raw: Raw) -> Organization:
    """Read a PangolinOrganization.

    Raises:
        MalformedError: Its shape is wrong.
    """
    namespace, name = identity(raw)
    status = mapping(raw.get("status"), "status")
    domains = [
        mapping(item, f"status.domains[{at}]")
        for at, item in enumerate(sequence(status.get("domains"), "status.domains"))
    ]
    verified = {
        text(item.get("baseDomain")).lower().removesuffix(".")
        for item in domains
        if item.get("verified") is True
    }
    return Organization(namespace, name, tuple(sorted(verified - {""})))
