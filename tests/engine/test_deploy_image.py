"""Tests that the files of the image suffice to run pic with a read-only root file system.

No image is built. The files of the image are copied to a folder, and a mount namespace makes
everything but /tmp and the state read-only, as `readOnlyRootFilesystem` does.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.engine.stage import PicRun, Stage
from tests.support.containerfile import ROOT, copied_paths

PIC_USER = ("--map-user=65532", "--map-group=65532", "--keep-caps")
UNSHARE = ("unshare", "--user", *PIC_USER, "--mount")
READ_ONLY = """
set -e
for folder in "$TMPDIR" "$STATE"; do mount --bind "$folder" "$folder"; done
mount -o remount,ro,bind /
! touch "$PULUMI_HOME/x" "$PWD/x" 2> /dev/null
exec "$@"
"""


def can_mount() -> bool:
    """Return whether this machine allows mounts in a namespace of our own."""
    if shutil.which("unshare") is None:
        return False
    trial = (*UNSHARE, "mount", "-o", "remount,ro,bind", "/")
    return subprocess.run(trial, check=False, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not can_mount(), reason="needs a mount namespace")


def lay_out(root: Path, stage: Stage) -> dict[str, str]:
    """Copy the files of the image to a folder, and return its environment."""
    for name in ("app", "home", "tmp"):
        (root / name).mkdir()
    for path in (path for path in copied_paths() if path != "deploy/backends.txt"):
        copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copy
        copy(ROOT / path, root / "app" / path)
    (root / "app" / ".venv").symlink_to(ROOT / ".venv")
    shutil.copytree(stage.workspace.path / "stacks", root / "app" / "stacks")
    environment = stage.workspace.environment()
    plugins = Path(environment["PULUMI_HOME"]) / "plugins"
    shutil.copytree(plugins, root / "home" / "plugins", copy_function=os.link)
    return {
        **environment,
        "HOME": str(root / "tmp"),
        "USER": "pic",
        "TMPDIR": str(root / "tmp"),
        "PULUMI_HOME": str(root / "home"),
        "STATE": str(stage.workspace.state),
        "PIC_RUNTIME_DIR": "",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(stage: Stage, root: Path, environment: Mapping[str, str], *words: str) -> PicRun:
    python = root / "app" / ".venv" / "bin" / "python"
    command = (*UNSHARE, "sh", "-c", READ_ONLY, "sh", str(python), "-m", "pic", *words)
    process = subprocess.run(
        [*command, f"--stack={stage.name}"],
        check=False,
        capture_output=True,
        text=True,
        cwd=root / "app",
        env=dict(environment),
        timeout=120,
    )
    return PicRun(process.returncode, process.stdout, process.stderr)


def test_the_image_writes_only_to_tmp_and_the_state(stage: Stage, tmp_path: Path) -> None:
    stage.ingress("web", "www")
    environment = lay_out(tmp_path, stage)

    first = run(stage, tmp_path, environment, "up")
    again = run(stage, tmp_path, environment, "up")

    assert (first.code, first.err, set(stage.identities())) == (0, "", {stage.host("www")})
    assert again == PicRun(0, "Nothing to do: everything is as it was deployed.\n", "")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["plugins"]


def test_the_image_cannot_add_a_missing_salt_to_the_stack_file(
    stage: Stage, tmp_path: Path
) -> None:
    stage.ingress("web", "www")
    environment = lay_out(tmp_path, stage)
    shutil.rmtree(stage.workspace.state / ".pulumi")
    file = tmp_path / "app" / "stacks" / f"Pulumi.{stage.name}.yaml"
    salted = file.read_text()
    unsalted = yaml.safe_load(salted)
    del unsalted["encryptionsalt"]
    file.write_text(yaml.safe_dump(unsalted))

    without_salt = run(stage, tmp_path, environment, "up")
    shutil.rmtree(stage.workspace.state / ".pulumi")
    file.write_text(salted)

    assert (without_salt.code, "read-only file system" in without_salt.err) == (5, True)
    assert run(stage, tmp_path, environment, "up").code == 0
