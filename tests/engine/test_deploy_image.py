"""What the image of deploy/ holds is enough to run, where only /tmp and the state can be written.

No image is built: its files are laid out in a folder, and a mount namespace makes all else
read-only, as `readOnlyRootFilesystem` does.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.deploy.test_deploy_kubernetes import ROOT, copied
from tests.engine.stage import Said, Stage

NOBODY = ("--map-user=65532", "--map-group=65532", "--keep-caps")
UNSHARE = ("unshare", "--user", *NOBODY, "--mount")
READ_ONLY = """
set -e
for folder in "$TMPDIR" "$STATE"; do mount --bind "$folder" "$folder"; done
mount -o remount,ro,bind /
! touch "$PULUMI_HOME/x" "$PWD/x" 2> /dev/null
exec "$@"
"""


def separates() -> bool:
    """Whether this machine lets us have mounts of our own."""
    if shutil.which("unshare") is None:
        return False
    trial = (*UNSHARE, "mount", "-o", "remount,ro,bind", "/")
    return subprocess.run(trial, check=False, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not separates(), reason="needs mounts of its own")


def lay_out(root: Path, stage: Stage) -> dict[str, str]:
    """Put in place what the image has, and return its environment."""
    for name in ("app", "home", "tmp"):
        (root / name).mkdir()
    for path in (each for each in copied() if each != "deploy/backends.txt"):
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
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(stage: Stage, root: Path, environment: Mapping[str, str], *words: str) -> Said:
    python = root / "app" / ".venv" / "bin" / "python"
    command = (*UNSHARE, "sh", "-c", READ_ONLY, "sh", str(python), "-m", "pic", *words)
    done = subprocess.run(
        [*command, f"--stack={stage.name}"],
        check=False,
        capture_output=True,
        text=True,
        cwd=root / "app",
        env=dict(environment),
        timeout=120,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def test_the_image_writes_to_tmp_and_to_its_state_only(stage: Stage, tmp_path: Path) -> None:
    stage.ingress("web", "www")
    environment = lay_out(tmp_path, stage)

    first = run(stage, tmp_path, environment, "up")
    again = run(stage, tmp_path, environment, "up")

    assert (first.code, first.err, set(stage.identities())) == (0, "", {stage.host("www")})
    assert again == Said(0, "Nothing to do: everything is as it was deployed.\n", "")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["plugins"]


def test_a_stack_file_without_its_salt_cannot_be_completed_in_the_image(
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

    lacking = run(stage, tmp_path, environment, "up")
    shutil.rmtree(stage.workspace.state / ".pulumi")
    file.write_text(salted)

    assert (lacking.code, "read-only file system" in lacking.err) == (5, True)
    assert run(stage, tmp_path, environment, "up").code == 0
