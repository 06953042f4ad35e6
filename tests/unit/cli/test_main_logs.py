"""Tests `--log-format`: the lines that the verbs log on standard error."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from pic.cli import main
from pic.engine.outcome import Outcome
from pic.settings.stack_file import StackFile
from tests.support.api import CLUSTER, Api, fill_cluster, ingress, live_object
from tests.support.deployed import urn
from tests.support.deploying import CREATED, CREATING, NAME, OLD, Capture, UseEngine
from tests.support.events import failure_event, message_event
from tests.support.fakes import ENVIRONMENT, HOST, FakeEngine, run_pic

pytestmark = pytest.mark.usefixtures("api")


def log_lines(text: str) -> list[dict[str, Any]]:
    """Return the lines of a JSON log, without their times."""
    lines = [json.loads(line) for line in text.splitlines()]
    for entry in lines:
        assert entry.pop("time").endswith("Z")
    return lines


def line(level: str, msg: str, **fields: object) -> dict[str, object]:
    return {"level": level, "msg": msg, **fields}


CREATED_LINE = line(
    "INFO", "resource created", ingress="prod/web", host=HOST, object=f"prod/{NAME}"
)
READING, DEPLOYING = line("INFO", "reading the cluster"), line("INFO", "deploying")


def test_up_logs_each_action_and_keeps_its_output(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    creating = Outcome({"create": [urn(HOST)]}, warnings=["take care"])
    engines(FakeEngine(root, None, None, creating))

    code, out, err = run_pic(capsys, "up", "--log-format", "json")

    assert (code, out) == (0, f"{CREATED}Done: 1 created.\n")
    assert log_lines(err) == [READING, DEPLOYING, line("WARN", "take care"), CREATED_LINE]


def test_a_debug_log_begins_with_the_ingresses_that_the_run_changes_something_for(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FakeEngine(root, None, None, CREATING))

    err = run_pic(capsys, "up", "--log-format=json", "--quiet", LOG_LEVEL="debug")[2]

    assert log_lines(err) == [
        line("DEBUG", "reconcile started", ingress="prod/web"),
        CREATED_LINE,
    ]


def test_level_debug_prints_each_action_for_a_person_too(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FakeEngine(root, None, None, CREATING))

    assert run_pic(capsys, "up", "--config", "logLevel=debug") == (
        0,
        f"{CREATED}Done: 1 created.\n",
        "pic: reconcile started ingress=prod/web\n"
        f"pic: resource created ingress=prod/web host={HOST} object=prod/{NAME}\n",
    )


def test_level_error_logs_nothing_if_nothing_fails(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    StackFile(root, "prod").merge({"logLevel": "error"})
    engines(FakeEngine(root, None, None, CREATING))

    assert run_pic(capsys, "up", "--log-format", "text")[2] == ""


def test_a_text_log_has_one_line_for_each_action(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FakeEngine(root, None, None, CREATING))

    err = run_pic(capsys, "up", "--log-format", "text", "--quiet")[2]

    assert err.partition(" ")[2] == (
        f"INFO resource created ingress=prod/web host={HOST} object=prod/{NAME}\n"
    )


def test_failures_are_logged_and_the_last_line_has_the_exit_code(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    outcome = Outcome({"create": [urn(HOST)]})
    for event in (failure_event(HOST), message_event("error", "HTTP 429", urn(HOST))):
        outcome.add_line(event)
    engines(FakeEngine(root, None, None, outcome))

    code, _, err = run_pic(capsys, "up", "--log-format", "json", "--quiet")

    words = f"1 resource failed; the others are done:\n{HOST} (rateLimited): HTTP 429"
    assert code == 6
    assert log_lines(err) == [
        line(
            "ERROR",
            "resource failed",
            ingress="prod/web",
            host=HOST,
            object=f"prod/{NAME}",
            operation="create",
            error="HTTP 429",
        ),
        line("ERROR", "reconcile failed", ingress="prod/web", error=f"{HOST}: HTTP 429"),
        line("ERROR", words, exit_code=6),
    ]


def test_a_notice_is_logged_once_with_its_fields(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [ingress("web", "*")])
    words = "* is not exposed: wildcards are not supported"
    warning_of_the_program = f"InvalidHost: Ingress prod/web: {words}"
    engines(FakeEngine(root, {}, None, Outcome(warnings=[warning_of_the_program])))

    assert log_lines(run_pic(capsys, "up", "--log-format", "json", "--quiet")[2]) == [
        line("WARN", "notice", reason="InvalidHost", ingress="prod/web", host="*", text=words)
    ]


def test_a_refusal_has_its_digest_as_a_field(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [], live_object(OLD))
    engines(FakeEngine(root, {}))

    code, out, err = run_pic(capsys, "destroy", "--log-format", "json")

    *before, last = log_lines(err)
    digest = last["msg"].split()[-1]
    assert (code, out, before) == (3, "", [READING])
    assert last == line("ERROR", last["msg"], exit_code=3, digest=digest)
    assert len(digest) == 12


def test_a_diff_that_would_be_refused_ends_with_the_reason(capsys: Capture, api: Api) -> None:
    fill_cluster(api, [], live_object(OLD))

    code, out, err = run_pic(capsys, "diff", "--quiet", "--log-format", "json", "--output", "json")

    message = f"the guard refuses these changes: The only live host would be removed: {OLD}."
    digest = json.loads(out)["digest"]
    assert code == 3
    assert log_lines(err) == [line("ERROR", message, exit_code=3, digest=digest)]


def test_a_refusal_that_cannot_be_acknowledged_has_no_digest(capsys: Capture) -> None:
    flags = ["--quiet", "--log-format", "json", "--config", "clusterId=other"]

    (last,) = log_lines(run_pic(capsys, "diff", *flags)[2])

    assert list(last) == ["level", "msg", "exit_code"]


def test_unexpected_changes_are_a_line_of_the_log(capsys: Capture) -> None:
    flags = ["--quiet", "--log-format", "json", "--expect-no-changes"]

    code, _, err = run_pic(capsys, "diff", *flags)

    message = (
        "there are changes: 1 host becomes public, 1 new host, 1 part of the register (0 live, 1"
        " planned)"
    )
    assert (code, log_lines(err)) == (7, [line("ERROR", message, exit_code=7)])


def test_wrong_usage_is_a_line_of_the_log(capsys: Capture) -> None:
    for words in (
        ["plan", "--log-format", "json", "--fly"],
        ["plan", "--fly", "--log-format=json"],
    ):
        code, out, err = run_pic(capsys, *words)

        assert (code, out) == (2, "")
        assert log_lines(err) == [line("ERROR", "pic: unrecognized arguments: --fly", exit_code=2)]


def test_an_unexpected_error_is_a_line_of_the_log(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    class Broken(FakeEngine):
        def create(self) -> None:
            raise ZeroDivisionError

    engines(Broken(root, None))

    code, out, err = run_pic(capsys, "up", "--quiet", "--log-format", "json")

    (last,) = log_lines(err)
    trace = last.pop("error").splitlines()
    assert (code, out, last) == (1, "", line("ERROR", "unexpected error", exit_code=1))
    assert (trace[0], trace[-1]) == ("Traceback (most recent call last):", "ZeroDivisionError")


@pytest.mark.parametrize("form", [None, "json"])
def test_progress_is_in_a_log_but_not_in_a_redirected_output(
    root: Path, capsys: Capture, form: str | None
) -> None:
    StackFile(root, "prod").merge({"clusterId": CLUSTER, "tunnelNamespaces": "."})

    err = run_pic(capsys, "plan", *(["--log-format", form] if form else []))[2]

    assert (log_lines(err) if form else err) == ([READING] if form else "")


def test_a_closed_terminal_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stderr", closed)

    assert main.main(["plan"], ENVIRONMENT) == 0
