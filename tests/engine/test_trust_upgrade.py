"""Tests the upgrade of a stack that the last release without a register has deployed."""

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.engine.go_controller import create_go_object
from tests.engine.records import Registry
from tests.engine.stage import Object, Stage

# The last commit before pic had a register.
BEFORE = "f2dea94400e843a8be256ffdd6c86982b6da6236"
ROOT = Path(__file__).parents[2]
LOGIN = {"pangolin.ingress.k8s.io/sso": "true"}
UNCHANGED = "Nothing to do: everything is as it was deployed.\n"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the package of that release."""
    command = ["git", "archive", BEFORE, "pic"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if result.returncode:
        pytest.skip("the history of this checkout does not go back to the last release")
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(fileobj=io.BytesIO(result.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "pic"


@contextmanager
def released(stage: Stage, release: Path) -> Iterator[None]:
    """Run that release in the project of a stage, with settings that it knows."""
    link, file = stage.workspace.path / "pic", stage.workspace.path / "stacks"
    current, path = link.readlink(), file / f"Pulumi.{stage.name}.yaml"
    content = yaml.safe_load(path.read_text())
    for name in ("stackId", "registerNamespace", "operatorLimit"):
        content["config"].pop(f"pic:{name}")
    path.write_text(yaml.safe_dump(content))
    link.unlink()
    link.symlink_to(release)
    try:
        yield
    finally:
        link.unlink()
        link.symlink_to(current)


def without_labels(live: Object) -> Object:
    """Return an object without what an upgrade may change: labels, and who wrote them when.

    A release with a register also adds the id of the domain, which belongs to its name.
    """
    metadata, http = live["metadata"], live["spec"]["httpConfig"]
    volatile = ("labels", "managedFields", "resourceVersion", "generation")
    kept = {key: metadata[key] for key in metadata if key not in volatile}
    http = {key: http[key] for key in http if key != "domainId"}
    return {**live, "metadata": kept, "spec": {**live["spec"], "httpConfig": http}}


def check_upgrade(stage: Stage) -> None:
    """Check that the first run changes only labels, writes the register and holds nothing."""
    before = stage.objects()
    stage.settings(stackId="0123456789abcdef")

    plan, answer = stage.pic("plan"), stage.pic("up")

    assert (plan.code, "RegisterBegun" in plan.out, answer.code) == (0, True, 0), (plan, answer)
    after = stage.objects()
    assert [without_labels(live) for live in after] == [without_labels(live) for live in before]
    for old, new in zip(before, after, strict=True):
        added = {"pic.ingress.k8s.io/stack-id": "0123456789abcdef"}
        assert new["metadata"]["labels"] == {**old["metadata"]["labels"], **added}
    names = [it["metadata"]["name"] for it in stage.cluster.all("ConfigMap", stage.name)]
    assert any(name.startswith(f"pic-{stage.name}-") for name in names)
    assert stage.pic("up").out == UNCHANGED


@pytest.mark.parametrize("owner_references", [True, False])
def test_an_upgrade_changes_only_labels(
    stage: Stage, release: Path, *, owner_references: bool
) -> None:
    stage.add_namespace()
    stage.settings(ownerReferences=owner_references)
    stage.ingress("web", "www", "shop", annotations=LOGIN)
    stage.ingress("app", "app")
    with released(stage, release):
        assert stage.pic("up").code == 0

    check_upgrade(stage)


def test_an_upgrade_keeps_adopted_objects(stage: Stage, release: Path) -> None:
    uid = stage.ingress("web", "www")["metadata"]["uid"]
    create_go_object(stage, uid)
    stage.settings(adopt=True)
    with released(stage, release):
        assert stage.pic("up").code == 0

    check_upgrade(stage)


def test_an_upgrade_with_a_plain_pulumi_up_changes_only_labels(stage: Stage, release: Path) -> None:
    stage.ingress("web", "www", annotations=LOGIN)
    with released(stage, release):
        assert stage.up().code == 0
    before = [without_labels(live) for live in stage.objects()]
    stage.settings(stackId="0123456789abcdef")

    answer = stage.up()

    assert answer.code == 0, answer.printed
    assert [without_labels(live) for live in stage.objects()] == before
    assert stage.pic("up").out == UNCHANGED


def test_an_upgrade_leaves_every_dns_record_as_it_is(registry: Registry, release: Path) -> None:
    stage = registry.stage
    registry.register("web", "www", "shop")
    with released(stage, release):
        assert stage.pic("up").code == 0
    before, writes = list(registry.pihole.lines), registry.pihole.writes

    check_upgrade(stage)

    assert (list(registry.pihole.lines), registry.pihole.writes) == (before, writes)
