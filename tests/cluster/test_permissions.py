"""Tests that the documented permissions suffice, and the errors about missing ones."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from dev.controlplane import ControlPlane
from pic.cli import main
from pic.run.targets import permissions_for_up
from pic.settings.parse import ResourceSchema, Settings
from pic.settings.permissions import Permission
from pic.settings.stack_file import StackFile

SECONDS = 20.0
NOTHING = "0 resources, 0 warnings, 0 remarks\n"


def uid(plane: ControlPlane) -> str:
    return plane.kubectl("get", "namespace", "kube-system", "--output=jsonpath={.metadata.uid}")


# These settings make pic read everything that it can read. The engine needs more than a plan.
MOST = Settings(ingress_classes=("pangolin", ""), register_namespace="pic")
FLAGS = ("--config", 'ingressClasses=["pangolin", ""]', "--config", "registerNamespace=pic")
ENGINE_ONLY = {"get pangolinresources.tunnel.pangolin.io", "list events"}
PLANNING = [
    permission
    for permission in permissions_for_up(MOST)
    if permission.verb in {"get", "list"}
    and str(permission) not in ENGINE_ONLY
    # Without the register a run works, and says so.
    and permission.resource != "configmaps"
    and not permission.optional
]


@dataclass(frozen=True)
class Account:
    """Represents a service account with one cluster role."""

    plane: ControlPlane
    namespace: str

    @property
    def user(self) -> str:
        return f"system:serviceaccount:{self.namespace}:pic"

    @property
    def kubeconfig(self) -> Path:
        return self.plane.kubeconfig_for(self.user)

    def grant(self, permissions: Iterable[Permission]) -> None:
        rbac = "rbac.authorization.k8s.io"
        role: Mapping[str, object] = {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": self.namespace},
            "rules": [_rule(permission) for permission in permissions],
        }
        binding: Mapping[str, object] = {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": self.namespace},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": self.namespace},
            "subjects": [{"kind": "ServiceAccount", "name": "pic", "namespace": self.namespace}],
        }
        body = {"apiVersion": "v1", "kind": "List", "items": [role, binding]}
        self.plane.kubectl("create", "--filename=-", input=json.dumps(body))


def _rule(permission: Permission) -> dict[str, object]:
    rule: dict[str, object] = {
        "apiGroups": [permission.group],
        "resources": [permission.resource],
        "verbs": [permission.verb],
    }
    return {**rule, "resourceNames": [permission.name]} if permission.name else rule


@pytest.fixture
def account(control_plane: ControlPlane, namespace: str) -> Iterator[Account]:
    yield Account(control_plane, namespace)
    control_plane.kubectl(
        "delete", f"clusterrole/{namespace}", f"clusterrolebinding/{namespace}", "--wait=false"
    )


@pytest.fixture
def pic(
    account: Account,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str]]:
    """Provide a function that runs pic as this account and returns exit code and output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(account.kubeconfig))

    def run(*words: str) -> tuple[int, str]:
        code = main.main(words)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def eventually(call: Callable[[], tuple[int, str]], expected: tuple[int, str]) -> tuple[int, str]:
    """Call until the answer is the expected one; a new role takes effect after a moment."""
    deadline = time.monotonic() + SECONDS
    while (answer := call()) != expected and time.monotonic() < deadline:
        pass
    return answer


def test_the_documented_permissions_suffice_for_a_plan(
    account: Account, pic: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    account.grant(permissions_for_up(MOST))
    StackFile(tmp_path, "prod").merge({"stackId": "0a0a0a0a"})
    expected = (0, NOTHING)

    assert eventually(lambda: pic("plan", *FLAGS), expected) == expected


def test_the_documented_permissions_suffice_for_init(
    account: Account, pic: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    account.grant(permissions_for_up(MOST))
    StackFile(tmp_path, "prod").merge({"stackId": "0a0a0a0a", "tunnelNamespaces": "."})
    expected = (
        0,
        "wrote stacks/Pulumi.prod.yaml\n"
        '  pic:ingressClasses: ["pangolin", ""]\n'
        "  pic:registerNamespace: pic\n"
        f"  pic:clusterId: {uid(account.plane)}\n"
        "\n"
        "The cluster has all CRDs and permissions that pic needs. Next:\n"
        "  pulumi stack init prod\n"
        "  pulumi preview --stack prod\n",
    )

    assert eventually(lambda: pic("init", "--stack", "prod", *FLAGS), expected) == expected


def forbidden(user: str, permission: Permission) -> tuple[str, str]:
    """Return what cannot be read, and the message of the API server."""
    resource, group = permission.resource, permission.group
    full = f"{resource}.{group}" if group else resource
    described = f'{full} "{permission.name}"' if permission.name else full
    scope = (
        ' in the namespace "kube-system"' if resource == "namespaces" else " at the cluster scope"
    )
    names = {
        "namespaces": "namespace kube-system",
        "customresourcedefinitions": "the CRD of PangolinResource",
        "ingressclasses": "ingressclasses in all namespaces",
    }
    return names.get(resource, f"{resource} in all namespaces"), (
        f'{described} is forbidden: User "{user}" cannot {permission.verb} resource "{resource}" in'
        f' API group "{group}"{scope}'
    )


REMEDIES = {
    "ingresses": ", or narrow pic:namespaces",
    "services": ", or narrow pic:namespaces",
    "namespaces": ", or set pic:clusterId",
    "ingressclasses": ', or remove "" from pic:ingressClasses',
    "pangolintunnels": ", or set pic:tunnelNamespace",
    "pangolinorganizations": ", or set pic:tunnelNamespace",
    "customresourcedefinitions": ", or set pic:resourceSchema",
    "pangolinresources": "",
}


@pytest.mark.parametrize("missing", PLANNING, ids=str)
def test_the_error_about_a_missing_permission_names_it_and_the_next_step(
    account: Account, pic: Callable[..., tuple[int, str]], tmp_path: Path, missing: Permission
) -> None:
    account.grant(permission for permission in permissions_for_up(MOST) if permission != missing)
    StackFile(tmp_path, "prod").merge({"maxRemovals": 5})
    what, reason = forbidden(account.user, missing)
    expected = (
        5,
        f"pic: cannot {missing.verb} {what}: {reason} (HTTP 403); grant the verb {missing.verb} to"
        f" the account that runs pic{REMEDIES[missing.resource]}\n",
    )

    assert eventually(lambda: pic("plan", *FLAGS), expected) == expected


def test_settings_replace_cluster_wide_permissions(
    account: Account, pic: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    settings = Settings(resource_schema=ResourceSchema.TARGETS, register_namespace="pic")
    account.grant(
        permission
        for permission in permissions_for_up(settings)
        if permission.resource != "namespaces"
    )
    StackFile(tmp_path, "prod").merge(
        {
            "resourceSchema": "targets",
            "clusterId": uid(account.plane),
            "registerNamespace": "pic",
            "stackId": "0a0a0a0a",
        }
    )
    expected = (0, NOTHING)

    assert eventually(lambda: pic("plan"), expected) == expected
