"""Lets the API server refuse to create objects, by an admission policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from dev.controlplane.api import RefusedError
from tests.engine.stage import APIS, Object, Stage
from tests.support.waiting import until

GROUP = "/apis/admissionregistration.k8s.io/v1"


class _Refusal(NamedTuple):
    """Describes what the API server refuses in a namespace.

    Attributes:
        expression: What has to be true of an object that is not refused.
        probe: An object that is refused.
    """

    namespace: str
    group: str
    plural: str
    expression: str
    message: str
    probe: Object


@contextmanager
def denied(stage: Stage, word: str) -> Iterator[None]:
    """Let the API server refuse the objects of a host."""
    probe = {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinResource",
        "metadata": {"name": "probe"},
        "spec": {"name": stage.host(word)},
    }
    expression = f"object.spec.name != '{stage.host(word)}'"
    group, plural, message = "tunnel.pangolin.io", "pangolinresources", f"no {word} hosts here"
    with _refused(stage, _Refusal(stage.name, group, plural, expression, message, probe)):
        yield


@contextmanager
def without_config_maps(stage: Stage, namespace: str) -> Iterator[None]:
    """Let the API server refuse every ConfigMap of pic in a namespace."""
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "pic-probe"}}
    expression = "!object.metadata.name.startsWith('pic-')"
    with _refused(
        stage, _Refusal(namespace, "", "configmaps", expression, "no register here", probe)
    ):
        yield


@contextmanager
def _refused(stage: Stage, refusal: _Refusal) -> Iterator[None]:
    name = f"deny-{refusal.namespace}"
    rule = {
        "apiGroups": [refusal.group],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": [refusal.plural],
    }
    selector = {"matchLabels": {"kubernetes.io/metadata.name": refusal.namespace}}
    policy = {
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": selector},
        "validations": [{"expression": refusal.expression, "message": refusal.message}],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    objects = (
        ("ValidatingAdmissionPolicy", "validatingadmissionpolicies", policy),
        ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", binding),
    )
    for kind, plural, spec in objects:
        metadata = {"name": name}
        version = "admissionregistration.k8s.io/v1"
        body = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
        stage.cluster.api.request("POST", f"{GROUP}/{plural}", body)
    try:
        until(lambda: _is_refused(stage, refusal), "the policy is in force")
        yield
    finally:
        for _, plural, _ in objects:
            stage.cluster.api.request("DELETE", f"{GROUP}/{plural}/{name}")
        until(lambda: not _is_refused(stage, refusal), "the policy is no longer in force")


def _is_refused(stage: Stage, refusal: _Refusal) -> bool:
    path = f"{APIS[refusal.probe['kind']].format(refusal.namespace)}?dryRun=All"
    try:
        stage.cluster.api.request("POST", path, refusal.probe)
    except RefusedError as error:
        return refusal.message in str(error)
    return False
