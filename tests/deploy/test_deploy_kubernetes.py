"""Checks the manifests and the image in deploy/ as far as possible without a cluster."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev.toolchain.versions import KUBERNETES_PLUGIN, PULUMI
from pic.cli import main
from pic.run.targets import write_permissions
from pic.settings.parse import Settings, TargetName
from pic.settings.permissions import Permission, read_permissions, watch_permissions
from pic.watch.runs import RunLimits
from tests.support.containerfile import CONTAINERFILE, copied_paths, instructions

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PARTS = ("base", "classes", "components", "namespaced", "overlays", "roles")
FILES = sorted(path for part in PARTS for path in (DEPLOY / part).rglob("*.yaml"))
BLOCK = re.compile(r"^([a-z0-9-]+)(?:\[[a-z]+\])?==.*(?:\n .*)*", re.MULTILINE)

Object = dict[str, Any]


def objects(*paths: Path) -> Iterator[Object]:
    for path in paths:
        yield from documents(path)


@cache
def documents(path: Path) -> Sequence[Object]:
    return list(yaml.safe_load_all(path.read_text()))


def pods() -> dict[str, Object]:
    """Return the pod specs, by the name of their Deployment or CronJob."""
    workloads = [it for it in objects(*FILES) if it["kind"] in ("Deployment", "CronJob")]
    specs = {it["metadata"]["name"]: it["spec"] for it in workloads}
    return {
        name: spec.get("jobTemplate", {}).get("spec", spec)["template"]["spec"]
        for name, spec in specs.items()
    }


def granted(*paths: Path) -> set[tuple[str, str, str, str]]:
    """Return what the roles in some files grant: group, resource, verb and name."""
    return {
        (group, resource, verb, name)
        for it in objects(*paths)
        for rule in it.get("rules", ())
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames", [""])
    }


def needed(*permissions: Permission) -> set[tuple[str, str, str, str]]:
    return {(it.group, it.resource, it.verb, it.name) for it in permissions}


PANGOLIN = Settings(register_namespace="pic")
BOTH = Settings(register_namespace="pic", targets=(TargetName.PANGOLIN, TargetName.PIHOLE))
LISTED = needed(*read_permissions(Settings(register_namespace="pic", namespaces=("apps",))))
UP = (*read_permissions(PANGOLIN), *write_permissions(PANGOLIN))


@pytest.mark.parametrize(
    ("account", "permissions"),
    [
        ("preview", tuple(read_permissions(PANGOLIN))),
        ("up", UP),
        ("watch", (*UP, *watch_permissions(PANGOLIN, "pic"))),
    ],
)
def test_each_account_has_exactly_the_permissions_that_pic_needs(
    account: str, permissions: tuple[Permission, ...]
) -> None:
    # The role for the namespaces of the Ingresses serves stacks with pic:namespaces as well.
    assert granted(DEPLOY / "roles" / account / "roles.yaml") == needed(*permissions) | LISTED


def test_a_component_grants_the_additional_permissions_of_a_setting() -> None:
    classes = Settings(register_namespace="pic", ingress_classes=("",))

    assert granted(DEPLOY / "components/pihole/role.yaml") == needed(
        *write_permissions(BOTH)
    ) - needed(*UP)
    assert granted(DEPLOY / "components/default-class/role.yaml") == needed(
        *read_permissions(classes), *watch_permissions(classes, "pic")
    ) - needed(*UP, *watch_permissions(PANGOLIN, "pic"))


def test_no_role_uses_wildcards_or_grants_access_to_sensitive_kinds() -> None:
    assert [rule for rule in granted(*FILES) if "*" in rule] == []
    assert {resource for _, resource, _, _ in granted(*FILES)} & {
        "secrets",
        "pods",
        "roles",
    } == set()


def test_every_pod_runs_unprivileged() -> None:
    specs = pods()

    assert sorted(specs) == ["pic-up", "pic-watch"]
    for name, pod in specs.items():
        (container,) = pod["containers"]
        assert pod["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "fsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        }, name
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        assert pod["serviceAccountName"] == name


def test_the_watcher_requests_little_memory_and_has_room_for_a_run() -> None:
    (container,) = pods()["pic-watch"]["containers"]

    assert container["resources"] == {
        "requests": {"cpu": "10m", "memory": "32Mi"},
        "limits": {"cpu": "2", "memory": "1Gi"},
    }


def test_a_pod_has_time_to_finish_a_run() -> None:
    assert pods()["pic-watch"]["terminationGracePeriodSeconds"] > RunLimits().grace


def test_pic_accepts_every_command_line() -> None:
    verbs = {name: pod["containers"][0]["args"] for name, pod in pods().items()}

    assert {name: main.parser().parse_args(words).verb for name, words in verbs.items()} == {
        "pic-up": "up",
        "pic-watch": "watch",
    }


def test_no_manifest_contains_a_secret() -> None:
    variables = [it for pod in pods().values() for it in pod["containers"][0]["env"]]

    assert [it["metadata"]["name"] for it in objects(*FILES) if it["kind"] == "Secret"] == []
    assert {it["name"]: it["value"] for it in variables if "value" in it} == {
        "GOGC": "100",
        "GOMEMLIMIT": "300MiB",
    }


def test_no_file_names_a_package_registry() -> None:
    hosts = re.compile(r"pypi|docker\.io|ghcr\.io|quay\.io|registry\.[a-z]|--index-url|get\.pulumi")
    files = [*FILES, *DEPLOY.glob("Containerfile*"), DEPLOY / "backends.txt"]
    files += [ROOT / "docs" / "deploying.md"]

    assert [path.name for path in files if hosts.search(path.read_text())] == []


def test_the_stack_files_are_mounted_where_pulumi_reads_them() -> None:
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())

    for pod in pods().values():
        mounts = {it["name"]: it["mountPath"] for it in pod["containers"][0]["volumeMounts"]}
        assert mounts == {"tmp": "/tmp", "stacks": f"/app/{project['stackConfigDir']}"}  # noqa: S108


# The image. These tests do not build it.


def arguments() -> dict[str, str]:
    pairs = [words[1].partition("=") for words in instructions() if words[0] == "ARG"]
    return {name: value for name, _, value in pairs}


def test_the_image_has_the_tested_versions() -> None:
    assert arguments() == {
        "PYTHON": "3.12.12-slim-bookworm",
        "PYTHON_DIGEST": "",
        "PULUMI": PULUMI,
        "PULUMI_DIGEST": "",
        "KUBERNETES_PLUGIN": KUBERNETES_PLUGIN,
        "KUBERNETES_PLUGIN_SHA256": "",
    }
    assert f"pulumi-kubernetes=={KUBERNETES_PLUGIN} " in (ROOT / "requirements.txt").read_text()


def test_everything_that_the_image_copies_exists_and_reaches_the_builder() -> None:
    ignore = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()

    assert [path for path in copied_paths() if not (ROOT / path).exists()] == []
    assert {line[1:] for line in ignore if line.startswith("!")} == set(copied_paths())


def test_the_image_has_everything_that_the_project_file_names() -> None:
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    folders = [it["path"].split("/")[0] for it in project["plugins"]["providers"]]

    assert {"Pulumi.yaml", "__main__.py", "pic", *folders} <= set(copied_paths())
    assert f"/app/{project['runtime']['options']['virtualenv']}/bin:" in CONTAINERFILE


def test_packages_are_installed_only_with_hashes() -> None:
    commands = [words for words in instructions() if words[0] == "RUN" and "pip" in words]

    assert len(commands) == 1
    assert commands[0].count("install") == 1
    assert {"--require-hashes", "--only-binary", "requirements.txt", "backends.txt"} < set(
        commands[0]
    )


def test_the_image_has_the_tested_packages_of_the_backends() -> None:
    blocks = {it[1]: it[0] for it in BLOCK.finditer((ROOT / "requirements-dev.txt").read_text())}
    packages = {it[1]: it[0] for it in BLOCK.finditer((DEPLOY / "backends.txt").read_text())}

    assert packages == {name: blocks[name] for name in ("obstore", "psycopg", "psycopg-binary")}


def test_the_image_runs_as_the_user_of_the_manifests() -> None:
    users = [words[1] for words in instructions() if words[0] == "USER"]

    assert users == ["65532:65532"]
