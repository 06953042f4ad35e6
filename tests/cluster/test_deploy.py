"""The manifests of deploy/ as kubectl sends them, and what the API server makes of them."""

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
    """A cluster with the namespaces that the overlays name, and with the kind Stack."""
    control_plane.apply(STACKS)
    control_plane.kubectl("wait", "--for=condition=Established", "-f", str(STACKS))
    for name in NAMESPACES:
        control_plane.kubectl("create", "namespace", name)
    yield control_plane
    # Nothing here tells whether a volume is in use.
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
    return sorted(f"{it['kind'].lower()}/{it['metadata']['name']}" for it in objects)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_is_accepted_as_a_trial_and_for_real(plane: ControlPlane, overlay: str) -> None:
    folder = str(DEPLOY / "overlays" / overlay)
    wanted = names(build(plane, Path(folder)))

    tried = plane.kubectl("apply", "-k", folder, *STRICT, "--dry-run=server")
    done = plane.kubectl("apply", "-k", folder, *STRICT)

    said = [sorted(short(line) for line in text.split()) for text in (tried, done)]
    assert said == [wanted, wanted]


def short(name: str) -> str:
    """Take the group out of deployment.apps/pic-watch."""
    kind, _, rest = name.partition("/")
    return f"{kind.partition('.')[0]}/{rest}"


def test_the_classes_are_accepted_and_none_is_the_default(plane: ControlPlane) -> None:
    folder = str(DEPLOY / "classes")

    plane.kubectl("apply", "-k", folder, *STRICT)

    found = build(plane, DEPLOY / "classes")
    assert {it["metadata"]["name"]: it["metadata"].get("annotations") for it in found} == {
        "pangolin": None,
        "pangolin-eu": None,
    }
    plane.kubectl("delete", "-k", folder)


def templates(objects: list[Object]) -> list[Object]:
    specs = [it["spec"] for it in objects if it["kind"] in ("Deployment", "CronJob")]
    return [spec.get("jobTemplate", {}).get("spec", spec)["template"] for spec in specs]


@pytest.mark.parametrize(
    "overlay", [it for it in OVERLAYS if it not in ("preview", "pulumi-operator")]
)
def test_a_restricted_namespace_takes_the_pods(plane: ControlPlane, overlay: str) -> None:
    plane.kubectl("apply", "-k", str(DEPLOY / "base"), *STRICT)
    (template,) = templates(build(plane, DEPLOY / "overlays" / overlay))

    assert create(plane, template) == "pod/trial\n"


def test_a_restricted_namespace_would_refuse_a_pod_that_may_more(plane: ControlPlane) -> None:
    plane.kubectl("apply", "-k", str(DEPLOY / "base"), *STRICT)
    (template,) = templates(build(plane, DEPLOY / "overlays" / "watch"))
    template["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True

    with pytest.raises(ControlPlaneError, match='violates PodSecurity "restricted:latest"'):
        create(plane, template)


def create(plane: ControlPlane, template: Object) -> str:
    metadata = {"name": "trial", "namespace": "pic", "labels": template["metadata"]["labels"]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    trial = ("create", "--dry-run=server", "-o", "name", "-f", "-")
    return plane.kubectl(*trial, input=json.dumps(pod))


def test_a_file_state_is_for_one_watcher_at_a_time(plane: ControlPlane) -> None:
    found = {it["kind"]: it for it in build(plane, DEPLOY / "overlays" / "watch-file")}

    spec = found["Deployment"]["spec"]
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    assert (spec["replicas"], spec["strategy"]) == (1, rolling)
    assert found["PersistentVolumeClaim"]["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert found["ConfigMap"]["data"] == {"PULUMI_BACKEND_URL": "file:///state"}


def test_two_watchers_keep_apart_and_one_of_them_stays(plane: ControlPlane) -> None:
    found = {it["kind"]: it for it in build(plane, DEPLOY / "overlays" / "watch-two")}

    spec = found["Deployment"]["spec"]
    assert (spec["replicas"], "affinity" in spec["template"]["spec"]) == (2, True)
    assert found["PodDisruptionBudget"]["spec"] == {"minAvailable": 1, "selector": spec["selector"]}


@pytest.mark.parametrize("component", ["pihole", "file-state"])
@pytest.mark.parametrize("overlay", ["watch", "cronjob"])
def test_a_component_reaches_either_kind_of_pod(
    plane: ControlPlane, tmp_path: Path, overlay: str, component: str
) -> None:
    marks = {"pihole": "PIHOLE_PASSWORD", "file-state": "mountPath: /state"}

    (template,) = templates(overlaid(plane, tmp_path, overlay, component))

    assert marks[component] in yaml.safe_dump(template)


def overlaid(plane: ControlPlane, root: Path, overlay: str, component: str) -> list[Object]:
    """Build an overlay with a component, from a copy: kustomize follows no link out of a folder."""
    (root / "deploy").symlink_to(DEPLOY)
    text = f"resources: [deploy/overlays/{overlay}]\ncomponents: [deploy/components/{component}]\n"
    (root / "kustomization.yaml").write_text(text)
    return build(plane, root)


def test_without_wide_bindings_only_the_least_reaches_everywhere(plane: ControlPlane) -> None:
    found = build(plane, DEPLOY / "overlays" / "watch-namespaced")

    wide = [it for it in found if it["kind"] == "ClusterRoleBinding"]
    narrow = [it for it in found if it["kind"] == "RoleBinding"]
    assert names(wide) == ["clusterrolebinding/pic-watch-cluster"]
    assert {(it["metadata"]["namespace"], it["metadata"]["name"]) for it in narrow} == {
        ("apps", "pic-watch-apps"),
        ("tunnels", "pic-watch-tunnels"),
        ("pic", "pic-watch-lease"),
    }
    assert {str(it["subjects"]) for it in wide + narrow} == {
        "[{'kind': 'ServiceAccount', 'name': 'pic-watch', 'namespace': 'pic'}]"
    }


def test_the_overlay_in_the_documentation_is_one(plane: ControlPlane, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "deploying.md").read_text()
    (text,) = [it for it in page.split("```yaml\n") if it.startswith("# kustomization.yaml")]
    (tmp_path / "kustomization.yaml").write_text(text.partition("```")[0])
    (tmp_path / "deploy").symlink_to(DEPLOY)
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text("config: {}\n")

    found = build(plane, tmp_path)

    (template,) = templates(found)
    container, volumes = template["spec"]["containers"][0], template["spec"]["volumes"]
    made = {it["metadata"]["name"] for it in found if it["kind"] == "ConfigMap"}
    assert container["image"] == "images.example/platform/pic:0.1.0"
    assert {
        container["envFrom"][0]["configMapRef"]["name"],
        *(it["configMap"]["name"] for it in volumes if "configMap" in it),
    } == made
