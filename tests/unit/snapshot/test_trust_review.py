"""Tests that a branch hides nothing from its review that kubectl applies.

tests/cluster/test_trust_review.py compares the same cases with the real kubectl.
"""

import io
import os
from pathlib import Path

import pytest

from pic.core.errors import ManifestError
from pic.core.json_values import Raw
from pic.core.names import STACK_LABEL
from pic.core.operator_objects import Schema
from pic.settings.parse import Settings
from pic.snapshot import assemble, manifests
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.branch import Branch, offline_snapshot, propose
from pic.snapshot.manifests import FileOptions
from tests.support.manifests import ingress_manifest, write_manifests

WEB = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: prod}
spec: {rules: [{host: evil.example.com}]}
"""
DEFAULT = Settings()


def read(*paths: Path | str) -> tuple[manifests.Document, ...]:
    return manifests.read(list(map(str, paths)), io.BytesIO()).documents


def names(folder: Path) -> list[object]:
    raw = assemble.from_documents((document.body for document in read(folder)), Schema())
    return [ingress.name for ingress in assemble.snapshot(raw).ingresses]


def refusal(*paths: Path | str) -> str:
    with pytest.raises(ManifestError) as caught:
        read(*paths)
    return str(caught.value)


@pytest.mark.parametrize(
    "version", ["extensions/v1beta1", "networking.k8s.io/v1beta1", "networking.k8s.io/v2"]
)
def test_15_a_twin_in_another_version_is_the_same_object_and_refused(
    tmp_path: Path, version: str
) -> None:
    twin = WEB.replace("networking.k8s.io/v1", version).replace("evil", "innocent")
    (tmp_path / "a.yaml").write_text(WEB)
    (tmp_path / "b.yaml").write_text(twin)

    assert refusal(tmp_path) == (
        f"{tmp_path}/b.yaml:2: Ingress prod/web occurs twice and differs, as {version} and as"
        f" networking.k8s.io/v1; the first is at {tmp_path}/a.yaml:2: read only one of the two"
    )


def test_15_a_kind_of_another_group_is_another_object(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{WEB}---{WEB.replace('networking', 'networking.knative')}")

    assert len(read(tmp_path)) == 2


def test_15_an_object_of_the_cluster_scope_has_no_namespace(tmp_path: Path) -> None:
    pangolin = WEB.replace("kind: Ingress", "kind: IngressClass")
    twin = pangolin.replace("prod", "other")
    (tmp_path / "a.yaml").write_text(f"{pangolin}---{twin}")

    assert "IngressClass web occurs twice and differs; the first is at" in refusal(tmp_path)


def test_15_hidden_files_are_read_and_files_in_capitals_are_not(tmp_path: Path) -> None:
    for name in (".cache/a.yaml", ".b.yml", ".git/c.json", "..d/e.yaml", ".yaml", "f.YML", "g.txt"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(WEB.replace("web", f"web-{file.stem.strip('.')}"))

    assert sorted(map(str, names(tmp_path))) == ["web-a", "web-b", "web-c", "web-e", "web-yaml"]


@pytest.mark.parametrize(
    "head",
    [
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}",
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: x}",
        "kind: List",
    ],
)
def test_15_items_of_any_object_are_read_instead_of_the_object(tmp_path: Path, head: str) -> None:
    item = WEB.strip().replace("\n", "\n  ")
    (tmp_path / "a.yaml").write_text(f"{head}\nitems:\n- {item}\n")

    assert names(tmp_path) == ["web"]


def test_15_an_ingress_with_empty_items_is_not_applied(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{WEB}items: []\n---{WEB}items:\n")

    assert names(tmp_path) == []


def resource(**metadata: object) -> dict[str, object]:
    return {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinResource",
        "metadata": {"name": "raw", "namespace": "prod", **metadata},
        "spec": {"httpConfig": {"domainName": "example.com", "subdomain": "raw"}},
    }


LABELS = {STACK_LABEL: "pic.prod"}


@pytest.mark.parametrize("labels", [{}, LABELS])
def test_15_a_resource_in_files_is_an_exposure_outside_pic_and_never_ours(
    tmp_path: Path, labels: dict[str, str]
) -> None:
    path = write_manifests(tmp_path, resource(labels=labels))
    live: dict[str, list[Raw]] = {"PangolinResource": []}

    proposal = propose(RawSnapshot(live), Branch([path]), DEFAULT)

    assert [exposure.host for exposure in proposal.outside] == ["raw.example.com"]
    assert proposal.after.objects == live
    assert offline_snapshot([path], DEFAULT).live == ()


def test_15_an_exposure_outside_the_namespaces_of_the_stack_is_listed(tmp_path: Path) -> None:
    path = write_manifests(tmp_path, resource())

    proposal = propose(RawSnapshot(), Branch([path]), Settings(namespaces=("team",)))

    assert [exposure.namespace for exposure in proposal.outside] == ["prod"]


def unplaced(name: str) -> dict[str, object]:
    return {**ingress_manifest(name), "metadata": {"name": name}}


def test_15_with_a_base_the_namespace_of_an_object_is_not_guessed(tmp_path: Path) -> None:
    live = RawSnapshot({"Ingress": [ingress_manifest("gone")]})
    new, old = tmp_path / "new", tmp_path / "old"
    new.mkdir()
    old.mkdir()
    branch = [write_manifests(new, ingress_manifest("web"))]
    base = [write_manifests(old, unplaced("gone"))]
    named = Branch(branch, base, options=FileOptions("prod"))

    for guessed in (Branch(branch, base), Branch(branch, removed=base)):
        with pytest.raises(ManifestError) as caught:
            propose(live, guessed, DEFAULT)
        assert str(caught.value) == (
            f"{base[0]}:1: Ingress gone has no namespace; write metadata.namespace, or pass"
            " --namespace NAME"
        )
    after = propose(live, named, DEFAULT).after
    assert [ingress.name for ingress in assemble.snapshot(after).ingresses] == ["web"]


def test_15_only_objects_that_pic_reads_need_a_namespace(tmp_path: Path) -> None:
    objects: list[dict[str, object]] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}},
        {"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": {"name": "x"}},
        {"apiVersion": "v1", "kind": "Service", "metadata": 3},
        ingress_manifest("web"),
    ]
    path = write_manifests(tmp_path, *objects)

    documents = manifests.read([path], io.BytesIO(), FileOptions(guess=False)).documents

    assert [document.body for document in documents] == objects


def test_15_without_a_base_an_object_without_a_namespace_is_in_the_one_given(
    tmp_path: Path,
) -> None:
    path = write_manifests(tmp_path, unplaced("web"))

    keys = [
        ingress.key
        for namespace in ("", "team")
        for ingress in offline_snapshot([path], DEFAULT, FileOptions(namespace)).ingresses
    ]

    assert keys == [("default", "web"), ("team", "web")]


def test_22_a_link_out_of_the_tree_is_refused(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "zero.yaml").symlink_to("/dev/zero")

    assert refusal(tree) == (
        f"{tree}/zero.yaml: is a link that leaves the folder {tree}; copy the file that it leads to"
        " into the folder"
    )


@pytest.mark.parametrize("link", ["deploy", "deploy/web.yaml", "deploy/sub/web.yaml"])
def test_22_a_path_of_the_user_that_the_branch_replaces_by_a_link_is_refused(
    tmp_path: Path, link: str
) -> None:
    secret = tmp_path / "secret" / "sub"
    secret.mkdir(parents=True)
    for folder in (secret, secret.parent):
        (folder / "web.yaml").write_text(WEB)
    branch = tmp_path / "branch"
    branch.mkdir()
    (branch / "deploy").symlink_to(tmp_path / "secret")

    assert refusal(branch / link) == (
        f"{branch}/deploy: is a link that leaves the folder {branch}; name the path that it leads"
        " to"
    )


def test_22_devices_and_pipes_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    regular = "cannot be read: it is not a regular file; pass the content as standard input"

    assert refusal("/dev/zero") == f"/dev/zero: {regular}"
    assert refusal(tmp_path) == f"{tmp_path}/pipe.yaml: {regular}"


class Zeros(io.BytesIO):
    """A stream of zeros without end."""

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size >= 0
        return bytes(size)


def test_22_standard_input_without_end_is_refused() -> None:
    with pytest.raises(ManifestError) as caught:
        manifests.read(["-"], Zeros())

    assert str(caught.value) == (
        "stdin: cannot be read: it is larger than 32 MiB; pass only the objects that pic reads:"
        " Ingresses, Services, and objects of Pangolin"
    )
