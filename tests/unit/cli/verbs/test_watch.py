"""`pic watch`, from its command line to the end of its process."""

import argparse
import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stderr
from pathlib import Path
from typing import Self

import pytest

from pic.cli import deploying, main
from pic.cli.verbs import watch
from pic.cluster.listing import CORE, NETWORKING, PANGOLIN
from pic.core.errors import SettingsError
from pic.settings.stack_file import StackFile
from tests.support.api import (
    Answer,
    Api,
    ingress,
    service,
    tunnel,
)
from tests.support.fakes import HOST, project, run_pic
from tests.support.waiting import until

LEASE = "/apis/coordination.k8s.io/v1/namespaces/ops/leases/pic-prod"


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A cluster whose listings have a version, and no engine anywhere."""
    with project(tmp_path, monkeypatch) as made:
        monkeypatch.setenv("PATH", "/nowhere")
        monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
        holds(made, f"{NETWORKING}/ingresses", "Ingress", ingress("web", HOST))
        holds(made, f"{CORE}/services", "Service", service("prod"))
        holds(made, f"{PANGOLIN}/pangolintunnels", "PangolinTunnel", tunnel("prod"))
        holds(made, f"{PANGOLIN}/pangolinorganizations", "PangolinOrganization")
        holds(made, f"{PANGOLIN}/pangolinresources", "PangolinResource")
        yield made


def holds(api: Api, path: str, kind: str, *items: object) -> None:
    body = {"kind": f"{kind}List", "metadata": {"resourceVersion": "7"}, "items": items}
    api.set_answers(path, Answer(body))


class Terminal:
    """Keeps what the watcher and its children write, and ends it once that is as it should be.

    What pytest captures may be taken out by nobody who writes at the same time: it loses a line.
    """

    def __init__(self, path: Path, condition: Callable[[str], object]) -> None:
        self.path = path / "stderr"
        self.condition = condition
        self.thread = threading.Thread(target=self.end)
        self.stack = ExitStack()

    @property
    def said(self) -> str:
        return self.path.read_text()

    def __enter__(self) -> Self:
        file = self.stack.enter_context(self.path.open("a", buffering=1, encoding="utf-8"))
        kept = os.dup(2)
        self.stack.callback(os.close, kept)
        self.stack.callback(os.dup2, kept, 2)
        os.dup2(file.fileno(), 2)
        self.stack.enter_context(redirect_stderr(file))
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.thread.join()
        self.stack.close()

    def end(self) -> None:
        try:
            until(lambda: self.condition(self.said), "what the test waits for")
        finally:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.usefixtures("api")
def test_it_follows_runs_and_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    with Terminal(tmp_path, lambda said: "trying again" in said) as terminal:
        code = main.main(["watch", "--listen", "127.0.0.1:0", "--log-format", "text", "--quiet"])

    words = [line.partition(" ")[2] for line in terminal.said.splitlines()]
    assert code == 0
    assert words[0].startswith("INFO serving /healthz, /readyz and /metrics on port ")
    assert words[1:3] == [
        "INFO watching for stack prod",
        "INFO something is to be done: starting a run",
    ]
    assert any("there is no pulumi on PATH" in each for each in words)
    assert words[-2:] == [
        "WARN the run failed: trying again in 30 s at the latest",
        "INFO ended",
    ]


@pytest.mark.usefixtures("api")
def test_other_settings_are_followed_and_wrong_ones_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pic.watch.loop.SETTINGS_SECONDS", 0.05)
    file = StackFile(tmp_path, "prod")
    steps: Iterator[tuple[str, Callable[[], object]]] = iter(
        [
            ("trying again", lambda: file.merge({"maxRemovals": "many"})),
            ("going on with the settings as they were", lambda: file.merge({"maxRemovals": 7})),
            ("the settings have changed: beginning anew", lambda: None),
        ]
    )
    word, act = next(steps)

    def all_happened(said: str) -> bool:
        nonlocal word, act
        if word not in said:
            return False
        act()
        word, act = next(steps, ("", lambda: None))
        return not word

    with Terminal(tmp_path, all_happened):
        assert main.main(["watch", "--listen", ""]) == 0


def test_only_who_holds_the_lease_runs(api: Api, tmp_path: Path) -> None:
    api.refuse(LEASE, 403, "you may not")

    words = ["watch", "--leader-elect", "--lease-namespace", "ops", "--listen", ""]
    with Terminal(tmp_path, lambda said: "another watcher leads" in said) as terminal:
        assert main.main(words) == 0

    assert "grant get, create and update on leases" in terminal.said
    assert "starting a run" not in terminal.said


@pytest.mark.usefixtures("api")
def test_garbage_is_collected_as_in_no_other_verb(tmp_path: Path) -> None:
    gc.disable()
    try:
        with Terminal(tmp_path, lambda said: "watching for stack" in said):
            assert main.main(["watch", "--listen", ""]) == 0
        assert gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.usefixtures("api")
def test_a_lease_needs_a_namespace(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "NAMESPACE", tmp_path / "namespace")
    code, _, err = run_pic(capsys, "watch", "--leader-elect", "--listen", "")

    assert code == 2
    assert err == "pic: name a namespace for the Lease: --lease-namespace, outside of a pod\n"

    (tmp_path / "namespace").write_text("ops\n")
    assert watch._namespace(argparse.Namespace(lease_namespace=None)) == "ops"  # noqa: SLF001


@pytest.mark.usefixtures("api")
def test_settings_that_cannot_be_right_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_pic(capsys, "watch", "--config", "resyncPeriod=never")[0] == SettingsError.exit_code


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("", None),
        (":8080", ("", 8080)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("[::1]:9", ("::1", 9)),
    ],
)
def test_where_to_listen_is_a_host_and_a_port(given: str, address: tuple[str, int] | None) -> None:
    assert watch._address(given) == address  # noqa: SLF001


@pytest.mark.parametrize("given", ["8080x", "host:", "host:99999", "host"])
def test_what_is_no_address_is_told(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run_pic(capsys, "watch", "--listen", given)

    assert code == 2
    assert err.endswith(f"argument --listen: {given!r} is not HOST:PORT\n")


def test_a_run_is_asked_for_the_same() -> None:
    words = ["watch", "--config", "a=1", "--config", "b=2", "--log-format", "json", "--quiet"]
    options = main.parser().parse_args(words)

    assert watch._arguments(options, "prod", {}) == [  # noqa: SLF001
        *("up", "--stack", "prod", "--config", "a=1", "--config", "b=2"),
        *("--log-format", "json", "--quiet"),
    ]


@pytest.mark.parametrize(
    ("words", "environment", "steals"),
    [
        ([], {}, False),
        ([], {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, True),
        (["--leader-elect"], {}, True),
        (["--no-leader-elect"], {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, False),
    ],
)
def test_what_others_have_left_goes_only_where_a_lease_is_held(
    words: list[str], environment: dict[str, str], *, steals: bool
) -> None:
    options = main.parser().parse_args(["watch", *words])

    found = watch._arguments(options, "prod", environment)  # noqa: SLF001

    assert found == ["up", "--stack", "prod", *(["--steal-locks"] if steals else [])]


@pytest.mark.usefixtures("api")
def test_a_stack_file_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    options = main.parser().parse_args(["watch", "--stack", "prod"])
    renewed = watch._Renewal(options, os.environ, deploying.config(options, os.environ))  # noqa: SLF001
    file = StackFile(tmp_path, "prod")
    same = renewed()
    file.merge({"events": True})
    by_default = renewed()
    file.merge({"events": False})
    other = renewed()
    file.path.unlink()

    assert (same, by_default, other, renewed()) == (False, False, True, False)
