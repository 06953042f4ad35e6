"""Tests `pic watch`, from its command line to the end of its process."""

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
from tests.support.api import Answer, Api, ingress, service, tunnel
from tests.support.fakes import ENVIRONMENT, HOST, project, run_pic
from tests.support.waiting import until

LEASE = "/apis/coordination.k8s.io/v1/namespaces/ops/leases/pic-prod"
WITHOUT_PULUMI = {**ENVIRONMENT, "PATH": "/nowhere"}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """Work in a project whose cluster has lists with a version."""
    with project(tmp_path, monkeypatch) as server:
        set_list(server, f"{NETWORKING}/ingresses", "Ingress", ingress("web", HOST))
        set_list(server, f"{CORE}/services", "Service", service("prod"))
        set_list(server, f"{PANGOLIN}/pangolintunnels", "PangolinTunnel", tunnel("prod"))
        set_list(server, f"{PANGOLIN}/pangolinorganizations", "PangolinOrganization")
        set_list(server, f"{PANGOLIN}/pangolinresources", "PangolinResource")
        yield server


def set_list(api: Api, path: str, kind: str, *items: object) -> None:
    body = {"kind": f"{kind}List", "metadata": {"resourceVersion": "7"}, "items": items}
    api.set_answers(path, Answer(body))


class Terminal:
    """Keeps what the watcher and its children write, and stops the watcher on a condition.

    The capture of pytest cannot be used: reading it while another thread writes loses lines.
    """

    def __init__(self, path: Path, condition: Callable[[str], object]) -> None:
        self.path = path / "stderr"
        self.condition = condition
        self.thread = threading.Thread(target=self.end)
        self.stack = ExitStack()

    @property
    def text(self) -> str:
        return self.path.read_text()

    def __enter__(self) -> Self:
        file = self.stack.enter_context(self.path.open("a", buffering=1, encoding="utf-8"))
        stderr = os.dup(2)
        self.stack.callback(os.close, stderr)
        self.stack.callback(os.dup2, stderr, 2)
        os.dup2(file.fileno(), 2)
        self.stack.enter_context(redirect_stderr(file))
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.thread.join()
        self.stack.close()

    def end(self) -> None:
        try:
            until(lambda: self.condition(self.text), "what the test waits for")
        finally:
            # A watcher that has failed handles no signal any more: this one would end pytest.
            if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
                os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.usefixtures("api")
def test_the_watcher_follows_runs_and_stops_on_a_signal(tmp_path: Path) -> None:
    with Terminal(tmp_path, lambda text: "trying again" in text) as terminal:
        words = ["watch", "--listen", "127.0.0.1:0", "--log-format", "text", "--quiet"]
        code = main.main(words, WITHOUT_PULUMI)

    lines = [line.partition(" ")[2] for line in terminal.text.splitlines()]
    assert code == 0
    assert lines[0].startswith("INFO serving /healthz, /readyz and /metrics on port ")
    assert lines[1:3] == [
        "INFO watching for stack prod",
        "INFO a deployment is due: starting a run",
    ]
    assert any("there is no pulumi on PATH" in line for line in lines)
    assert lines[-2:] == [
        "WARN the run failed: trying again in 30 s at the latest",
        "INFO stopped",
    ]


@pytest.mark.usefixtures("api")
def test_changed_settings_restart_the_watcher_and_invalid_ones_are_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pic.watch.loop.SETTINGS_SECONDS", 0.05)
    file = StackFile(tmp_path, "prod")
    steps: Iterator[tuple[str, Callable[[], object]]] = iter(
        [
            ("trying again", lambda: file.merge({"maxRemovals": "many"})),
            ("keeping the current settings", lambda: file.merge({"maxRemovals": 7})),
            ("the settings have changed: restarting with the new settings", lambda: None),
        ]
    )
    word, act = next(steps)

    def all_happened(text: str) -> bool:
        nonlocal word, act
        if word not in text:
            return False
        act()
        word, act = next(steps, ("", lambda: None))
        return not word

    with Terminal(tmp_path, all_happened):
        assert main.main(["watch", "--listen", ""], WITHOUT_PULUMI) == 0


def test_a_watcher_without_the_lease_starts_no_run(api: Api, tmp_path: Path) -> None:
    api.refuse(LEASE, 403, "you may not")

    words = ["watch", "--leader-elect", "--lease-namespace", "ops", "--listen", ""]
    with Terminal(tmp_path, lambda text: "this watcher is on standby" in text) as terminal:
        assert main.main(words, WITHOUT_PULUMI) == 0

    assert "grant get, create and update on leases" in terminal.text
    assert "starting a run" not in terminal.text


@pytest.mark.usefixtures("api")
def test_the_watcher_turns_the_garbage_collector_on(tmp_path: Path) -> None:
    gc.disable()
    try:
        with Terminal(tmp_path, lambda text: "watching for stack" in text):
            assert main.main(["watch", "--listen", ""], WITHOUT_PULUMI) == 0
        assert gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.usefixtures("api")
def test_a_lease_needs_a_namespace(tmp_path: Path) -> None:
    file = tmp_path / "namespace"
    options = argparse.Namespace(lease_namespace=None)

    with pytest.raises(SettingsError) as caught:
        watch._namespace(options, file)  # noqa: SLF001
    file.write_text("ops\n")

    assert str(caught.value) == (
        "the Lease has no namespace: outside a pod, name one with --lease-namespace"
    )
    assert watch._namespace(options, file) == "ops"  # noqa: SLF001


@pytest.mark.usefixtures("api")
def test_invalid_settings_end_the_watcher_with_their_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_pic(capsys, "watch", "--config", "resyncPeriod=never")[0] == SettingsError.exit_code


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("", None),
        (":8080", ("", 8080)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("[::1]:9", ("::1", 9)),
    ],
)
def test_the_address_is_a_host_and_a_port(value: str, address: tuple[str, int] | None) -> None:
    assert watch._address(value) == address  # noqa: SLF001


@pytest.mark.parametrize("value", ["8080x", "host:", "host:99999", "host"])
def test_an_invalid_address_is_an_error(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run_pic(capsys, "watch", "--listen", value)

    assert code == 2
    assert err.endswith(f"argument --listen: {value!r} is not HOST:PORT\n")


def test_a_run_gets_the_arguments_of_the_watcher() -> None:
    words = ["watch", "--config", "a=1", "--config", "b=2", "--log-format", "json", "--quiet"]
    options = main.parser().parse_args(words)

    assert watch._arguments(options, "prod", {}) == [  # noqa: SLF001
        *("up", "--stack", "prod", "--allow-held", "--config", "a=1", "--config", "b=2"),
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
def test_runs_steal_locks_only_if_the_watcher_is_elected(
    words: list[str], environment: dict[str, str], *, steals: bool
) -> None:
    options = main.parser().parse_args(["watch", *words])

    arguments = watch._arguments(options, "prod", environment)  # noqa: SLF001

    steal = ["--steal-locks"] if steals else []
    assert arguments == ["up", "--stack", "prod", "--allow-held", *steal]


@pytest.mark.usefixtures("api")
def test_a_deleted_stack_file_changes_nothing(tmp_path: Path) -> None:
    options = main.parser().parse_args(["watch", "--stack", "prod"])
    current = deploying.config(options, {})
    changed = watch._SettingsCheck(options, {}, current)  # noqa: SLF001
    file = StackFile(tmp_path, "prod")
    untouched = changed()
    file.merge({"events": True})
    same_settings = changed()
    file.merge({"events": False})
    other_settings = changed()
    file.path.unlink()

    assert (untouched, same_settings, other_settings, changed()) == (False, False, True, False)
