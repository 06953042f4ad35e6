"""Turns planned values into JSON, for the Kubernetes API and for the output of `pic plan`."""

import json
from collections.abc import Mapping, Sequence

from pic.core.model import Owner, Plan, Resource, Spec, Target
from pic.core.notices import Notice

Json = dict[str, object]

PLAN_VERSION = 1


def spec(value: Spec) -> Json:
    """Return `.spec` of a PangolinResource, exactly as pic sends it."""
    http = value.http
    targets = [target(entry) for entry in value.targets]
    single = targets[0] if targets else None
    tunnel = value.tunnel and present(
        {"name": value.tunnel.name, "namespace": value.tunnel.namespace}
    )
    return present(
        {
            "enabled": value.enabled,
            "name": value.name,
            "protocol": value.protocol,
            "tunnelRef": tunnel,
            "httpConfig": present(
                {
                    "domainName": http.domain_name,
                    "domainId": http.domain_id,
                    "subdomain": http.subdomain,
                    "sso": http.sso,
                    "blockAccess": http.block_access,
                }
            ),
            "target" if value.single else "targets": single if value.single else targets,
        }
    )


def target(value: Target) -> Json:
    """Return one target."""
    return present(
        {
            "ip": value.ip,
            "port": value.port,
            "method": value.method,
            "path": value.path,
            "pathMatchType": value.match,
            "priority": value.priority,
        }
    )


def as_text(value: object) -> str:
    """Return a value of a spec as text for a message."""
    return json.dumps(value, ensure_ascii=False)


def present(fields: Mapping[str, object]) -> Json:
    """Return the fields without those that are None, an empty map or an empty list."""
    # An empty field that the API server drops would differ from the live object in every run.
    return {key: value for key, value in fields.items() if value not in (None, {}, [])}


def owner_references(owners: Sequence[Owner]) -> list[Json]:
    """Return `metadata.ownerReferences`; Kubernetes allows one controller, which is the first."""
    return [
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "name": owner.name,
            "uid": owner.uid,
            "controller": position == 0,
            # A deletion of the Ingress in the foreground waits until this object is deleted.
            "blockOwnerDeletion": True,
        }
        for position, owner in enumerate(owners)
    ]


def plan(value: Plan) -> Json:
    """Return the whole plan; its shape is versioned by `PLAN_VERSION`."""
    return {
        "version": PLAN_VERSION,
        "resources": [resource(planned) for planned in value.resources],
        "records": [
            {"host": record.host, "ip": record.ip, "owners": owners(record.owners)}
            for record in value.records
        ],
        "notices": [notice(reported) for reported in value.notices],
    }


def resource(value: Resource) -> Json:
    """Return one planned resource."""
    return {
        "host": value.host,
        "namespace": value.namespace,
        "name": value.name,
        "owners": owners(value.owners),
        "held": value.held,
        "labels": dict(sorted(value.labels.items())),
        "spec": spec(value.spec),
    }


def owners(value: Sequence[Owner]) -> list[Json]:
    """Return owners as the output of the plan names them."""
    return [{"namespace": owner.namespace, "name": owner.name} for owner in value]


def notice(value: Notice) -> Json:
    """Return one notice."""
    return {
        "level": value.level.value,
        "reason": value.reason.value,
        "object": {
            "kind": value.about.kind,
            "namespace": value.about.namespace,
            "name": value.about.name,
        },
        "host": value.host,
        # A notice about a whole Ingress is about all of its hosts.
        **({"hosts": list(value.hosts)} if value.hosts else {}),
        "message": value.message,
    }
