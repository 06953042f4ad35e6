"""Makes a temporary Pulumi project over this checkout, with its own stacks and state."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dev.toolchain import Toolchain
from pic.core import private_folder

ROOT = Path(__file__).resolve().parent.parent
SHARED = ("Pulumi.yaml", "__main__.py", "pic", "plugins", "requirements.txt", ".venv")
PASSPHRASE = "a passphrase for throw-away stacks"  # noqa: S105 - the stacks hold no secrets
SUPERVISOR = ROOT / "pic" / "core" / "supervisor.py"
SECONDS, END_SECONDS = 300, 10


@dataclass(frozen=True)
class Workspace:
    """Runs `pulumi` and `pic` in a project folder, as a user would.

    Attributes:
        path: The project folder.
        kubeconfig: The kubeconfig that the commands use.
        extra: Environment variables for every command.
    """

    path: Path
    tools: Toolchain
    kubeconfig: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """The folder of the file backend."""
        return self.path / "state"

    @property
    def python(self) -> Path:
        """The interpreter of the project."""
        return self.path / ".venv" / "bin" / "python"

    def environment(self) -> dict[str, str]:
        """Return the environment of the commands, without the user's Pulumi and cluster."""
        personal = ("PULUMI_", "PIC_", "KUBE", "PANGOLIN_", "PIHOLE_")
        rest = {key: value for key, value in os.environ.items() if not key.startswith(personal)}
        return {
            **rest,
            **self.tools.environment(),
            "KUBECONFIG": str(self.kubeconfig),
            "PULUMI_BACKEND_URL": f"file://{self.state}",
            "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
            private_folder.VARIABLE: os.environ.get(private_folder.VARIABLE) or str(self.path),
            **self.extra,
        }

    @contextmanager
    def start(
        self, *command: str, stderr: int = subprocess.STDOUT, env: Mapping[str, str] | None = None
    ) -> Iterator["subprocess.Popen[str]"]:
        """Start a command; it and its descendants end with the block."""
        supervisor = [sys.executable, "-I", "-S", str(SUPERVISOR), str(os.getpid())]
        process = subprocess.Popen(
            [*supervisor, *command],
            cwd=self.path,
            env={**self.environment(), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,  # Ctrl-C reaches only the owner, which ends the command
        )
        with process:
            try:
                yield process
            finally:
                process.terminate()

    def run(
        self, *command: str, check: bool = True, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command and return its output, with both streams merged.

        Raises:
            AssertionError: The command failed, and `check` is set.
        """
        with self.start(*command, env=env) as process:
            printed, _ = process.communicate(timeout=SECONDS)
        if check and process.returncode != 0:
            raise AssertionError(f"{' '.join(command)} ended with {process.returncode}:\n{printed}")
        return subprocess.CompletedProcess(command, process.returncode, printed)

    def pulumi_command(self, *arguments: str) -> tuple[str, ...]:
        """Return the command that runs pulumi with these arguments."""
        return (str(self.tools.pulumi), *arguments, "--non-interactive", "--color", "never")

    def pulumi(self, *arguments: str, check: bool = True, **env: str) -> str:
        """Run pulumi and return what it printed."""
        return self.run(*self.pulumi_command(*arguments), check=check, env=env).stdout

    def pic(self, *arguments: str, check: bool = True, **env: str) -> str:
        """Run pic and return what it printed."""
        return self.run(str(self.python), "-m", "pic", *arguments, check=check, env=env).stdout

    def processes(self) -> list[int]:
        """List the processes of this project: those that have its backend in their environment."""
        mark = f"PULUMI_BACKEND_URL=file://{self.state}".encode()
        pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
        return [pid for pid in pids if mark in _environment_of(pid)]

    def end(self) -> None:
        """Kill the remaining processes of this project, and wait until they have ended."""
        deadline = time.monotonic() + END_SECONDS
        while (remaining := self.processes()) and time.monotonic() < deadline:
            for pid in remaining:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


def _environment_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or belongs to another user
        return []


@contextmanager
def workspace(tools: Toolchain, kubeconfig: Path, **extra: str) -> Iterator[Workspace]:
    """Make a project folder; at the end of the block kill its processes and remove it."""
    folder = Path(tempfile.mkdtemp(prefix="pic-workspace-"))
    project = Workspace(folder, tools, kubeconfig, extra)
    try:
        for name in SHARED:
            (folder / name).symlink_to(ROOT / name)
        (folder / "stacks").mkdir()
        (folder / "state").mkdir()
        yield project
    finally:
        project.end()
        shutil.rmtree(folder, ignore_errors=True)
