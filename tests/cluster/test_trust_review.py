"""Compares what pic reads in manifest files with what the real kubectl applies.

A branch must not hide an object from its review. So pic reads each object that kubectl applies, or
refuses the files. Where kubectl refuses files, pic may read more.
"""

import io
from collections.abc import Mapping
from pathlib import Path

import pytest

from dev.controlplane import ControlPlane
from dev.controlplane.errors import ControlPlaneError
from pic.core.errors import ManifestError
from pic.core.outside import OutsideChange
from pic.run import reading
from pic.settings.parse import Settings
from pic.snapshot import manifests
from pic.snapshot.branch import Branch, propose
from pic.snapshot.manifests import FileOptions

REFUSED = "refused"


def ingress(name: str, version: str = "networking.k8s.io/v1") -> str:
    return (
        f"apiVersion: {version}\n"
        "kind: Ingress\n"
        f"metadata: {{name: {name}}}\n"
        "spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
    )


def named(metadata: str) -> str:
    return ingress("a").replace("name: a", metadata)


def item(text: str) -> str:
    return "items:\n- " + text.rstrip().replace("\n", "\n  ") + "\n"


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def applied(plane: ControlPlane, namespace: str, folder: Path) -> tuple[set[str], bool]:
    """Apply a folder, and return the Ingresses that then exist and whether kubectl agreed."""
    words = ("--recursive", "--namespace", namespace, "--filename", str(folder))
    try:
        plane.kubectl("apply", *words)
    except ControlPlaneError:
        agreed = False
    else:
        agreed = True
    return ingresses(plane, namespace), agreed


def ingresses(plane: ControlPlane, namespace: str) -> set[str]:
    names = "jsonpath={.items[*].metadata.name}"
    return set(
        plane.kubectl("get", "ingress", "--namespace", namespace, f"--output={names}").split()
    )


def read(folder: Path, namespace: str) -> set[str] | str:
    """Return the Ingresses that pic reads in the namespace, or that it refuses the files."""
    try:
        documents = manifests.read([str(folder)], io.BytesIO(), FileOptions(namespace)).documents
    except ManifestError:
        return REFUSED
    bodies = [document.body for document in documents if document.body["kind"] == "Ingress"]
    metadata = [body["metadata"] for body in bodies]
    return {str(fields["name"]) for fields in metadata if isinstance(fields, dict)}


# Ends a text in the middle, since a separator ends every document.
BLOCK = "metadata:\n  name: c\n  annotations:\n    x: |\n      y\n---\n"
SAME: Mapping[str, Mapping[str, str]] = {
    "hidden": {
        name: ingress(f"web-{number}")
        for number, name in enumerate(
            (".cache/a.yaml", ".b.yaml", ".yaml", ".git/c.json", "..d/e.yml", "f.YML", "g.txt")
        )
    },
    "items-of-a-config-map": {
        "a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n" + item(ingress("in"))
    },
    "items-of-an-ingress": {"a.yaml": ingress("outer") + item(ingress("inner"))},
    "empty-items": {"a.yaml": ingress("outer") + "items: []\n", "b.yaml": ingress("b")},
    "absent-items": {"a.yaml": ingress("outer") + "items:\n", "b.yaml": ingress("b")},
    "list": {"a.yaml": "apiVersion: v1\nkind: List\n" + item(ingress("in"))},
    "separators": {"a.yaml": "---\n---\n" + "--- # web\n".join(map(ingress, "ab"))},
    "windows": {"a.yaml": "---\n".join(map(ingress, "ab")).replace("\n", "\r\n")},
    "block": {"a.yaml": ingress("a") + BLOCK + ingress("b")},
    "twice": {"a.yaml": ingress("a").replace("{name: a}", "{name: first, name: last}")},
    "merge-first": {"a.yaml": named("annotations: &x {name: merged}, <<: *x, name: last")},
    "merge-last": {"a.yaml": named("annotations: &x {name: merged}, name: first, <<: *x")},
    "marks": {"a.yaml": "---\n".join(f"\ufeff{ingress(name)}" for name in "ab")},
    "equal-twins": {"a.yaml": ingress("web"), "b.yaml": ingress("web")},
    "kind-by-alias": {
        "a.yaml": "metadata: {name: a, annotations: {x: &x Ingress}}\n"
        + ingress("a").replace("kind: Ingress", "kind: *x").replace("metadata: {name: a}\n", "")
    },
}


