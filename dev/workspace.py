"""A throw-away Pulumi project over this checkout: its own stacks, state and environment."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dev.toolchain import Toolchain

ROOT = Path(__file__).resolve().parent.parent
SHARED = ("Pulumi.yaml", "__main__.py", "pic", "requirements.txt", ".venv")
PASSPHRASE = "a passphrase for throw-away stacks"  # noqa: S105 - protects nothing


@dataclass(frozen=True)
class Workspace:
    """A project folder in which `pulumi` and `pic` are run as a user would.

    Attributes:
        path: The project folder.
        kubeconfig: Of the cluster that the commands talk to.
        extra: Environment for every command.
    """

    path: Path
    tools: Toolchain
    kubeconfig: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """The folder of the file backend."""
        return self.path / "state"

    def environment(self) -> dict[str, str]:
        """Return the environment of the commands: nothing of the user's own Pulumi or cluster."""
        own = ("PULUMI_", "PIC_", "KUBE", "PIHOLE_")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(own)}
        return {
            **kept,
            **self.tools.environment(),
            "KUBECONFIG": str(self.kubeconfig),
            "PULUMI_BACKEND_URL": f"file://{self.state}",
            "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
            **self.extra,
        }

    def run(
        self, *command: str, check: bool = True, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command here and return what it printed; both streams are one.

        Raises:
            AssertionError: It failed, and that was not expected.
        """
        done = subprocess.run(
            command,
            cwd=self.path,
            env={**self.environment(), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(
                f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}"
            )
        return done

    def pulumi(self, *arguments: str, check: bool = True, **env: str) -> str:
        """Run pulumi and return what it printed."""
        command = (str(self.tools.pulumi), *arguments, "--non-interactive", "--color", "never")
        return self.run(*command, check=check, env=env).stdout

    def pic(self, *arguments: str, check: bool = True, **env: str) -> str:
        """Run pic and return what it printed."""
        python = self.path / ".venv" / "bin" / "python"
        return self.run(str(python), "-m", "pic", *arguments, check=check, env=env).stdout


@contextmanager
def workspace(tools: Toolchain, kubeconfig: Path, **extra: str) -> Iterator[Workspace]:
    """Make a project folder, and remove it in the end."""
    folder = Path(tempfile.mkdtemp(prefix="pic-workspace-"))
    try:
        for name in SHARED:
            (folder / name).symlink_to(ROOT / name)
        (folder / "stacks").mkdir()
        (folder / "state").mkdir()
        yield Workspace(folder, tools, kubeconfig, extra)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
