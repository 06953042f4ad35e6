"""The accounts of deploy/roles in a real cluster: as they are there, or with one verb less."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
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
    """One verb on one resource; `part` says where it is needed: apps, tunnels, cluster, lease."""

    part: str
    group: str
    resource: str
    verb: str
    name: str = ""

    @property
    def rule(self) -> Object:
        """The grant as the rule of a role."""
        names = {"resourceNames": [self.name]} if self.name else {}
        return {
            "apiGroups": [self.group],
            "resources": [self.resource],
            "verbs": [self.verb],
            **names,
        }

    def forbidden(self, account: str, namespace: str, name: str = "") -> str:
        """What the API server says where it lacks: verb, resource and scope."""
        full = f"{self.resource}.{self.group}" if self.group else self.resource
        named = f' "{name or self.name}"' if name or self.name else ""
        scope = "at the cluster scope" if self.wide else f'in the namespace "{namespace}"'
        if self.name == "kube-system":  # a namespace is in itself
            scope = f'in the namespace "{self.name}"'
        return (
            f'{full}{named} is forbidden: User "{account}" cannot {self.verb} resource'
            f' "{self.resource}" in API group "{self.group}" {scope}'
        )

    @property
    def wide(self) -> bool:
        return self.part == "cluster"

    def asked(self, namespace: str) -> Permission:
        """The grant as pic asks for it."""
        where = "" if self.wide else namespace
        return Permission(self.group, self.resource, self.verb, "", where, self.name)

    def __str__(self) -> str:
        return f"{self.verb}-{self.resource}"


def grants(account: str) -> list[Grant]:
    """Return everything that the roles of an account grant, verb by verb."""
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
    """A service account, and the way to be it."""

    user: str
    kubeconfig: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"KUBECONFIG": str(self.kubeconfig)}


def account(
    plane: ControlPlane, api: Api, namespace: str, granted: list[Grant]
) -> Iterator[Account]:
    """Make an account in a namespace, which is that of the apps, the tunnels and the Lease too."""
    name = f"account-{secrets.token_hex(4)}"
    user = f"system:serviceaccount:{namespace}:{name}"
    made = Account(user, plane.kubeconfig_for(user))
    subjects = [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]
    for wide in (True, False):
        rules = [it.rule for it in granted if it.wide is wide]
        _bind(
            api,
            f"{name}-{'wide' if wide else 'narrow'}",
            "" if wide else namespace,
            rules,
            subjects,
        )
    until(lambda: _is_known(made, granted, namespace), f"the roles of {name} are in force")
    try:
        yield made
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
    place = f"namespaces/{namespace}/rolebindings" if namespace else "clusterrolebindings"
    api.request("POST", f"{RBAC}/{place}", binding)


def _is_known(made: Account, granted: list[Grant], namespace: str) -> bool:
    transport = connect(Settings(), made.environment)
    return all(is_allowed(transport, it.asked(namespace)) for it in granted)