@pytest.mark.parametrize("case", SAME)
def test_15_pic_reads_what_kubectl_applies(
    control_plane: ControlPlane, namespace: str, tmp_path: Path, case: str
) -> None:
    write(tmp_path, SAME[case])

    exist, _ = applied(control_plane, namespace, tmp_path)

    assert exist != set()
    assert read(tmp_path, namespace) == exist


HIDING: Mapping[str, Mapping[str, str]] = {
    "twin": {"a.yaml": ingress("web"), "b.yaml": ingress("web", "extensions/v1beta1")},
    "twin-first": {"a.yaml": ingress("web", "extensions/v1beta1"), "b.yaml": ingress("web")},
    "twins-that-differ": {
        "a.yaml": ingress("web"),
        "b.yaml": ingress("web").replace("80", "81"),
    },
    "kind-in-binary": {
        "a.yaml": ingress("web").replace("kind: Ingress", "kind: !!binary SW5ncmVzcw==")
    },
    "kind-with-a-tag": {"a.yaml": ingress("web").replace("kind: Ingress", "kind: !x Ingress")},
    "a-broken-document": {"a.yaml": ingress("web"), "b.yaml": ": : [\n"},
    "a-second-document": {"a.yaml": ingress("web") + "...\n" + ingress("other")},
}


@pytest.mark.parametrize("case", HIDING)
def test_15_pic_refuses_files_of_which_kubectl_applies_another_part(
    control_plane: ControlPlane, namespace: str, tmp_path: Path, case: str
) -> None:
    write(tmp_path, HIDING[case])

    exist, _ = applied(control_plane, namespace, tmp_path)

    assert exist == {"web"}
    assert read(tmp_path, namespace) == REFUSED


def test_22_kubectl_follows_a_link_out_of_the_folder_and_pic_refuses_it(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    write(tmp_path, {"tree/a.yaml": ingress("a"), "elsewhere/b.yaml": ingress("b")})
    tree = tmp_path / "tree"
    (tree / "folder").symlink_to("../elsewhere")

    assert read(tree, namespace) == {"a"}
    (tree / "link.yaml").symlink_to("../elsewhere/b.yaml")
    assert read(tree, namespace) == REFUSED
    assert applied(control_plane, namespace, tree) == ({"a", "b"}, True)


RESOURCE = """
apiVersion: tunnel.pangolin.io/v1alpha1
kind: PangolinResource
metadata:
  name: raw
  labels: {pic.ingress.k8s.io/stack: pic.prod}
spec:
  tunnelRef: {name: home}
  httpConfig: {domainName: example.com, subdomain: raw, sso: LOGIN}
  targets: [{ip: web, port: 80}]
"""


def test_15_a_resource_in_files_is_listed_until_the_cluster_has_it(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    def changes() -> list[tuple[OutsideChange, str]]:
        environment = {"KUBECONFIG": str(control_plane.kubeconfig)}
        live = reading.read_cluster_or_file(Settings(), environment)
        branch = Branch([str(tmp_path)], options=FileOptions(namespace))
        outside = propose(live, branch, Settings()).outside
        return [(exposure.change, exposure.host) for exposure in outside]

    write(tmp_path, {"a.yaml": RESOURCE.replace("LOGIN", "true")})
    new = changes()
    applied(control_plane, namespace, tmp_path)
    same = changes()
    write(tmp_path, {"a.yaml": RESOURCE.replace(", sso: LOGIN", "")})
    weaker = changes()

    assert new == [(OutsideChange.ADDED, "raw.example.com")]
    assert same == []
    assert weaker == [(OutsideChange.CHANGED, "raw.example.com")]


def test_15_an_object_without_a_namespace_is_where_kubectl_puts_it(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    write(tmp_path, {"a.yaml": ingress("web")})

    applied(control_plane, namespace, tmp_path)
    (document,) = manifests.read([str(tmp_path)], io.BytesIO(), FileOptions(namespace)).documents

    assert document.body["metadata"] == {"name": "web", "namespace": namespace}
    assert ingresses(control_plane, namespace) == {"web"}
