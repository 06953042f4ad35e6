"""Parses live PangolinResources, and reads from the CRD which fields they can have.

pic writes version v1alpha1, of which two generations are in use: one with a list `targets`, and an
older one with a single `target`. The API server silently drops fields that the installed CRD does
not have, so pic reads the CRD instead of trusting the version. No I/O.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from pic.core.errors import ClusterError
from pic.core.json_values import Raw, integer, mapping, sequence, string_map, text
from pic.core.model import (
    FIELD_MANAGER,
    KUBECTL,
    VERSION,
    HttpConfig,
    LiveResource,
    Owner,
    Spec,
    Target,
    TunnelRef,
)
from pic.core.operator_objects import Schema
from pic.planning import hosts
from pic.settings.parse import ResourceSchema
from pic.snapshot.parse import deletion, identity

SCHEMA_TARGETS = Schema()
# Pangolin itself has no CRD that could lack something.
SCHEMA_API = Schema(subdomain_optional=True)
SCHEMA_TARGET = Schema(single_target=True, tunnel_namespace=False, protection=False)


def fixed_schema(setting: ResourceSchema) -> Schema | None:
    """Return the schema that `pic:resourceSchema` fixes, or None if the CRD decides."""
    match setting:
        case ResourceSchema.TARGETS:
            return SCHEMA_TARGETS
        case ResourceSchema.TARGET:
            return SCHEMA_TARGET
        case ResourceSchema.AUTO:
            return None
        case _:
            assert_never(setting)


def live_resource(body: Raw) -> LiveResource:
    """Parse a PangolinResource.

    Raises:
        MalformedError: A field has the wrong type, or the name is not legal.
    """
    namespace, name = identity(body)
    metadata = mapping(body.get("metadata"), "metadata")
    status = mapping(body.get("status"), "status")
    spec = _spec(mapping(body.get("spec"), "spec"))
    managers = sequence(metadata.get("managedFields"), "metadata.managedFields")
    # One manager can have several entries: one for each operation and subresource.
    ours = [entry for entry in managers if _manager(entry) == FIELD_MANAGER]
    return LiveResource(
        namespace=namespace,
        name=name,
        uid=text(metadata.get("uid")),
        host=_host(spec, text(status.get("fullDomain"))),
        labels=string_map(metadata.get("labels"), "metadata.labels"),
        owners=tuple(_owners(metadata, namespace)),
        spec=spec,
        # Without managedFields nothing says which fields are ours, which differs from owning none.
        owned=frozenset(path for entry in ours for path in _owned(entry)) if managers else None,
        managed=bool(ours),
        edits=_edits(managers),
        generation=integer(metadata.get("generation")) or 0,
        status=text(status.get("status")),
        going=deletion(metadata),
    )


def _spec(body: Raw) -> Spec:
    single = body.get("target")
    targets = [single] if single is not None else sequence(body.get("targets"), "spec.targets")
    tunnel = mapping(body.get("tunnelRef"), "spec.tunnelRef")
    http = mapping(body.get("httpConfig"), "spec.httpConfig")
    return Spec(
        enabled=_flag(body.get("enabled")),
        name=_optional(body.get("name")),
        protocol=_optional(body.get("protocol")),
        tunnel=TunnelRef(text(tunnel.get("name")), _optional(tunnel.get("namespace")))
        if tunnel
        else None,
        http=HttpConfig(
            domain_name=_optional(http.get("domainName")),
            subdomain=_optional(http.get("subdomain")),
            sso=_flag(http.get("sso")),
            block_access=_flag(http.get("blockAccess")),
            domain_id=_optional(http.get("domainId")),
        ),
        targets=tuple(_target(item) for item in targets),
        single=single is not None,
    )


def _target(value: object) -> Target:
    body = mapping(value, "spec.targets[]")
    return Target(
        ip=text(body.get("ip")),
        port=integer(body.get("port")) or 0,
        method=_optional(body.get("method")),
        path=_optional(body.get("path")),
        match=_optional(body.get("pathMatchType")),
        priority=integer(body.get("priority")),
    )


def _host(spec: Spec, full_domain: str) -> str:
    """Return the public host in the spec, or else the one that the operator reports.

    A spec may name only a subdomain; the operator then adds the organisation's domain.
    """
    domain, subdomain = spec.http.domain_name, spec.http.subdomain
    host = f"{subdomain}.{domain}" if subdomain and domain else domain
    try:
        return hosts.normalise(host or full_domain)
    except hosts.UnusableHostError:
        return ""


def _owners(metadata: Raw, namespace: str) -> Iterator[Owner]:
    """Yield the Ingresses that own an object, the controller first."""
    items = sequence(metadata.get("ownerReferences"), "metadata.ownerReferences")
    refs = [mapping(item, "metadata.ownerReferences[]") for item in items]
    for ref in sorted(refs, key=lambda ref: ref.get("controller") is not True):
        if ref.get("kind") == "Ingress":
            yield Owner(namespace, text(ref.get("name")), text(ref.get("uid")))


def _manager(entry: object) -> str:
    return text(mapping(entry, "metadata.managedFields[]").get("manager"))


def _edits(entries: Sequence[object]) -> dict[str, tuple[str, ...]]:
    """Return the spec fields that the managers of kubectl own, without maps of such fields."""
    edits: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        if (manager := _manager(entry)).startswith(KUBECTL):
            owned = sorted(path for path in _owned(entry) if not path.endswith("."))
            paths = [it for it in owned if not any(other.startswith(f"{it}.") for other in owned)]
            edits[manager] = tuple(sorted({*edits.get(manager, ()), *paths}))
    return {manager: paths for manager, paths in sorted(edits.items()) if paths}


def _owned(entry: object) -> Iterator[str]:
    """Yield the spec fields that an entry of managedFields owns, such as `httpConfig.sso`.

    Two levels are enough: pic owns the fields of `httpConfig` one by one, and lists as a whole.
    """
    fields = mapping(mapping(entry, "entry").get("fieldsV1"), "fieldsV1")
    spec = mapping(fields.get("f:spec"), "fieldsV1.f:spec")
    for key in spec:
        name = key.removeprefix("f:")
        yield name
        inner = mapping(spec[key], f"fieldsV1.f:spec.{key}")
        yield from (f"{name}.{field.removeprefix('f:')}" for field in inner)


def _optional(value: object) -> str | None:
    return None if value is None else text(value)


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def crd_schema(crd: Raw) -> Schema:
    """Return what the installed CRD of PangolinResource can hold.

    Raises:
        ClusterError: The CRD does not serve the version that pic writes.
    """
    spec = mapping(crd.get("spec"), "spec")
    # A CRD can list a version that it no longer serves.
    for item in sequence(spec.get("versions"), "spec.versions"):
        version = mapping(item, "spec.versions[]")
        if version.get("name") == VERSION and version.get("served") is True:
            return _schema(version)
    raise ClusterError(
        f"the installed CRD of PangolinResource does not serve {VERSION}: install the CRDs of a"
        " Pangolin operator that does"
    )


def is_terminating(crd: Raw) -> bool:
    """Say whether Kubernetes is deleting the CRD, and with it every object."""
    if deletion(mapping(crd.get("metadata"), "metadata")):
        return True
    status = mapping(crd.get("status"), "status")
    conditions = sequence(status.get("conditions"), "status.conditions")
    parsed = [mapping(condition, "status.conditions[]") for condition in conditions]
    return any(it.get("type") == "Terminating" and it.get("status") == "True" for it in parsed)


def _schema(version: Raw) -> Schema:
    fields = _properties(_dig(version, "schema", "openAPIV3Schema", "properties", "spec"))
    http = mapping(fields.get("httpConfig"), "httpConfig")
    tunnel = _properties(mapping(fields.get("tunnelRef"), "tunnelRef"))
    http_fields = _properties(http)
    return Schema(
        single_target="targets" not in fields and "target" in fields,
        subdomain_optional="subdomain" not in sequence(http.get("required"), "required"),
        tunnel_namespace="namespace" in tunnel,
        protection={"sso", "blockAccess"} <= http_fields.keys(),
        domain_id="domainId" in http_fields,
    )


def _properties(schema: Raw) -> Raw:
    return mapping(schema.get("properties"), "properties")


def _dig(body: Raw, *keys: str) -> Raw:
    for key in keys:
        body = mapping(body.get(key), key)
    return body
