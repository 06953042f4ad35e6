"""Secrets are in nothing that a run writes or prints: planted ones are looked for everywhere."""

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
from tests.engine.stage import SECONDS, Stage, set_stage

LOUD = ("--log-format", "json", "--config", "logLevel=debug")


@dataclass
class Watch:
    """A stage with planted secrets, and everything that its runs have shown.

    Attributes:
        seen: What was printed, by what was run.
        commands: The command lines of all processes of this machine, as they were seen.
    """

    stage: Stage
    planted: dict[str, str] = field(repr=False)
    seen: dict[str, str] = field(default_factory=dict, repr=False)
    commands: set[bytes] = field(default_factory=set, repr=False)

    def run(self, *words: str, output: str = "", **env: str) -> int:
        """Run pic as loud as it can be, and keep what it prints."""
        workspace = self.stage.workspace
        command = (str(workspace.python), "-m", "pic", *words, *LOUD, "--stack", self.stage.name)
        if output:
            line = f'exec "$@" > {output}'
            command = ("sh", "-c", line, "sh", *command)
        with workspace.start(*command, stderr=-1, env=env) as process:
            printed, errors = process.communicate(timeout=SECONDS)
        self.seen[" ".join([*words, output])] = printed + errors
        return process.returncode

    def leaks(self) -> list[tuple[str, str]]:
        """Return each planted secret that was found, and where."""
        places = {**self.seen, **self._files(), "a command line": self._command_lines()}
        return [
            (name, place)
            for name, secret in self.planted.items()
            for place, text in places.items()
            if secret in text
        ]

    def _files(self) -> dict[str, str]:
        root = self.stage.workspace.path
        own = (each for each in root.iterdir() if not each.is_symlink())
        files = [leaf for each in own for leaf in [each, *each.rglob("*")] if leaf.is_file()]
        return {str(path.relative_to(root)): path.read_text(errors="replace") for path in files}

    def _command_lines(self) -> str:
        return b"\n".join(self.commands).decode(errors="replace")


@contextmanager
def looking(watch: Watch) -> Iterator[None]:
    """Take note of the command line of every process, again and again."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.005):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    watch.commands.add(path.read_bytes())
                except OSError:  # it has ended
                    continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.fixture
def watch(plane: ControlPlane, tools: Toolchain) -> Iterator[Watch]:
    user = yaml.safe_load(plane.kubeconfig.read_text())["users"][0]["user"]
    with PiHole() as pihole:
        env = {
            "PULUMI_CONFIG_PASSPHRASE": secrets.token_hex(16),
            "PIHOLE_PASSWORD": pihole.password,
        }
        with set_stage(plane, tools, **env) as stage:
            stage.settings(
                piholeUrl=pihole.url, piholeTargetIp="192.0.2.7", targets=["pangolin", "pihole"]
            )
            made = Watch(stage, {**env, "the token of the kubeconfig": user["token"]})
            with looking(made):
                yield made


def test_no_secret_is_in_what_runs_print_and_write(watch: Watch) -> None:
    stage = watch.stage
    annotations = {"pihole.io/register": "true"}
    stage.ingress("web", "www", "bad", annotations=annotations)
    with stage.denied("bad"):
        failed = watch.run("up", "--report", "failed.json")
    done = watch.run("up", "--report", "done.json")
    looked = (
        watch.run("snapshot", "--out", "snapshot.json"),
        watch.run("drift"),
        watch.run("doctor"),
    )
    refused = watch.run("destroy")
    misnamed = watch.run("plan", "--context")
    crashed = watch.run("plan", output="/dev/full")
    assert (failed, done, looked, refused, misnamed) == (6, 0, (0, 0, 0), 3, 2)
    lines = [json.loads(each) for each in watch.seen["destroy "].splitlines()]
    digest = [each for each in lines if each["level"] == "ERROR"][-1]["digest"]
    gone = watch.run("destroy", "--acknowledge", digest)

    assert (crashed, gone) == (1, 0)
    assert "Traceback" in watch.seen["plan /dev/full"]
    assert "reconcile started" in watch.seen["up --report done.json "]
    assert watch.leaks() == []


def test_wrong_secrets_are_not_shown_either(watch: Watch) -> None:
    annotations = {"pihole.io/register": "true"}
    watch.stage.ingress("web", "www", annotations=annotations)
    wrong = {"PULUMI_CONFIG_PASSPHRASE": "mistaken-phrase", "PIHOLE_PASSWORD": "mistaken-word"}
    watch.run("up")
    watch.stage.ingress("web", "www", "new", annotations=annotations)
    watch.planted.update(wrong)

    ends = [watch.run("up", **{key: value}) for key, value in wrong.items()]

    assert 0 not in ends
    assert watch.leaks() == []
