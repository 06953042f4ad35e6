"""Tests that runs neither write nor print the secrets that the tests plant."""

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from dev.controlplane import ControlPlane
from dev.pihole import PiHole
from dev.toolchain import Toolchain
from tests.engine.policies import denied
from tests.engine.stage import SECONDS, Stage, open_stage

VERBOSE = ("--log-format", "json", "--config", "logLevel=debug")


@dataclass
class Observer:
    """Runs pic with planted secrets, and records everything that could reveal one.

    Attributes:
        outputs: The output of each command.
        commands: The observed command lines of all processes of this machine.
    """

    stage: Stage
    planted: dict[str, str] = field(repr=False)
    outputs: dict[str, str] = field(default_factory=dict, repr=False)
    commands: set[bytes] = field(default_factory=set, repr=False)

    def run(self, *words: str, output: str = "", **env: str) -> int:
        """Run pic with the most verbose output, and record the output."""
        workspace = self.stage.workspace
        command = (str(workspace.python), "-m", "pic", *words, *VERBOSE, "--stack", self.stage.name)
        if output:
            line = f'exec "$@" > {output}'
            command = ("sh", "-c", line, "sh", *command)
        with workspace.start(*command, stderr=-1, env=env) as process:
            printed, errors = process.communicate(timeout=SECONDS)
        self.outputs[" ".join([*words, output])] = printed + errors
        return process.returncode

    def leaks(self) -> list[tuple[str, str]]:
        """Return each planted secret that appears, and where."""
        places = {**self.outputs, **self._files(), "a command line": self._command_lines()}
        return [
            (name, place)
            for name, secret in self.planted.items()
            for place, text in places.items()
            if secret in text
        ]

    def _files(self) -> dict[str, str]:
        root = self.stage.workspace.path
        entries = (path for path in root.iterdir() if not path.is_symlink())
        files = [leaf for path in entries for leaf in [path, *path.rglob("*")] if leaf.is_file()]
        return {str(path.relative_to(root)): path.read_text(errors="replace") for path in files}

    def _command_lines(self) -> str:
        return b"\n".join(self.commands).decode(errors="replace")


@contextmanager
def record_commands(observer: Observer) -> Iterator[None]:
    """Record the command line of every process until the block ends."""
    stop = threading.Event()

    def record() -> None:
        while not stop.wait(0.005):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    observer.commands.add(path.read_bytes())
                except OSError:  # it has ended
                    continue

    thread = threading.Thread(target=record)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def observer(plane: ControlPlane, tools: Toolchain) -> Iterator[Observer]:
    user = yaml.safe_load(plane.kubeconfig.read_text())["users"][0]["user"]
    with PiHole() as pihole:
        env = {
            "PULUMI_CONFIG_PASSPHRASE": secrets.token_hex(16),
            "PIHOLE_PASSWORD": pihole.password,
        }
        with open_stage(plane, tools, **env) as stage:
            stage.settings(
                piholeUrl=pihole.url, piholeTargetIp="192.0.2.7", targets=["pangolin", "pihole"]
            )
            observer = Observer(stage, {**env, "the token of the kubeconfig": user["token"]})
            with record_commands(observer):
                yield observer


def test_runs_neither_print_nor_write_secrets(observer: Observer) -> None:
    stage = observer.stage
    annotations = {"pihole.io/register": "true"}
    stage.ingress("web", "www", "bad", annotations=annotations)
    with denied(stage, "bad"):
        failed = observer.run("up", "--report", "failed.json")
    succeeded = observer.run("up", "--report", "done.json")
    read_only = (
        observer.run("snapshot", "--out", "snapshot.json"),
        observer.run("drift"),
        observer.run("doctor"),
    )
    refused = observer.run("destroy")
    misused = observer.run("plan", "--context")
    crashed = observer.run("plan", output="/dev/full")
    assert (failed, succeeded, read_only, refused, misused) == (6, 0, (0, 0, 0), 3, 2)
    lines = [json.loads(line) for line in observer.outputs["destroy "].splitlines()]
    digest = [line for line in lines if line["level"] == "ERROR"][-1]["digest"]
    destroyed = observer.run("destroy", "--acknowledge", digest)

    assert (crashed, destroyed) == (1, 0)
    assert "Traceback" in observer.outputs["plan /dev/full"]
    assert "reconcile started" in observer.outputs["up --report done.json "]
    assert observer.leaks() == []


def test_wrong_secrets_are_not_printed_either(observer: Observer) -> None:
    annotations = {"pihole.io/register": "true"}
    observer.stage.ingress("web", "www", annotations=annotations)
    wrong = {"PULUMI_CONFIG_PASSPHRASE": "mistaken-phrase", "PIHOLE_PASSWORD": "mistaken-word"}
    observer.run("up")
    observer.stage.ingress("web", "www", "new", annotations=annotations)
    observer.planted.update(wrong)

    codes = [observer.run("up", **{key: value}) for key, value in wrong.items()]

    assert 0 not in codes
    assert observer.leaks() == []
