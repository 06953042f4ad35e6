"""`--log-format`: what the verbs say on standard error as lines of a log."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from pic.cli import main
from pic.engine.outcome import Outcome
from pic.settings.stack_file import StackFile
from tests.support.api import (
    CLUSTER,
    Api,
    fill_cluster,
    ingress,
    live_object,
)
from tests.support.deployed import urn
from tests.support.deploying import (
    CREATED,
    MAKING,
    NAME,
    OLD,
    Capture,
    Use,
)
from tests.support.fakes import HOST, FakeEngine, run_pic
from tests.unit.engine.test_outcome import failed, said

pytestmark = pytest.mark.usefixtures("api")


def logged(text: str) -> list[dict[str, Any]]:
    """The lines of a JSON log, without their times."""
    found = [json.loads(line) for line in text.splitlines()]
    for each in found:
        assert each.pop("time").endswith("Z")
    return found


def line(level: str, msg: str, **fields: object) -> dict[str, object]:
    return {"level": level, "msg": msg, **fields}


CREATED_LINE = line(
    "INFO", "resource created", ingress="prod/web", host=HOST, object=f"prod/{NAME}"
)
READING, DEPLOYING = line("INFO", "reading the cluster"), line("INFO", "deploying")


def test_up_logs_each_thing_that_it_did_and_keeps_its_output(
    root: Path, capsys: Capture, engines: Use
) -> None:
    making = Outcome({"create": [urn(HOST)]}, warnings=["take care"])
    engines(FakeEngine(root, None, None, making))

    code, out, err = run_pic(capsys, "up", "--log-format", "json")

    assert (code, out) == (0, f"{CREATED}Done: 1 created.\n")
    assert logged(err) == [READING, DEPLOYING, line("WARN", "take care"), CREATED_LINE]


def test_a_debug_log_begins_with_the_ingresses_that_something_is_done_for(
    root: Path, capsys: Capture, engines: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOG_LEVEL", "debug")
    engines(FakeEngine(root, None, None, MAKING))

    assert logged(run_pic(capsys, "up", "--log-format=json", "--quiet")[2]) == [
        line("DEBUG", "reconcile started", ingress="prod/web"),
        CREATED_LINE,
    ]


def test_a_person_is_told_each_thing_where_debugging_is_asked_for(
    root: Path, capsys: Capture, engines: Use
) -> None:
    engines(FakeEngine(root, None, None, MAKING))

    assert run_pic(capsys, "up", "--config", "logLevel=debug") == (
        0,
        f"{CREATED}Done: 1 created.\n",
        "pic: reconcile started ingress=prod/web\n"
        f"pic: resource created ingress=prod/web host={HOST} object=prod/{NAME}\n",
    )


def test_an_error_log_is_silent_where_all_is_well(
    root: Path, capsys: Capture, engines: Use
) -> None:
    StackFile(root, "prod").merge({"logLevel": "error"})
    engines(FakeEngine(root, None, None, MAKING))

    assert run_pic(capsys, "up", "--log-format", "text")[2] == ""


def test_a_text_log_has_one_line_for_each_thing(root: Path, capsys: Capture, engines: Use) -> None:
    engines(FakeEngine(root, None, None, MAKING))

    err = run_pic(capsys, "up", "--log-format", "text", "--quiet")[2]

    assert err.partition(" ")[2] == (
        f"INFO resource created ingress=prod/web host={HOST} object=prod/{NAME}\n"
    )


def test_failures_are_lines_and_the_end_has_the_exit_code(
    root: Path, capsys: Capture, engines: Use
) -> None:
    outcome = Outcome({"create": [urn(HOST)]})
    for event in (failed(HOST), said("error", "HTTP 429", urn(HOST))):
        outcome.add_line(event)
    engines(FakeEngine(root, None, None, outcome))

    code, _, err = run_pic(capsys, "up", "--log-format", "json", "--quiet")

    words = f"1 resources failed; the others are done:\n{HOST} (rateLimited): HTTP 429"
    assert code == 6
    assert logged(err) == [
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


def test_a_notice_is_told_once_and_in_its_fields(
    root: Path, capsys: Capture, engines: Use, api: Api
) -> None:
    fill_cluster(api, [ingress("web", "*")])
    words = "* is not exposed: wildcards are not supported"
    said_by_the_program = f"InvalidHost: Ingress prod/web: {words}"
    engines(FakeEngine(root, {}, None, Outcome(warnings=[said_by_the_program])))

    assert logged(run_pic(capsys, "up", "--log-format", "json", "--quiet")[2]) == [
        line("WARN", "notice", reason="InvalidHost", ingress="prod/web", host="*", text=words)
    ]


def test_a_refusal_has_its_digest_as_a_field(
    root: Path, capsys: Capture, engines: Use, api: Api
) -> None:
    fill_cluster(api, [], live_object(OLD))
    engines(FakeEngine(root, {}))

    code, out, err = run_pic(capsys, "destroy", "--log-format", "json")

    *before, last = logged(err)
    digest = last["msg"].split()[-1]
    assert (code, out, before) == (3, "", [READING])
    assert last == line("ERROR", last["msg"], exit_code=3, digest=digest)
    assert len(digest) == 12


def test_a_diff_that_would_be_refused_ends_with_the_reason(capsys: Capture, api: Api) -> None:
    fill_cluster(api, [], live_object(OLD))

    code, out, err = run_pic(capsys, "diff", "--quiet", "--log-format", "json", "--output", "json")

    message = (
        f"the guard refuses this: The plan has no hosts, and 1 of 1 hosts would be removed: {OLD}."
    )
    digest = json.loads(out)["digest"]
    assert code == 3
    assert logged(err) == [line("ERROR", message, exit_code=3, digest=digest)]


def test_a_refusal_that_nothing_lets_through_has_no_digest(capsys: Capture) -> None:
    flags = ["--quiet", "--log-format", "json", "--config", "clusterId=other"]

    (last,) = logged(run_pic(capsys, "diff", *flags)[2])

    assert list(last) == ["level", "msg", "exit_code"]


def test_changes_that_are_not_expected_are_a_line_of_the_log(capsys: Capture) -> None:
    flags = ["--quiet", "--log-format", "json", "--expect-no-changes"]

    code, _, err = run_pic(capsys, "diff", *flags)

    message = "there are changes: 1 host becomes public, 1 new host (0 live, 1 planned)"
    assert (code, logged(err)) == (7, [line("ERROR", message, exit_code=7)])


def test_wrong_usage_is_a_line_of_the_log(capsys: Capture) -> None:
    for words in (
        ["plan", "--log-format", "json", "--fly"],
        ["plan", "--fly", "--log-format=json"],
    ):
        code, out, err = run_pic(capsys, *words)

        assert (code, out) == (2, "")
        assert logged(err) == [line("ERROR", "pic: unrecognized arguments: --fly", exit_code=2)]


def test_what_nobody_expects_is_a_line_of_the_log(
    root: Path, capsys: Capture, engines: Use
) -> None:
    class Broken(FakeEngine):
        def create(self) -> None:
            raise ZeroDivisionError

    engines(Broken(root, None))

    code, out, err = run_pic(capsys, "up", "--quiet", "--log-format", "json")

    (last,) = logged(err)
    trace = last.pop("error").splitlines()
    assert (code, out, last) == (1, "", line("ERROR", "unexpected error", exit_code=1))
    assert (trace[0], trace[-1]) == ("Traceback (most recent call last):", "ZeroDivisionError")


@pytest.mark.parametrize("form", [None, "json"])
def test_progress_is_for_a_terminal_and_for_a_log(
    root: Path, capsys: Capture, form: str | None
) -> None:
    StackFile(root, "prod").merge({"clusterId": CLUSTER})

    err = run_pic(capsys, "plan", *(["--log-format", form] if form else []))[2]

    assert (logged(err) if form else err) == ([READING] if form else "")


def test_a_terminal_that_is_gone_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = io.StringIO()
    gone.close()
    monkeypatch.setattr("sys.stderr", gone)

    assert main.main(["plan"]) == 0
