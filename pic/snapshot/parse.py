"""Parses Kubernetes objects, which are JSON, into the values that planning uses.

Every function checks the types of the fields that it reads, because manifest files can hold
anything. It ignores all other fields, so new fields of Kubernetes do no harm (ADR 4). No I/O.
"""

from datetime import UTC, datetime
from string import ascii_lowercase, digits

from pic.core import names
from pic.core.ingress import (
    Backend,
    Deletion,
    Ingress,
    IngressClass,
    IngressPath,
    PathType,
    ResourceBackend,
    Rule,
    Service,
    ServiceBackend,
    ServicePort,
    Slips,
)
from pic.core.json_values import (
    MalformedError,
    Raw,
    RepeatedKeys,
    Unquoted,
    integer,
    mapping,
    sequence,
    string_map,
    text,
)
from pic.core.model import Namespace
from pic.core.operator_objects import Organization, Tunnel
from pic.core.variables import not_filled_in

DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
# pic writes this phase for a namespace that does not exist. Kubernetes has no such phase.
NOT_FOUND = "NotFound"
_NOT_IN_V1 = "which networking.k8s.io/v1 does not have"
_PATH_TYPES = frozenset(kind.value for kind in PathType)


def identity(body: Raw, *, namespaced: bool = True) -> tuple[str, str]:
    """Return namespace and name. A missing namespace means `default`, as for kubectl.

    Raises:
        MalformedError: One of them is not a legal name in Kubernetes.
    """
    metadata = mapping(body.get("metadata"), "metadata")
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if not isinstance(name, str) or not names.is_object_name(name):
        raise _illegal("metadata.name", name, "-.")
    if not namespaced:
        return "", name
    namespace = "default" if namespace in (None, "") else namespace
    if not isinstance(namespace, str) or not names.is_label_name(namespace):
        raise _illegal("metadata.namespace", namespace, "-")
    return namespace, name


def _illegal(where: str, value: object, signs: str) -> MalformedError:
    """Return the error for a name that may contain lower-case letters, digits and some signs."""
    if value in (None, ""):
        return MalformedError(f"{where} is missing")
    characters = value if isinstance(value, str) else ""
    allowed = f"{ascii_lowercase}{digits}{signs}"
    wrong = next((f"it contains {char!r}" for char in characters if char not in allowed), "")
    why = not_filled_in(text(value)) or wrong
    return MalformedError(f"{where} {text(value)!r} is not a legal name{why and f': {why}'}")


def ingress(body: Raw) -> Ingress:
    """Parse an Ingress of version v1, or of v1beta1, which old files still use.

    Raises:
        MalformedError: A field has the wrong type, or a name is not legal.
    """
    namespace, name = identity(body)
    metadata, spec = mapping(body.get("metadata"), "metadata"), mapping(body.get("spec"), "spec")
    rules = sequence(spec.get("rules"), "spec.rules")
    # The API server of version v1 refuses what only v1beta1 has. Kubernetes 1.22 removed v1beta1,
    # but files still use it. Objects in a listing bear no version.
    strict = body.get("apiVersion") == "networking.k8s.io/v1"
    if strict and "backend" in spec and "defaultBackend" not in spec:
        raise MalformedError(f"spec has backend, {_NOT_IN_V1}: write spec.defaultBackend")
    default = spec.get("defaultBackend", spec.get("backend"))
    default_backend = None
    if default is not None:
        default_backend = _backend(default, "spec.defaultBackend", strict=strict)
    return Ingress(
        namespace=namespace,
        name=name,
        uid=text(metadata.get("uid")) or names.derived_uid("Ingress", namespace, name),
        created=timestamp(metadata.get("creationTimestamp")),
        class_name=text(spec.get("ingressClassName")),
        labels=string_map(metadata.get("labels"), "metadata.labels"),
        annotations=_annotations(metadata.get("annotations")),
        rules=tuple(
            _rule(item, f"spec.rules[{at}]", strict=strict) for at, item in enumerate(rules)
        ),
        default_backend=default_backend,
        going=deletion(metadata),
        slips=_slips(metadata.get("annotations")),
    )


def timestamp(value: object) -> str:
    """Return an RFC 3339 time in UTC, so that times sort as text; empty for anything else."""
    try:
        moment = datetime.fromisoformat(text(value))
    except ValueError:
        return ""
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    # Near year 1 or 9999, a change of the time zone leaves the range of Python's dates.
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError:
        return ""


def _annotations(value: object) -> dict[str, str | None]:
    # A null stays None: sso and block-access treat it differently from an absent annotation.
    annotations = mapping(value, "metadata.annotations")
    return {text(key): None if item is None else text(item) for key, item in annotations.items()}


def _slips(value: object) -> Slips:
    """Return what is wrong with the annotations of a file, which are a map by now."""
    annotations = mapping(value, "metadata.annotations")
    return Slips(
        tuple(text(key) for key, item in annotations.items() if _is_no_text(item)),
        value.repeated if isinstance(value, RepeatedKeys) else (),
    )


def _is_no_text(value: object) -> bool:
    # A file in JSON has numbers and booleans where a file in YAML has `Unquoted`.
    return isinstance(value, Unquoted | bool | int | float)


def deletion(metadata: Raw) -> Deletion | None:
    """Return the deletion of an object; None if Kubernetes is not deleting it.

    Raises:
        MalformedError: The finalizers are not a list.
    """
    finalizers = sequence(metadata.get("finalizers"), "metadata.finalizers")
    since = metadata.get("deletionTimestamp")
    return None if since is None else Deletion(timestamp(since), tuple(map(text, finalizers)))


