"""An engine that does nothing, a project that it works for, and what is found there."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pic.cli import main
from pic.core.errors import EngineError
from pic.core.json_values import Raw
from pic.engine import driver
from pic.engine.backend.state import StackState
from pic.engine.engine import Engine
from pic.engine.outcome import Outcome
from pic.run import fingerprint
from pic.run.situation import Situation
from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile
from tests.support import engine as mocks
from tests.support.api import (
    CLUSTER,
    Api,
    fill_cluster,
    ingress,
    serving,
)
from tests.support.deployed import (
    A,
    live,
    situation,
    urn,
    wanted,
)

DONE = Outcome({"update": [urn(A)]})
HOST = "app.example.com"


class FakeEngine(Engine):
    """An engine that does nothing, and keeps what it was asked.

    A program runs against Pulumi's mocks; what it declares is in the log.
    """

    def __init__(
        self, root: Path, outputs: Raw | None, known: StackState | None = None, *ends: Outcome
    ) -> None:
        self.root = root
        self.stack = "prod"
        self.environment = {"PULUMI_BACKEND_URL": f"file://{root}"}
        self.found = outputs
        self.known = known or StackState()
        self.ends = list(ends)
        self.log: list[object] = []

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        self.log.append("exclusive")
        yield
        self.log.append("done")

    def ask_ahead(self) -> None:
        """Ask when the answer is needed."""

    def outputs(self) -> Raw | None:
        self.log.append("outputs")
        return self.found

    def state(self) -> StackState:
        self.log.append("state")
        return self.known

    def create(self) -> None:
        self.log.append("create")

    def end(self) -> Outcome:
        return self.ends.pop(0) if self.ends else DONE

    def ran(self, operation: str, body: Callable[[], None], *, preview: bool = False) -> Outcome:
        seen = mocks.run(body, preview=preview)
        declared = {each["name"]: each.get("importId", "") for each in seen.resources[1:]}
        self.log.append((operation, declared))
        if seen.error:
            raise EngineError("the program failed") from seen.error
        return self.end()

    def up(self, program: Callable[[], None]) -> Outcome:
        return self.ran("up", program)

    def preview(self, program: Callable[[], None]) -> Outcome:
        return self.ran("preview", program, preview=True)

    def destroy(self, program: Callable[[], None]) -> Outcome:
        return self.ran("destroy", program)

    def refresh(self, urns: Sequence[str]) -> Outcome:
        self.log.append(("refresh", *urns))
        return self.end()


def unchanged_situation(*hosts: str, settings: Settings | None = None) -> Situation:
    """What is found when everything is as it was deployed."""
    resources = tuple(map(wanted, hosts))
    return situation(tuple(map(live, resources)), resources, settings)


def outputs_of(known: Situation, **deployed: str) -> dict[str, Any]:
    """What a deployment of this exports."""
    return {
        "digest": fingerprint.digest(known.plan, known.settings),
        "deployed": {**fingerprint.means(known), **deployed},
    }


@contextlib.contextmanager
def project(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """Go to a project with one stack, whose cluster has one Ingress, for HOST."""
    monkeypatch.chdir(root)
    for name in [key for key in os.environ if key.startswith(("PIC_", "PIHOLE_", "LOG_LEVEL"))]:
        monkeypatch.delenv(name)
    (root / "Pulumi.yaml").write_text("name: pic\n")
    StackFile(root, "prod").merge({"clusterId": CLUSTER})
    with serving() as api:
        fill_cluster(api, [ingress("web", HOST)])
        monkeypatch.setenv("KUBECONFIG", api.kubeconfig(root / "config"))
        yield api


def use_engine(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    """Let the verbs work with an engine."""
    monkeypatch.setattr(driver, "engine_for", lambda *_, **__: engine)


def run_pic(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit code of a command line, and what it said."""
    code = main.main(words)
    said = capsys.readouterr()
    return code, said.out, said.err
