"""Reduces objects of each kind to what planning reads, which is all that a snapshot file contains.

A projection drops every annotation that pic does not read
(`kubectl.kubernetes.io/last-applied-configuration` contains whole objects), TLS, and the names of
Secrets. Of an annotation of another controller it keeps only that it asks for something. A value of
the wrong type keeps its type but loses its content, so that the notice about it stays the same. No
I/O.
"""

from collections.abc import Callable, Iterable, Mapping

from pic.core import model, names
from pic.planning import annotations, dns_look_alikes, dns_requests, selection
from pic.planning.foreign import reading as foreign
from pic.settings import kinds
from pic.snapshot import parse

Projection = Callable[[object], object]


def _scalar(value: object) -> object:
    """Keep text, numbers, booleans and null; keep of a map or a list only whether it is empty."""
    if isinstance(value, dict):
        return {"": None} if value else {}
    if isinstance(value, list):
        return [None] if value else []
    return value


def _emptied(value: object) -> object:
    """Keep only the type of a value that has the wrong type."""
    if value is None or isinstance(value, dict | list):
        return _scalar(value)
    return type(value)()


def _map(fields: Mapping[str, Projection]) -> Projection:
    """Return a projection of maps that keeps the given fields, and projects each of them."""

    def project(value: object) -> object:
        if not isinstance(value, dict):
            return _emptied(value)
        projected = {key: fields[key](value[key]) for key in fields if key in value}
        # A map that had other fields must not become empty: an empty map can mean "absent".
        return projected or _scalar(value)

    return project


def _list(item: Projection) -> Projection:
    """Return a projection of lists that projects each item."""

    def project(value: object) -> object:
        return [item(part) for part in value] if isinstance(value, list) else _emptied(value)

    return project


def _texts(keys: Iterable[str], kept: Callable[[str, object], object] | None = None) -> Projection:
    """Return a projection of maps of texts that keeps some keys.

    Args:
        keys: The keys that keep their value.
        kept: Returns what stays of the value of another key; None drops the key.
    """
    with_value = frozenset(keys)

    def project(value: object) -> object:
        if not isinstance(value, dict):
            return _emptied(value)
        texts = {key: _scalar(value[key]) for key in sorted(with_value & value.keys())}
        others = sorted(value.keys() - with_value) if kept else ()
        rest = {key: kept(key, value[key]) for key in others} if kept else {}
        return {**texts, **{key: part for key, part in rest.items() if part is not None}}

    return project


def _annotation(key: str, value: object) -> object:
    """Return what stays of an annotation that pic does not know, but may report."""
    if annotations.LOOK_ALIKES.meant(key):
        # A null stays one of the values that do not plainly say false.
        return "null" if value is None else _scalar(value)
    if key.startswith(annotations.PREFIX) or dns_look_alikes.meant(key) is not None:
        return ""
    return foreign.kept(key, value)


def _label(key: str, value: object) -> object:
    """Return what stays of a label that was meant as an annotation of ours."""
    if annotations.LOOK_ALIKES.labelled(key):
        return _scalar(value)
    return "" if dns_look_alikes.label_meant(key) else None


def _keys(inner: Projection) -> Projection:
    """Return a projection of maps that keeps every key, and projects each value."""

    # Sorted, so that equal objects give equal lines in whatever order the API server sent the keys.
    def project(value: object) -> object:
        if not isinstance(value, dict):
            return _emptied(value)
        return {key: inner(value[key]) for key in sorted(value)}

    return project


def _cluster_ip(value: object) -> object:
    # "None" marks a headless Service, which is all that planning needs. Addresses stay out of the
    # file.
    return value if value == "None" else None


def _manager(value: object) -> object:
    """Keep the spec fields of pic and of kubectl, two levels deep; of others only the name."""
    name = value.get("manager") if isinstance(value, dict) else None
    kept = isinstance(name, str) and (name == model.FIELD_MANAGER or name.startswith(model.KUBECTL))
    return _KEPT_MANAGER(value) if kept else _OTHER_MANAGER(value)


