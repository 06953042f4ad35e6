"""What of each kind planning looks at, and so all that a snapshot file holds. No I/O.

No annotation of others (`kubectl.kubernetes.io/last-applied-configuration` holds whole objects), no
TLS, no name of a Secret. A value of the wrong shape stays of that shape, emptied, so that the
notice about it stays the same.
"""

from collections.abc import Callable, Iterable, Mapping

from pic.core import model, names
from pic.planning import annotations, dns_records, selection
from pic.settings import kinds
from pic.snapshot import parse

Keep = Callable[[object], object]


def _scalar(value: object) -> object:
    """Keep a text, a number, a flag or a null; of others, whether they are empty."""
    if isinstance(value, dict):
        return {"": None} if value else {}
    if isinstance(value, list):
        return [None] if value else []
    return value


def _emptied(value: object) -> object:
    """Keep of a value where something else belongs only what it is."""
    if value is None or isinstance(value, dict | list):
        return _scalar(value)
    return type(value)()


def _map(known: Mapping[str, Keep]) -> Keep:
    def keep(value: object) -> object:
        if not isinstance(value, dict):
            return _emptied(value)
        kept = {key: known[key](value[key]) for key in known if key in value}
        return kept or _scalar(value)

    return keep


def _each(item: Keep) -> Keep:
    def keep(value: object) -> object:
        return [item(each) for each in value] if isinstance(value, list) else _emptied(value)

    return keep


def _texts(known: Iterable[str], named: str = "") -> Keep:
    """Keep the known texts of a map, and the bare names of those that begin with `named`."""
    known = frozenset(known)

    def keep(value: object) -> object:
        if not isinstance(value, dict):
            return _emptied(value)
        found = {key: _scalar(value[key]) for key in sorted(known & value.keys())}
        unknown = sorted(key for key in value.keys() - known if named and key.startswith(named))
        return {**found, **dict.fromkeys(unknown, "")}

    return keep


def _keys(inner: Keep) -> Keep:
    def keep(value: object) -> object:
        if not isinstance(value, dict):
            return _emptied(value)
        return {key: inner(value[key]) for key in sorted(value)}

    return keep


def _headless(value: object) -> object:
    # Any other address of a Service is nobody's business.
    return value if value == "None" else None


def _manager(value: object) -> object:
    """Keep what manager `pic` owns of the spec, two levels deep; of others the bare name."""
    ours = isinstance(value, dict) and value.get("manager") == model.FIELD_MANAGER
    return _OUR_MANAGER(value) if ours else _OTHER_MANAGER(value)


def _fields(*known: str) -> Keep:
    return _map(dict.fromkeys(known, _scalar))


def _object(parts: Mapping[str, Keep], **metadata: Keep) -> Keep:
    return _map({"metadata": _map({**_IDENTITY, **metadata}), **parts})


_OTHER_MANAGER = _fields("manager")
_OUR_MANAGER = _map(
    {
        "manager": _scalar,
        "fieldsV1": _map({"f:spec": _keys(_keys(lambda _: {}))}),
    }
)
_IDENTITY: Mapping[str, Keep] = {
    **dict.fromkeys(
        ("namespace", "name", "uid", "creationTimestamp", "deletionTimestamp"), _scalar
    ),
    "finalizers": _each(_scalar),
}
_INGRESS_ANNOTATIONS = (
    annotations.LEGACY_CLASS,
    annotations.CANARY,
    *(f"{annotations.PREFIX}{name}" for name in annotations.NAMES),
    *(f"{dns_records.PREFIX}{name}" for name in ("register", "hosts", "target-ip")),
    # Tells a watcher whose a record without a marker is, and whether it is still told.
    dns_records.MANAGED_HOSTS,
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
_RULE = _map({"host": _scalar, "http": _map({"paths": _each(_PATH)})})
_TARGET = _fields("ip", "port", "method", "path", "pathMatchType", "priority")

KINDS: Mapping[str, Keep] = {
    kinds.INGRESS: _object(
        {
            "spec": _map(
                {
                    "ingressClassName": _scalar,
                    "rules": _each(_RULE),
                    "defaultBackend": _BACKEND,
                    "backend": _BACKEND,
                }
            )
        },
        labels=_texts([selection.SOLVER_LABEL]),
        # That an annotation does not exist is told by its name.
        annotations=_texts(_INGRESS_ANNOTATIONS, named=annotations.PREFIX),
    ),
    kinds.INGRESS_CLASS: _object({}, annotations=_texts([parse.DEFAULT_CLASS])),
    kinds.SERVICE: _object(
        {
            "spec": _map(
                {
                    "type": _scalar,
                    "clusterIP": _headless,
                    "externalName": _scalar,
                    "ports": _each(_fields("name", "port", "targetPort", "appProtocol")),
                }
            )
        }
    ),
    kinds.TUNNEL: _object(
        {
            "spec": _map({"organizationRef": _fields("namespace", "name")}),
            "status": _fields("status"),
        }
    ),
    kinds.ORGANIZATION: _object(
        {"status": _map({"domains": _each(_fields("baseDomain", "verified"))})}
    ),
    kinds.RESOURCE: _object(
        {
            "spec": _map(
                {
                    **dict.fromkeys(("enabled", "name", "protocol"), _scalar),
                    "tunnelRef": _fields("name", "namespace"),
                    "httpConfig": _fields("domainName", "subdomain", "sso", "blockAccess"),
                    "target": _TARGET,
                    "targets": _each(_TARGET),
                }
            ),
            "status": _fields("fullDomain", "status"),
        },
        generation=_scalar,
        labels=_texts([names.STACK_LABEL, *names.SEED_LABELS]),
        ownerReferences=_each(_fields("kind", "name", "uid", "controller")),
        managedFields=_each(_manager),
    ),
}
