"""Provides a fake engine, a project with a stack for it, and the situations of the stack."""

import contextlib
import io
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
from tests.support import deployed as examples
from tests.support import engine as mocks
from tests.support.api import CLUSTER, REMEMBERING, Api, fill_cluster, ingress, serving
from tests.support.deployed import A, make_live, urn, wanted

# The tests of the command line run in the folder of their project, which has the kubeconfig.
ENVIRONMENT = {"KUBECONFIG": "config"}
DONE = Outcome({"update": [urn(A)]})
HOST = "app.example.com"


class FakeEngine(Engine):
    """An engine that records its operations in a log and changes nothing.

    It runs programs against Pulumi's mocks. The log then has the declared resources.
    """

    def __init__(
        self, root: Path, outputs: Raw | None, state: StackState | None = None, *outcomes: Outcome
    ) -> None:
        self.root = root
        self.stack = "prod"
        self.environment = {"PULUMI_BACKEND_URL": f"file://{root}"}
        self.stored_outputs = outputs
        self.stored_state = state or StackState()
        self.outcomes = list(outcomes)
        self.log: list[object] = []

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        self.log.append("exclusive")
        yield
        self.log.append("done")

    def prefetch_outputs(self) -> None:
        """Do nothing: `outputs` answers at once."""

    def outputs(self) -> Raw | None:
        self.log.append("outputs")
        return self.stored_outputs

    def state(self) -> StackState:
        self.log.append("state")
        return self.stored_state

    def create(self) -> None:
        self.log.append("create")

    def next_outcome(self) -> Outcome:
        return self.outcomes.pop(0) if self.outcomes else DONE

    def run(self, operation: str, body: Callable[[], None], *, preview: bool = False) -> Outcome:
        result = mocks.run(body, preview=preview)
        # The first resource is the stack itself.
        declared = {entry["name"]: entry.get("importId", "") for entry in result.resources[1:]}
        self.log.append((operation, declared))
        if result.error:
            raise EngineError("the program failed") from result.error
        return self.next_outcome()

    def up(self, program: Callable[[], None]) -> Outcome:
        return self.run("up", program)

    def preview(self, program: Callable[[], None]) -> Outcome:
        return self.run("preview", program, preview=True)

    def destroy(self, program: Callable[[], None]) -> Outcome:
        return self.run("destroy", program)

    def refresh(self, urns: Sequence[str]) -> Outcome:
        self.log.append(("refresh", *urns))
        return self.next_outcome()


class FailingEngine(FakeEngine):
    """An engine that cannot start once its outcomes are used up."""

    def next_outcome(self) -> Outcome:
        if not self.outcomes:
            raise EngineError("the backend is gone")
        return super().next_outcome()


def unchanged_situation(*hosts: str, settings: Settings | None = None) -> Situation:
    """Return a situation in which the live objects equal the plan."""
    resources = tuple(map(wanted, hosts))
    return examples.make_situation(tuple(map(make_live, resources)), resources, settings)


def outputs_of(situation: Situation, **deployed: str) -> dict[str, Any]:
    """Return the stack outputs after a deployment of a situation."""
    return {
        "digest": fingerprint.digest(situation.plan, situation.settings),
        "deployed": {**fingerprint.conditions(situation), **deployed},
    }


class Terminal(io.StringIO):
    """Standard error of a user at a terminal."""

    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def project(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """Work in a project with one stack; its cluster has one Ingress, for HOST."""
    monkeypatch.chdir(root)
    (root / "Pulumi.yaml").write_text("name: pic\n")
    StackFile(root, "prod").merge({"clusterId": CLUSTER, **REMEMBERING})
    with serving() as api:
        fill_cluster(api, [ingress("web", HOST)])
        api.kubeconfig(root / ENVIRONMENT["KUBECONFIG"])
        yield api


def use_engine(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    """Give the verbs an engine.

    This is the only place where they get one, and no flag or setting selects it.
    """
    monkeypatch.setattr(driver, "engine_for", lambda *_, **__: engine)


def run_pic(
    capsys: pytest.CaptureFixture[str], *words: str, **variables: str
) -> tuple[int, str, str]:
    """Run a command line, and return its exit code, standard output and standard error."""
    code = main.main(words, {**ENVIRONMENT, **variables})
    output = capsys.readouterr()
    return code, output.out, output.err