def _fields(*keys: str) -> Projection:
    return _map(dict.fromkeys(keys, _scalar))


def _object(parts: Mapping[str, Projection], **metadata: Projection) -> Projection:
    return _map({"metadata": _map({**_IDENTITY, **metadata}), **parts})


_OTHER_MANAGER = _fields("manager")
_KEPT_MANAGER = _map(
    {
        "manager": _scalar,
        "fieldsV1": _map({"f:spec": _keys(_keys(lambda _: {}))}),
    }
)
# Namespace and name come first: a snapshot file sorts its lines as text.
_IDENTITY: Mapping[str, Projection] = {
    **dict.fromkeys(
        ("namespace", "name", "uid", "creationTimestamp", "deletionTimestamp"), _scalar
    ),
    "finalizers": _list(_scalar),
}
_INGRESS_ANNOTATIONS = (
    annotations.LEGACY_CLASS,
    annotations.CANARY,
    *(f"{annotations.PREFIX}{name}" for name in annotations.NAMES),
    *(f"{dns_requests.PREFIX}{name}" for name in ("register", "hosts", "target-ip")),
    # pic writes it: the watcher needs it to tell whose a record without a marker is, and to see
    # when the annotation is lost.
    dns_requests.MANAGED_HOSTS,
)
_BACKEND = _map(
    {
        "resource": _fields("kind", "name"),
        "service": _map({"name": _scalar, "port": _fields("number", "name")}),
        "serviceName": _scalar,
        "servicePort": _scalar,
    }
)
_PATH = _map({"path": _scalar, "pathType": _scalar, "backend": _BACKEND})
_RULE = _map({"host": _scalar, "http": _map({"paths": _list(_PATH)})})
_TARGET = _fields("ip", "port", "method", "path", "pathMatchType", "priority")

PROJECTIONS: Mapping[str, Projection] = {
    kinds.CONFIG_MAP: _object(
        {"data": _keys(_scalar)}, labels=_texts([names.STACK_LABEL, names.BUCKET_LABEL])
    ),
    kinds.INGRESS: _object(
        {
            "spec": _map(
                {
                    "ingressClassName": _scalar,
                    "rules": _list(_RULE),
                    "defaultBackend": _BACKEND,
                    "backend": _BACKEND,
                }
            )
        },
        labels=_texts([selection.SOLVER_LABEL], _label),
        annotations=_texts(_INGRESS_ANNOTATIONS, _annotation),
    ),
    kinds.INGRESS_CLASS: _object({}, annotations=_texts([parse.DEFAULT_CLASS])),
    kinds.SERVICE: _object(
        {
            "spec": _map(
                {
                    "type": _scalar,
                    "clusterIP": _cluster_ip,
                    "externalName": _scalar,
                    "ports": _list(
                        _fields("name", "port", "targetPort", "appProtocol", "protocol")
                    ),
                }
            )
        }
    ),
    kinds.NAMESPACE: _object({"status": _fields("phase")}),
    kinds.TUNNEL: _object(
        {
            "spec": _map({"organizationRef": _fields("namespace", "name")}),
            "status": _fields("status"),
        }
    ),
    kinds.ORGANIZATION: _object(
        {"status": _map({"domains": _list(_fields("baseDomain", "domainId", "verified"))})}
    ),
    kinds.RESOURCE: _object(
        {
            "spec": _map(
                {
                    **dict.fromkeys(("enabled", "name", "protocol"), _scalar),
                    "tunnelRef": _fields("name", "namespace"),
                    "httpConfig": _fields(
                        "domainName", "domainId", "subdomain", "sso", "blockAccess"
                    ),
                    "target": _TARGET,
                    "targets": _list(_TARGET),
                }
            ),
            "status": _fields("fullDomain", "status"),
        },
        generation=_scalar,
        labels=_texts([names.STACK_LABEL, names.STACK_ID_LABEL, *names.SEED_LABELS]),
        ownerReferences=_list(_fields("kind", "name", "uid", "controller")),
        managedFields=_list(_manager),
    ),
}