def _rule(value: object, where: str, *, strict: bool) -> Rule:
    body = mapping(value, where)
    http = mapping(body.get("http"), f"{where}.http")
    paths = sequence(http.get("paths"), f"{where}.http.paths")
    parsed = (
        _path(item, f"{where}.http.paths[{at}]", strict=strict) for at, item in enumerate(paths)
    )
    return Rule(text(body.get("host")), tuple(parsed))


def _path(value: object, where: str, *, strict: bool) -> IngressPath:
    body = mapping(value, where)
    # v1 requires a pathType. In v1beta1 an absent one means ImplementationSpecific.
    kind = text(body.get("pathType")) or PathType.IMPLEMENTATION_SPECIFIC
    if kind not in _PATH_TYPES:
        raise MalformedError(
            f"{where}.pathType {kind!r} is not one of {', '.join(sorted(_PATH_TYPES))}"
        )
    backend = _backend(body.get("backend"), f"{where}.backend", strict=strict)
    return IngressPath(text(body.get("path")), PathType(kind), backend, where)


def _backend(value: object, where: str, *, strict: bool) -> Backend | None:
    body = mapping(value, where)
    if resource := mapping(body.get("resource"), f"{where}.resource"):
        return ResourceBackend(f"{text(resource.get('kind'))}/{text(resource.get('name'))}")
    old = next((key for key in ("serviceName", "servicePort") if key in body), None)
    if old and strict and "service" not in body:
        remedy = "write service.name and service.port.number"
        raise MalformedError(f"{where} has {old}, {_NOT_IN_V1}: {remedy}")
    if "serviceName" in body and not strict:
        return ServiceBackend(text(body.get("serviceName")), _int_or_name(body.get("servicePort")))
    ref = mapping(body.get("service"), f"{where}.service")
    return ServiceBackend(text(ref.get("name")), _port(ref.get("port"), where)) if ref else None


def _port(value: object, where: str) -> int | str | None:
    body = mapping(value, f"{where}.service.port")
    number, name = body.get("number"), body.get("name")
    # The API server allows only one of them, so a file with both names no port.
    if number is not None and name:
        return None
    if isinstance(number, str) and (number.strip().isdigit() or not_filled_in(number)):
        # A port in quotes, or a variable. No port has such a name, so planning can tell the author.
        return number
    return text(name) if name else integer(number)


def _int_or_name(value: object) -> int | str | None:
    return value if isinstance(value, str) and value else integer(value)


def ingress_class(body: Raw) -> IngressClass:
    """Parse an IngressClass.

    Raises:
        MalformedError: A field has the wrong type, or a name is not legal.
    """
    _, name = identity(body, namespaced=False)
    metadata = mapping(body.get("metadata"), "metadata")
    annotations = string_map(metadata.get("annotations"), "metadata.annotations")
    return IngressClass(name, annotations.get(DEFAULT_CLASS) == "true")


def service(body: Raw) -> Service:
    """Parse a Service.

    Raises:
        MalformedError: A field has the wrong type, or a name is not legal.
    """
    namespace, name = identity(body)
    spec = mapping(body.get("spec"), "spec")
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
    body = mapping(value, where)
    port = integer(body.get("port"))
    if port is None:
        quoted = ": remove the quotes" if isinstance(body.get("port"), str) else ""
        raise MalformedError(f"{where}.port {text(body.get('port'))!r} is not a number{quoted}")
    return ServicePort(
        name=text(body.get("name")),
        port=port,
        target=_int_or_name(body.get("targetPort")),
        app_protocol=text(body.get("appProtocol")),
        protocol=text(body.get("protocol")).upper() or "TCP",
    )


def tunnel(body: Raw) -> Tunnel:
    """Parse a PangolinTunnel.

    Raises:
        MalformedError: A field has the wrong type, or a name is not legal.
    """
    namespace, name = identity(body)
    spec, status = mapping(body.get("spec"), "spec"), mapping(body.get("status"), "status")
    ref = mapping(spec.get("organizationRef"), "spec.organizationRef")
    key = (text(ref.get("namespace")) or namespace, text(ref.get("name")))
    return Tunnel(namespace, name, key if key[1] else None, text(status.get("status")))


def organization(body: Raw) -> Organization:
    """Parse a PangolinOrganization.

    Raises:
        MalformedError: A field has the wrong type, or a name is not legal.
    """
    namespace, name = identity(body)
    status = mapping(body.get("status"), "status")
    domains = [
        mapping(item, f"status.domains[{at}]")
        for at, item in enumerate(sequence(status.get("domains"), "status.domains"))
    ]
    # Domains are compared with normalised hosts, which are in lower case without a trailing dot.
    verified = {
        text(item.get("baseDomain")).lower().removesuffix("."): text(item.get("domainId"))
        for item in domains
        if item.get("verified") is True
    }
    verified.pop("", None)
    domain_ids = {domain: verified[domain] for domain in sorted(verified) if verified[domain]}
    return Organization(namespace, name, tuple(sorted(verified)), domain_ids)


def namespace(body: Raw) -> Namespace:
    """Parse a Namespace.

    Raises:
        MalformedError: A field has the wrong type, or the name is not legal.
    """
    _, name = identity(body, namespaced=False)
    metadata = mapping(body.get("metadata"), "metadata")
    phase = text(mapping(body.get("status"), "status").get("phase"))
    # Its finalizers are in its spec: Kubernetes removes them when the namespace is empty.
    return Namespace(name, phase != NOT_FOUND, deletion(metadata))
