"""Creates the service accounts of deploy/roles in a cluster, whole or with one verb less."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dev.controlplane import ControlPlane
from dev.controlplane.api import Api
from pic.cluster.listing import connect
from pic.cluster.review_access import is_allowed
from pic.settings.parse import Settings
from pic.settings.permissions import Permission
from tests.support.waiting import until

ROLES = Path(__file__).parents[2] / "deploy" / "roles"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"

Object = dict[str, Any]


class Grant(NamedTuple):
    """Grants one verb on one resource; `part` is apps, tunnels, cluster or lease."""

    part: str
    group: str
    resource: str
    verb: str
    name: str = ""

    @property
    def rule(self) -> Object:
        """The rule of a role with only this grant."""
        names = {"resourceNames": [self.name]} if self.name else {}
        return {
            "apiGroups": [self.group],
            "resources": [self.resource],
            "verbs": [self.verb],
            **names,
        }

    def forbidden(self, account: str, namespace: str, name: str = "") -> str:
        """Return what the API server answers without this grant."""
        full = f"{self.resource}.{self.group}" if self.group else self.resource
        object_name = f' "{name or self.name}"' if name or self.name else ""
        scope = "at the cluster scope" if self.wide else f'in the namespace "{namespace}"'
        if self.name == "kube-system":  # the API server names a namespace as the scope of itself
            scope = f'in the namespace "{self.name}"'
        return (
            f'{full}{object_name} is forbidden: User "{account}" cannot {self.verb} resource'
            f' "{self.resource}" in API group "{self.group}" {scope}'
        )

    @property
    def wide(self) -> bool:
        return self.part == "cluster"

    @property
    def is_optional(self) -> bool:
        """Whether a run works without it: only namespace kube-system has to be read."""
        return self.resource == "namespaces" and not self.name

    def permission(self, namespace: str) -> Permission:
        """Return the permission that pic reviews for this grant."""
        scope = "" if self.wide else namespace
        return Permission(self.group, self.resource, self.verb, "", scope, self.name)

    def __str__(self) -> str:
        return f"{self.verb}-{self.resource}"


def grants(account: str) -> list[Grant]:
    """Return everything that the roles of an account grant, one verb at a time."""
    return [
        Grant(part, group, resource, verb, name)
        for role in yaml.safe_load_all((ROLES / account / "roles.yaml").read_text())
        if role["kind"] in ("ClusterRole", "Role")
        for part in [role["metadata"]["name"].rpartition("-")[2]]
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames", [""])
    ]


class Account(NamedTuple):
    """Names a service account, and a kubeconfig with its token."""

    user: str
    kubeconfig: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"KUBECONFIG": str(self.kubeconfig)}


@contextmanager
def open_account(
    plane: ControlPlane, api: Api, namespace: str, account_grants: list[Grant]
) -> Iterator[Account]:
    """Create an account in a namespace, which also has the apps, the tunnels and the Lease."""
    name = f"account-{secrets.token_hex(4)}"
    user = f"system:serviceaccount:{namespace}:{name}"
    account = Account(user, plane.kubeconfig_for(user))
    subjects = [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]
    for wide in (True, False):
        rules = [grant.rule for grant in account_grants if grant.wide is wide]
        _bind(
            api,
            f"{name}-{'wide' if wide else 'narrow'}",
            "" if wide else namespace,
            rules,
            subjects,
        )
    until(
        lambda: _is_in_force(account, account_grants, namespace),
        f"the roles of {name} are in force",
    )
    try:
        yield account
    finally:
        for kind in ("clusterroles", "clusterrolebindings"):
            api.request("DELETE", f"{RBAC}/{kind}/{name}-wide")
        api.request("DELETE", f"{RBAC}/clusterroles/{name}-narrow")


def _bind(
    api: Api, name: str, namespace: str, rules: list[Object], subjects: Sequence[Mapping[str, str]]
) -> None:
    reference = {"apiGroup": GROUP, "kind": "ClusterRole", "name": name}
    api.request("POST", f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules})
    binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": subjects}
    path = f"namespaces/{namespace}/rolebindings" if namespace else "clusterrolebindings"
    api.request("POST", f"{RBAC}/{path}", binding)


def _is_in_force(account: Account, account_grants: list[Grant], namespace: str) -> bool:
    transport = connect(Settings(), account.environment)
    return all(is_allowed(transport, grant.permission(namespace)) for grant in account_grants)
