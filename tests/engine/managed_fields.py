"""Lists the fields of a PangolinResource that pic manages, as `managedFields` names them."""

from tests.engine.stage import Object

MANAGED_FIELDS: Object = {
    "f:metadata": {
        "f:annotations": {
            "f:pulumi.com/deletionPropagationPolicy": {},
            "f:pulumi.com/patchFieldManager": {},
            "f:pulumi.com/patchForce": {},
        },
        "f:labels": {
            "f:pic.ingress.k8s.io/name": {},
            "f:pic.ingress.k8s.io/namespace": {},
            "f:pic.ingress.k8s.io/stack": {},
            "f:pic.ingress.k8s.io/stack-id": {},
            "f:pic.ingress.k8s.io/uid": {},
        },
    },
    "f:spec": {
        "f:enabled": {},
        "f:httpConfig": {
            "f:blockAccess": {},
            "f:domainId": {},
            "f:domainName": {},
            "f:sso": {},
            "f:subdomain": {},
        },
        "f:name": {},
        "f:protocol": {},
        "f:targets": {},
        "f:tunnelRef": {"f:name": {}, "f:namespace": {}},
    },
}
