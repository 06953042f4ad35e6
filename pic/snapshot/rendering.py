"""Renders a folder with the user's own kustomize or Helm.

pic contains no renderer. It starts the tool of the user without a shell, with the path as one
argument, and bounds its time and its output. The tool runs with the permissions of pic, so render
files of strangers only where there are no secrets (docs/reviewing.md).
"""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, cast

from pic.core.errors import ManifestError
from pic.core.visible import blanked
from pic.snapshot.bounded_reading import MIB

SECONDS = 300.0
# The end of what a tool says has the cause of its failure.
LONGEST_MESSAGE = 2000
_LAST_WORDS_SECONDS = 1.0


class Tool(StrEnum):
    """A tool that can render a folder."""

    KUSTOMIZE = "kustomize"
    HELM = "helm"


# The commands that a tool may be started with, the best one first. The path follows.
_COMMANDS: dict[Tool, Sequence[Sequence[str]]] = {
    Tool.KUSTOMIZE: (("kustomize", "build"), ("kubectl", "kustomize")),
    Tool.HELM: (("helm", "template"),),
}


@dataclass(frozen=True, slots=True)
class Rendering:
    """A way to render folders.

    Attributes:
        namespace: The namespace of a Helm release; empty if the user has not said it.
        seconds: How long the tool may take.
        find: Finds a program on PATH.
    """

    tool: Tool
    namespace: str = ""
    seconds: float = SECONDS
    find: Callable[[str], str | None] = shutil.which

    def __call__(self, path: str, limit: int) -> tuple[str, bytes]:
        """Render a folder, and return the command that did it, and its output.

        Args:
            path: The folder, as an absolute path.
            limit: The most bytes to accept.

        Raises:
            ManifestError: The tool is not installed, fails, or takes or writes too much.
        """
        command = self._command(path)
        where = f"{' '.join(command)} {path}"
        # kustomize takes the namespace from its files.
        placed = self.namespace and self.tool is Tool.HELM
        words = [*command, path, *(("--namespace", self.namespace) if placed else ())]
        return where, _output(words, where, limit, self.seconds)

    def _command(self, path: str) -> Sequence[str]:
        for command in _COMMANDS[self.tool]:
            if self.find(command[0]):
                return command
        names = " or ".join(command[0] for command in _COMMANDS[self.tool])
        raise ManifestError(
            path,
            f"--render {self.tool} needs {names} on PATH: install it, or render the folder"
            " elsewhere and pass the result with --manifests -",
        )


def _output(argv: Sequence[str], where: str, limit: int, seconds: float) -> bytes:
    process, late = _started(argv, where), threading.Event()

    def stop() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(seconds, stop)
    with process:
        errors = _Tail(cast("IO[bytes]", process.stderr))
        timer.start()
        try:
            output = cast("IO[bytes]", process.stdout).read(limit + 1)
            code = process.wait() if len(output) <= limit else None
        finally:
            timer.cancel()
            if process.poll() is None:
                _kill(process)
    if len(output) > limit:
        raise ManifestError(where, f"its output is larger than {limit // MIB} MiB")
    if late.is_set():
        raise ManifestError(where, f"it did not end within {seconds:.0f} s")
    if code:
        raise ManifestError(where, f"it failed with exit code {code}: {errors.text()}")
    return output


def _started(argv: Sequence[str], where: str) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603 - the user names the tool, and no shell reads the path
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A group of its own, so that what the tool starts ends with it.
            start_new_session=True,
        )
    except OSError as error:
        raise ManifestError(where, f"cannot be started: {error.strerror or error}") from error


def _kill(process: "subprocess.Popen[bytes]") -> None:
    # The group exists until the last process in it has ended.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class _Tail:
    """Reads a stream to its end in a thread, and keeps its last bytes.

    A pipe that nobody reads fills up, and then the tool waits for ever.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._kept = b""
        # A number of its own: what the tool leaves behind may hold the pipe open for longer than
        # this process keeps the stream.
        handle = os.dup(stream.fileno())
        self._thread = threading.Thread(target=self._read, args=(handle,), daemon=True)
        self._thread.start()

    def _read(self, handle: int) -> None:
        with open(handle, "rb", buffering=0) as stream:
            while chunk := stream.read(LONGEST_MESSAGE):
                self._kept = (self._kept + chunk)[-LONGEST_MESSAGE:]

    def text(self) -> str:
        """Return the end of what the tool wrote, in one line."""
        self._thread.join(_LAST_WORDS_SECONDS)
        return blanked(self._kept.decode("utf-8", "replace")).strip() or "it says nothing"
