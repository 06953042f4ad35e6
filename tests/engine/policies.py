"""Lets the API server refuse the objects of a host, by an admission policy."""

from collections.abc import Iterator
from contextlib import contextmanager

from dev.controlplane.api import RefusedError
from tests.engine.stage import APIS, Stage
from tests.support.waiting import until


@contextmanager
def denied(stage: Stage, word: str) -> Iterator[None]:
    """Let the API server refuse the objects of a host."""
    group, name = "/apis/admissionregistration.k8s.io/v1", f"deny-{stage.name}"
    rule = {
        "apiGroups": ["tunnel.pangolin.io"],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["pangolinresources"],
    }
    selector = {"matchLabels": {"kubernetes.io/metadata.name": stage.name}}
    policy = {
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": selector},
        "validations": [
            {
                "expression": f"object.spec.name != '{stage.host(word)}'",
                "message": f"no {word} hosts here",
            }
        ],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    objects = (
        ("ValidatingAdmissionPolicy", "validatingadmissionpolicies", policy),
        ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", binding),
    )
    for kind, plural, spec in objects:
        body = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        }
        stage.cluster.api.request("POST", f"{group}/{plural}", body)
    try:
        until(lambda: _is_denied(stage, word), "the policy is in force")
        yield
    finally:
        for _, plural, _ in objects:
            stage.cluster.api.request("DELETE", f"{group}/{plural}/{name}")
        until(lambda: not _is_denied(stage, word), "the policy is no longer in force")


def _is_denied(stage: Stage, word: str) -> bool:
    body = {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinResource",
        "metadata": {"name": "probe"},
        "spec": {"name": stage.host(word)},
    }
    path = f"{APIS['PangolinResource'].format(stage.name)}?dryRun=All"
    try:
        stage.cluster.api.request("POST", path, body)
    except RefusedError as error:
        return f"no {word} hosts here" in str(error)
    return False
