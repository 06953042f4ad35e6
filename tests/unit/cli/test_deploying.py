"""Tests the verbs that start an engine: what they print where, their reports and exit codes."""

import argparse
import io
import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pic.cli import main
from pic.cli.deploying import STILL_SERVED, Progress
from pic.core import logs
from pic.core.errors import EngineError
from pic.engine.outcome import Outcome
from pic.settings.stack_file import StackFile
from tests.support.api import CLUSTER, Api, fill_cluster, ingress, live_object
from tests.support.deployed import urn
from tests.support.deploying import CREATED, CREATING, NAME, OLD, Capture, UseEngine
from tests.support.events import failure_event, message_event
from tests.support.fakes import (
    ENVIRONMENT,
    HOST,
    FakeEngine,
    outputs_of,
    run_pic,
    unchanged_situation,
)

pytestmark = pytest.mark.usefixtures("api")


def read_report(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(path.read_text())
    return report


def test_up_prints_the_changes_and_what_was_done(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    creating = Outcome({"create": [urn(HOST)]}, warnings=["take care"])
    engines(FakeEngine(root, None, None, creating))

    answer = run_pic(capsys, "up", "--report", "report.json")

    assert answer == (0, f"{CREATED}Done: 1 created.\n", "pic: take care\n")
    assert (root / "report.json").read_text().endswith("}\n")
    report = read_report(root / "report.json")
    assert sorted(report.pop("deployed")) == ["deployed", "digest", "told"]
    assert report == {
        "version": 1,
        "exitCode": 0,
        "changed": {"create": 1},
        "failures": [],
        "error": None,
        "held": [],
    }


def test_up_without_changes_has_nothing_to_do(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [])
    engines(FakeEngine(root, outputs_of(unchanged_situation(), cluster=CLUSTER)))

    answer = run_pic(capsys, "up", "--report", "report.json")

    assert answer == (0, "Nothing to do: everything is as it was deployed.\n", "")
    assert read_report(root / "report.json") == {
        "version": 1,
        "exitCode": 0,
        "changed": {},
        "failures": [],
        "error": None,
        "held": [],
        "deployed": {**outputs_of(unchanged_situation(), cluster=CLUSTER), "told": []},
    }


def test_up_that_changes_nothing_says_so(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [])
    engines(FakeEngine(root, {}, None, Outcome()))

    assert run_pic(capsys, "up") == (0, "Done: nothing changed.\n", "")


def test_failures_of_one_cause_are_one_line(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    del root
    hosts = [f"h{number}.org" for number in range(7)]
    outcome = Outcome({"create": [urn(host) for host in hosts]})
    for host in hosts:
        outcome.add_line(failure_event(host))
        outcome.add_line(
            message_event("error", "HTTP 429" if host != "h3.org" else "no", urn(host))
        )
    engines(FakeEngine(Path(), None, None, outcome))

    code, _, err = run_pic(capsys, "up")

    assert (code, err) == (
        6,
        "pic: 7 resources failed; the others are done:\n"
        "h0.org, h1.org, h2.org, h4.org, h5.org and 1 more (rateLimited): HTTP 429\n"
        "h3.org (temporary): no\n",
    )


def test_failed_resources_are_reported_with_their_class(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    outcome = Outcome({"create": [urn(HOST), urn("b.org"), urn("c.org")]})
    for host, words in ((HOST, "HTTP 429"), ("b.org", '"b" is invalid: é')):
        outcome.add_line(failure_event(host))
        outcome.add_line(message_event("error", words, urn(host)))
    engines(FakeEngine(root, None, None, outcome))

    answer = run_pic(capsys, "up", "--report", "report.json")

    words = (
        "2 resources failed; the others are done:\n"
        "app.example.com (rateLimited): HTTP 429\n"
        'b.org (invalid): "b" is invalid: é'
    )
    assert answer == (6, CREATED, f"pic: {words}\n")
    assert read_report(root / "report.json") == {
        "version": 1,
        "exitCode": 6,
        "changed": {"create": 1},
        "failures": [
            {
                "target": "pangolin",
                "host": HOST,
                "class": "rateLimited",
                "retryAfter": 60,
                "message": "HTTP 429",
            },
            {
                "target": "pangolin",
                "host": "b.org",
                "class": "invalid",
                "retryAfter": None,
                "message": '"b" is invalid: é',
            },
        ],
        "error": words,
        "held": [],
    }


def test_a_refusal_is_reported_and_its_digest_allows_the_changes(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [], live_object(OLD))
    engines(FakeEngine(root, None, None, Outcome(), Outcome({"delete": [urn(OLD)]})))

    code, out, err = run_pic(capsys, "up", "--report", "report.json")

    digest = err.split()[-1]
    message = (
        f"The only live host would be removed: {OLD}.\nNothing was changed. If this is intended,"
        f" acknowledge exactly these changes: pic up --acknowledge {digest}"
    )
    assert (code, out, err) == (3, "", f"pic: {message}\n")
    assert read_report(root / "report.json") == {
        "version": 1,
        "exitCode": 3,
        "changed": {},
        "failures": [],
        "error": message,
        "held": [],
    }
    assert run_pic(capsys, "up", "--acknowledge", digest) == (
        0,
        f"- {OLD} (prod/pic-{OLD}) is no longer declared: Ingress prod/web is gone\n"
        f"{STILL_SERVED}\nDone: 1 deleted.\n",
        "",
    )


def test_a_report_that_cannot_be_written_is_exit_code_2(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FakeEngine(root, None, None, CREATING))

    code, _, err = run_pic(capsys, "up", "--report", "no/report.json")

    assert (code, err) == (
        2,
        "pic: --report no/report.json cannot be written: [Errno 2] No such file or directory:"
        " 'no/report.json'\n",
    )


def deployed_object(phase: str) -> dict[str, Any]:
    """Return the live object of the Ingress, with a phase from the operator."""
    return {**live_object(HOST, name=NAME), "status": {"status": phase}}


def test_up_waits_for_the_operator_if_asked(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [ingress("web", HOST)], deployed_object("Ready"))
    engines(FakeEngine(root, None, None, CREATING))

    code, out, err = run_pic(capsys, "up", "--wait", "60")

    assert (code, out.splitlines()[-1], err) == (
        0,
        "Done: 1 created.",
        "pic: 1 of 1 ready, 0 pending, 0 in error\n",
    )


def test_hosts_that_are_not_ready_in_time_are_exit_code_6(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [ingress("web", HOST)], deployed_object("Creating"))
    engines(FakeEngine(root, None, None, CREATING))

    code, out, err = run_pic(capsys, "up", "--wait", "0.01", "--quiet", "--report", "report.json")

    lines = err.splitlines()
    assert (code, out.splitlines()[-1], lines[0], lines[-1]) == (
        6,
        "Done: 1 created.",
        "pic: not all hosts are ready after 0.01 s:",
        "0 of 1 ready, 1 pending, 0 in error",
    )
    assert read_report(root / "report.json") == {
        "version": 1,
        "exitCode": 6,
        "changed": {"create": 1},
        "failures": [],
        "error": err.removeprefix("pic: ").removesuffix("\n"),
        "held": [],
    }


def test_an_unexpected_error_leaves_the_report_empty(root: Path, engines: UseEngine) -> None:
    class Broken(FakeEngine):
        def create(self) -> None:
            raise ZeroDivisionError

    engines(Broken(root, None))

    with pytest.raises(ZeroDivisionError):
        main.main(["up", "--report", "report.json"], ENVIRONMENT)
    assert (root / "report.json").read_text() == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_two_passes_ends_a_run_with_a_message_and_a_report(
    root: Path, capsys: Capture, engines: UseEngine, number: signal.Signals
) -> None:
    class Signalled(FakeEngine):
        def create(self) -> None:
            signal.raise_signal(number)

    engines(Signalled(root, None))
    before = signal.getsignal(signal.SIGTERM)
    message = "interrupted between two steps: pic has saved what it did. Run again to finish"

    assert run_pic(capsys, "up", "--report", "report.json") == (1, "", f"pic: {message}\n")
    assert signal.getsignal(signal.SIGTERM) is before
    assert read_report(root / "report.json") == {
        "version": 1,
        "exitCode": 1,
        "changed": {},
        "failures": [],
        "error": message,
        "held": [],
    }


def test_a_run_in_a_thread_leaves_signals_alone(root: Path, engines: UseEngine) -> None:
    engines(FakeEngine(root, None, None, CREATING))

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(main.main, ["up"], ENVIRONMENT).result() == 0


def test_an_unreachable_backend_is_exit_code_5(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    class Unreachable(FakeEngine):
        def create(self) -> None:
            raise EngineError("the backend does not answer")

    engines(Unreachable(root, None))

    assert run_pic(capsys, "up") == (5, "", "pic: the backend does not answer\n")


@pytest.mark.parametrize("verb", ["up", "drift", "destroy"])
def test_a_deployment_needs_a_cluster_id_and_a_project_file(
    root: Path, capsys: Capture, verb: str
) -> None:
    StackFile(root, "prod").merge({"clusterId": ""})
    assert run_pic(capsys, verb, "--stack", "prod") == (
        2,
        "",
        "pic: pic:clusterId is not set, so a wrong kubeconfig could take everything down: run pic"
        " init --stack prod\n",
    )

    (root / "Pulumi.yaml").unlink()
    assert run_pic(capsys, verb) == (
        2,
        "",
        "pic: Pulumi.yaml is not in this folder: run pic in the folder of the project\n",
    )


class Terminal(io.StringIO):
    """Standard error of a user at a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_printed_on_a_terminal(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, engines: UseEngine
) -> None:
    engines(FakeEngine(root, None, None, CREATING))
    monkeypatch.setattr("sys.stderr", terminal := Terminal())

    assert main.main(["up"], ENVIRONMENT) == 0
    assert terminal.getvalue() == "pic: reading the cluster …\npic: deploying …\n"
    assert capsys.readouterr().out == f"{CREATED}Done: 1 created.\n"


def test_steps_are_printed_at_most_once_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    logs.configure(None, logs.INFO)
    progress = Progress(argparse.Namespace(quiet=False, log_format=None), last=0)

    for done in (7, 8, 9):
        progress.step(Outcome(done=done))

    assert terminal.getvalue() == "pic: 7 steps done …\n"
