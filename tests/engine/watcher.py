"""Runs a watcher for a stage, as a process that ends with the block at the latest."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.engine.stage import SECONDS, Stage
from tests.support.waiting import until

STARTING = "a deployment is due: starting a run"


@dataclass
class Watcher:
    """A process, and the lines that it has logged so far."""

    process: "subprocess.Popen[str]"
    lines: list[str] = field(default_factory=list)

    @property
    def runs(self) -> int:
        return sum(STARTING in line for line in self.lines)

    @property
    def pid(self) -> int:
        """The pid of the watcher itself; `process` is its supervisor."""
        [pid] = _children(self.process.pid)
        return pid

    def wait_for(self, word: str) -> None:
        until(
            lambda: any(word in line for line in self.lines), f"{word!r} in {self.lines}", SECONDS
        )

    def terminate(self) -> int:
        """Stop the watcher as a kubelet does, and return its exit code."""
        os.kill(self.pid, signal.SIGTERM)
        return self.process.wait(SECONDS)

    def read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))


@contextmanager
def watching(
    stage: Stage, *arguments: str, listen: str = "", env: Mapping[str, str] | None = None
) -> Iterator[Watcher]:
    """Run a watcher until the block ends; if the block fails, the error has the log as well."""
    command = (str(stage.workspace.python), "-m", "pic", "watch", "--stack", stage.name)
    with stage.workspace.start(*command, "--listen", listen, *arguments, env=env) as process:
        watcher = Watcher(process)
        reader = threading.Thread(target=watcher.read)
        reader.start()
        try:
            yield watcher
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *watcher.lines])) from error
        finally:
            process.terminate()
            reader.join()


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(pid) for pid in tasks.split()]
