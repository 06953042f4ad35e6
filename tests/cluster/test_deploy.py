"""Tests that the API server accepts the manifests in deploy/."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev.controlplane import ControlPlane, ControlPlaneError

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OVERLAYS = sorted(path.name for path in (DEPLOY / "overlays").iterdir())
STACKS = ROOT / "dev" / "crds" / "others" / "stacks.yaml"
STRICT = ("--server-side", "--warnings-as-errors", "--validate=strict", "-o", "name")
NAMESPACES = ("pic", "apps", "tunnels")

Object = dict[str, Any]


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """Provide a cluster with the namespaces of the overlays and the kind Stack."""
    control_plane.apply(STACKS)
    control_plane.kubectl("wait", "--for=condition=Established", "-f", str(STACKS))
    for name in NAMESPACES:
        control_plane.kubectl("create", "namespace", name)
    yield control_plane
    # No controller here removes the finalizer of a volume that is not in use.
    unprotected = ("-p", '{"metadata":{"finalizers":null}}', "--type=merge")
    control_plane.kubectl("patch", "-n", "pic", "persistentvolumeclaim/pic-state", *unprotected)
    control_plane.kubectl("delete", "namespace", *NAMESPACES)
    roles = control_plane.kubectl("get", "clusterroles,clusterrolebindings", "-o", "name")
    ours = [name for name in roles.split() if "/pic-" in name]
    control_plane.kubectl("delete", "-f", str(STACKS), "--wait=false")
    control_plane.kubectl("delete", "--ignore-not-found", *ours)


def build(plane: ControlPlane, folder: Path) -> list[Object]:
    return list(yaml.safe_load_all(plane.kubectl("kustomize", str(folder))))


def names(objects: list[Object]) -> list[str]:
    return sorted(f"{item['kind'].lower()}/{item['metadata']['name']}" for item in objects)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_is_accepted_with_and_without_a_dry_run(
    plane: ControlPlane, overlay: str
) -> None:
    folder = str(DEPLOY / "overlays" / overlay)
    expected = names(build(plane, Path(folder)))

    dry_run = plane.kubectl("apply", "-k", folder, *STRICT, "--dry-run=server")
    applied = plane.kubectl("apply", "-k", folder, *STRICT)

    accepted = [sorted(without_group(line) for line in text.split()) for text in (dry_run, applied)]
    assert accepted == [expected, expected]


def without_group(name: str) -> str:
    """Remove the group from a name such as deployment.apps/pic-watch."""
    kind, _, rest = name.partition("/")
    return f"{kind.partition('.')[0]}/{rest}"


def test_the_classes_are_accepted_and_none_is_the_default(plane: ControlPlane) -> None:
    folder = str(DEPLOY / "classes")

    plane.kubectl("apply", "-k", folder, *STRICT)

    metadata = [item["metadata"] for item in build(plane, DEPLOY / "classes")]
    assert {item["name"]: item.get("annotations") for item in metadata} == {
        "pangolin": None,
        "pangolin-eu": None,
    }
    plane.kubectl("delete", "-k", folder)


def templates(objects: list[Object]) -> list[Object]:
    specs = [item["spec"] for item in objects if item["kind"] in ("Deployment", "CronJob")]
    return [spec.get("jobTemplate", {}).get("spec", spec)["template"] for spec in specs]


@pytest.mark.parametrize(
    "overlay", [overlay for overlay in OVERLAYS if overlay not in ("preview", "pulumi-operator")]
)
def test_a_restricted_namespace_accepts_the_pods(plane: ControlPlane, overlay: str) -> None:
    plane.kubectl("apply", "-k", str(DEPLOY / "base"), *STRICT)
    (template,) = templates(build(plane, DEPLOY / "overlays" / overlay))

    assert create(plane, template) == "pod/trial\n"


def test_a_restricted_namespace_refuses_a_pod_with_more_privileges(plane: ControlPlane) -> None:
    plane.kubectl("apply", "-k", str(DEPLOY / "base"), *STRICT)
    (template,) = templates(build(plane, DEPLOY / "overlays" / "watch"))
    template["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True

    with pytest.raises(ControlPlaneError, match='violates PodSecurity "restricted:latest"'):
        create(plane, template)


def create(plane: ControlPlane, template: Object) -> str:
    metadata = {"name": "trial", "namespace": "pic", "labels": template["metadata"]["labels"]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    command = ("create", "--dry-run=server", "-o", "name", "-f", "-")
    return plane.kubectl(*command, input=json.dumps(pod))


def test_a_state_on_a_volume_allows_only_one_watcher(plane: ControlPlane) -> None:
    objects = {item["kind"]: item for item in build(plane, DEPLOY / "overlays" / "watch-file")}

    spec = objects["Deployment"]["spec"]
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    assert (spec["replicas"], spec["strategy"]) == (1, rolling)
    assert objects["PersistentVolumeClaim"]["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert objects["ConfigMap"]["data"] == {"PULUMI_BACKEND_URL": "file:///state"}


def test_two_watchers_run_on_different_nodes_and_one_is_always_available(
    plane: ControlPlane,
) -> None:
    objects = {item["kind"]: item for item in build(plane, DEPLOY / "overlays" / "watch-two")}

    spec = objects["Deployment"]["spec"]
    assert (spec["replicas"], "affinity" in spec["template"]["spec"]) == (2, True)
    assert objects["PodDisruptionBudget"]["spec"] == {
        "minAvailable": 1,
        "selector": spec["selector"],
    }


@pytest.mark.parametrize("component", ["pihole", "file-state"])
@pytest.mark.parametrize("overlay", ["watch", "cronjob"])
def test_a_component_changes_both_kinds_of_pods(
    plane: ControlPlane, tmp_path: Path, overlay: str, component: str
) -> None:
    expected = {"pihole": "PIHOLE_PASSWORD", "file-state": "mountPath: /state"}

    (template,) = templates(build_with_component(plane, tmp_path, overlay, component))

    assert expected[component] in yaml.safe_dump(template)


def build_with_component(
    plane: ControlPlane, root: Path, overlay: str, component: str
) -> list[Object]:
    """Build an overlay with a component, from a kustomization in a temporary folder."""
    (root / "deploy").symlink_to(DEPLOY)
    text = f"resources: [deploy/overlays/{overlay}]\ncomponents: [deploy/components/{component}]\n"
    (root / "kustomization.yaml").write_text(text)
    return build(plane, root)


def test_the_namespaced_overlay_binds_only_one_role_cluster_wide(plane: ControlPlane) -> None:
    objects = build(plane, DEPLOY / "overlays" / "watch-namespaced")

    wide = [item for item in objects if item["kind"] == "ClusterRoleBinding"]
    narrow = [item for item in objects if item["kind"] == "RoleBinding"]
    assert names(wide) == ["clusterrolebinding/pic-watch-cluster"]
    assert {(item["metadata"]["namespace"], item["metadata"]["name"]) for item in narrow} == {
        ("apps", "pic-watch-apps"),
        ("tunnels", "pic-watch-tunnels"),
        ("pic", "pic-watch-lease"),
        ("pic", "pic-watch-register"),
    }
    assert {str(item["subjects"]) for item in wide + narrow} == {
        "[{'kind': 'ServiceAccount', 'name': 'pic-watch', 'namespace': 'pic'}]"
    }


def test_the_overlay_in_the_documentation_can_be_built(plane: ControlPlane, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "deploying.md").read_text()
    (text,) = [
        block for block in page.split("```yaml\n") if block.startswith("# kustomization.yaml")
    ]
    (tmp_path / "kustomization.yaml").write_text(text.partition("```")[0])
    (tmp_path / "deploy").symlink_to(DEPLOY)
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text("config: {}\n")

    objects = build(plane, tmp_path)

    (template,) = templates(objects)
    container, volumes = template["spec"]["containers"][0], template["spec"]["volumes"]
    config_maps = {item["metadata"]["name"] for item in objects if item["kind"] == "ConfigMap"}
    assert container["image"] == "images.example/platform/pic:0.1.0"
    assert {
        container["envFrom"][0]["configMapRef"]["name"],
        *(volume["configMap"]["name"] for volume in volumes if "configMap" in volume),
    } == config_maps
