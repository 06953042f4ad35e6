"""PangolinResources that exist, and what their CRD can hold, read from JSON. No I/O."""

from collections.abc import Iterator
from typing import assert_never

from pic.core.errors import ClusterError
from pic.core.json_values import (
    Raw,
    integer,
    mapping,
    sequence,
    string_map,
    text,
)
from pic.core.model import (
    FIELD_MANAGER,
    VERSION,
    HttpConfig,
    LiveResource,
    Owner,
    Schema,
    Spec,
    Target,
    TunnelRef,
)
from pic.planning import hosts
from pic.settings.parse import ResourceSchema
from pic.snapshot.parse import identity

SCHEMA_TARGETS = Schema()
SCHEMA_TARGET = Schema(single_target=True, tunnel_namespace=False, protection=False)


def fixed_schema(setting: ResourceSchema) -> Schema | None:
    """Return the schema that `pic:resourceSchema` names, or None where the CRD decides."""
    match setting:
        case ResourceSchema.TARGETS:
            return SCHEMA_TARGETS
        case ResourceSchema.TARGET:
            return SCHEMA_TARGET
        case ResourceSchema.AUTO:
            return None
        case _:
            assert_never(setting)


def resource(raw: Raw) -> LiveResource:
    """Read a PangolinResource.

    Raises:
        MalformedError: Its shape is wrong.
    """
    namespace, name = identity(raw)
    metadata, status = (
        mapping(raw.get("metadata"), "metadata"),
        mapping(raw.get("status"), "status"),
    )
    spec = _spec(mapping(raw.get("spec"), "spec"))
    managers = sequence(metadata.get("managedFields"), "metadata.managedFields")
    ours = [entry for entry in managers if _is_ours(entry)]
    return LiveResource(
        namespace=namespace,
        name=name,
        uid=text(metadata.get("uid")),
        host=_host(spec, text(status.get("fullDomain"))),
        labels=string_map(metadata.get("labels"), "metadata.labels"),
        owners=tuple(_owners(metadata, namespace)),
        spec=spec,
        owned=frozenset(path for entry in ours for path in _owned(entry)) if managers else None,
        managed=bool(ours),
        generation=integer(metadata.get("generation")) or 0,
        status=text(status.get("status")),
    )


def _spec(raw: Raw) -> Spec:
    single = raw.get("target")
    found = [single] if single is not None else sequence(raw.get("targets"), "spec.targets")
    tunnel = mapping(raw.get("tunnelRef"), "spec.tunnelRef")
    http = mapping(raw.get("httpConfig"), "spec.httpConfig")
    return Spec(
        enabled=_flag(raw.get("enabled")),
        name=_optional(raw.get("name")),
        protocol=_optional(raw.get("protocol")),
        tunnel=TunnelRef(text(tunnel.get("name")), _optional(tunnel.get("namespace")))
        if tunnel
        else None,
        http=HttpConfig(
            domain_name=_optional(http.get("domainName")),
            subdomain=_optional(http.get("subdomain")),
            sso=_flag(http.get("sso")),
            block_access=_flag(http.get("blockAccess")),
        ),
        targets=tuple(_target(item) for item in found),
        single=single is not None,
    )


def _target(value: object) -> Target:
    raw = mapping(value, "spec.targets[]")
    return Target(
        ip=text(raw.get("ip")),
        port=integer(raw.get("port")) or 0,
        method=_optional(raw.get("method")),
        path=_optional(raw.get("path")),
        match=_optional(raw.get("pathMatchType")),
        priority=integer(raw.get("priority")),
    )


def _host(spec: Spec, full_domain: str) -> str:
    """Return the public host: what the spec asks for, else what the operator made of it."""
    domain, subdomain = spec.http.domain_name, spec.http.subdomain
    asked = f"{subdomain}.{domain}" if subdomain and domain else domain
    try:
        return hosts.normalise(asked or full_domain)
    except hosts.UnusableHostError:
        return ""


def _owners(metadata: Raw, namespace: str) -> Iterator[Owner]:
    """Yield the Ingresses that own it, the controller first."""
    found = sequence(metadata.get("ownerReferences"), "metadata.ownerReferences")
    refs = [mapping(item, "metadata.ownerReferences[]") for item in found]
    for ref in sorted(refs, key=lambda ref: ref.get("controller") is not True):
        if ref.get("kind") == "Ingress":
            yield Owner(namespace, text(ref.get("name")), text(ref.get("uid")))


def _is_ours(entry: object) -> bool:
    manager = mapping(entry, "metadata.managedFields[]").get("manager")
    return manager == FIELD_MANAGER


def _owned(entry: object) -> Iterator[str]:
    """Yield the spec fields of a managedFields entry, two levels deep and dotted."""
    fields = mapping(mapping(entry, "entry").get("fieldsV1"), "fieldsV1")
    spec = mapping(fields.get("f:spec"), "fieldsV1.f:spec")
    for key in spec:
        name = key.removeprefix("f:")
        yield name
        inner = mapping(spec[key], f"fieldsV1.f:spec.{key}")
        yield from (f"{name}.{each.removeprefix('f:')}" for each in inner)


def _optional(value: object) -> str | None:
    return None if value is None else text(value)


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def schema(crd: Raw) -> Schema:
    """Read what the installed CRD of PangolinResource can hold.

    Raises:
        ClusterError: It does not serve the version that pic writes.
    """
    spec = mapping(crd.get("spec"), "spec")
    for item in sequence(spec.get("versions"), "spec.versions"):
        version = mapping(item, "spec.versions[]")
        if version.get("name") == VERSION and version.get("served") is True:
            return _schema(version)
    raise ClusterError(
        f"the installed CRD of PangolinResource does not serve {VERSION}: install the CRDs of a"
        " Pangolin operator that does"
    )


def _schema(version: Raw) -> Schema:
    fields = _properties(_dig(version, "schema", "openAPIV3Schema", "properties", "spec"))
    http = mapping(fields.get("httpConfig"), "httpConfig")
    tunnel = _properties(mapping(fields.get("tunnelRef"), "tunnelRef"))
    known = _properties(http)
    return Schema(
        single_target="targets" not in fields and "target" in fields,
        subdomain_optional="subdomain" not in sequence(http.get("required"), "required"),
        tunnel_namespace="namespace" in tunnel,
        protection={"sso", "blockAccess"} <= known.keys(),
    )


def _properties(raw: Raw) -> Raw:
    return mapping(raw.get("properties"), "properties")


def _dig(raw: Raw, *keys: str) -> Raw:
    for key in keys:
        raw = mapping(raw.get(key), key)
    return raw
