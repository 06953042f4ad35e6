"""Tests how pic runs the engine, and how it reads the answers of the CLI."""

import json
import re
import sys
from pathlib import Path

import grpc
import pytest
from pulumi.runtime.proto import events_pb2, events_pb2_grpc
from semver import VersionInfo

from pic.cluster.pinned import Pinned
from pic.core.command_result import CommandResult
from pic.core.errors import EngineError
from pic.engine.backend.state import StackState
from pic.engine.engine import Engine
from pic.engine.outcome import Failure, Outcome
from tests.support.deployed import A, state_resource, urn, wanted
from tests.support.events import event_line, failure_event, message_event, step_event
from tests.support.fake_cli import CliAnswer, FakeCli, empty_program, error_of, make_engine

ENVIRONMENT = {"PULUMI_SKIP_UPDATE_CHECK": "true"}
NO_STACK = "error: no stack named 'prod' found\n"
EVENT_LOG = re.compile(r"tcp://(.*)")


class PreviewCli(FakeCli):
    """A CLI that sends the summary event that the Automation API waits for in a preview."""

    def run(self, args: list[str], *others: object, **more: object) -> CommandResult:
        [address] = [match[1] for argument in args if (match := EVENT_LOG.match(argument))]
        summary = json.loads(
            event_line("summaryEvent", resourceChanges={"create": 1}, maybeCorrupt=False)
        )
        summary["summaryEvent"] |= {"durationSeconds": 1, "PolicyPacks": {}}
        event = events_pb2.EventRequest(event=json.dumps(summary))
        with grpc.insecure_channel(address) as channel:
            events_pb2_grpc.EventsStub(channel).StreamEvents(iter([event]))
        return super().run(args, *others, **more)  # type: ignore[arg-type]


def test_the_outputs_of_a_stack_are_read_in_the_folder_of_the_project() -> None:
    cli = FakeCli(CliAnswer('{"digest": "abc"}\n'), CliAnswer(""))

    assert make_engine(cli).outputs() == {"digest": "abc"}
    assert cli.command_lines == ["stack output --json --stack prod"]
    assert (cli.folder, cli.environment) == ("/project", ENVIRONMENT)
    assert make_engine(cli).outputs() == {}


def test_prefetched_outputs_are_used_once() -> None:
    cli = FakeCli(CliAnswer('{"digest": "abc"}\n'), CliAnswer('{"digest": "def"}\n'))
    engine = make_engine(cli)

    engine.prefetch_outputs()

    assert (engine.outputs(), engine.outputs()) == ({"digest": "abc"}, {"digest": "def"})


def test_a_missing_stack_has_no_outputs_and_an_empty_state() -> None:
    cli = FakeCli(CliAnswer(err=NO_STACK, code=6), CliAnswer(err=NO_STACK, code=6))

    assert make_engine(cli).outputs() is None
    assert make_engine(cli).state() == StackState()
    assert cli.command_lines[1] == "stack export --stack prod"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (CliAnswer(err="error: no such folder\n", code=255), "no such folder"),
        (CliAnswer(out="it is broken\n", code=1), "it is broken"),
        (
            CliAnswer("{"),
            "pulumi did not answer with JSON: Expecting property name enclosed in"
            " double quotes: line 1 column 2 (char 1)",
        ),
        (
            CliAnswer("[]"),
            "pulumi did not answer with JSON: the answer of pulumi is a list, not a map",
        ),
    ],
)
def test_a_backend_that_cannot_be_read_is_an_error(answer: CliAnswer, message: str) -> None:
    for read in (make_engine(FakeCli(answer)).outputs, make_engine(FakeCli(answer)).state):
        assert error_of(read) == (EngineError, message)


def test_the_state_is_read_from_the_export_of_the_stack() -> None:
    state_entry = state_resource(wanted(A))
    resource = {"urn": state_entry.urn, "type": "a:PangolinResource", "id": "prod/pic-a"}
    export = {"deployment": {"resources": [{**resource, "inputs": state_entry.inputs}]}}

    assert make_engine(FakeCli(CliAnswer(json.dumps(export)))).state() == StackState(
        {A: state_entry}
    )


def test_a_state_of_another_shape_is_an_error() -> None:
    assert error_of(make_engine(FakeCli(CliAnswer('{"deployment": 7}'))).state) == (
        EngineError,
        "the state of stack prod cannot be read: deployment is a number, not a map",
    )


def test_a_new_stack_is_not_selected() -> None:
    cli = FakeCli(CliAnswer(), CliAnswer(err="error: no access", code=255))

    make_engine(cli).create()

    assert cli.command_lines == ["stack init --no-select --stack prod"]
    assert error_of(make_engine(cli).create) == (EngineError, "no access")


def test_a_run_saves_its_state_once_and_reports_progress_for_each_event() -> None:
    events = [step_event("create", urn(A)), event_line("resOutputsEvent", metadata={})]
    cli = FakeCli(CliAnswer("\n".join(events)))
    progress: list[int] = []
    engine = Engine(
        Path("/project"),
        "prod",
        {"KUBECONFIG": "/config", "HOME": "/home"},
        lambda outcome: progress.append(outcome.done),
        cli,
    )

    outcome = engine.up(empty_program)

    assert (outcome, progress) == (Outcome({"create": [urn(A)]}, done=1), [0, 1])
    assert cli.command_lines == [
        "up --yes --skip-preview --client=HERE --exec-kind auto.inline --stack prod"
    ]
    assert (cli.folder, cli.environment) == (
        "/project",
        {
            "PULUMI_DEBUG_COMMANDS": "true",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_SKIP_CHECKPOINTS": "true",
            "PULUMI_PARALLEL": "32",
            "PULUMI_OPTION_REFRESH": "false",
            "PULUMI_CONTINUE_ON_ERROR": "true",
            "PIC_PYTHON": sys.executable,
            "PIC_RUN_RECORD": cli.environment["PIC_RUN_RECORD"],
            "PULUMI_OPTION_JSON": "true",
            "PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true",
            "PULUMI_EXPERIMENTAL": "",
            "GOGC": "800",
            "GOMEMLIMIT": "1GiB",
            "KUBECONFIG": "/config",
        },
    )


class KubeconfigCli(FakeCli):
    """A CLI that reads the kubeconfig of each operation."""

    kubeconfigs: list[tuple[Path, str]]

    def run(self, args: list[str], *others: object, **more: object) -> CommandResult:
        result = super().run(args, *others, **more)  # type: ignore[arg-type]
        if "KUBECONFIG" in self.environment:
            path = Path(self.environment["KUBECONFIG"])
            self.kubeconfigs = [*getattr(self, "kubeconfigs", ()), (path, path.read_text())]
        return result


def test_12_an_operation_gets_a_kubeconfig_with_the_pinned_context_alone() -> None:
    pinned = Pinned("here", {"server": "https://one.example.com"}, {"token": "t"})
    provider = {"type": "pulumi:providers:kubernetes", "inputs": {"context": "former"}}
    export = {"deployment": {"resources": [provider, {**provider, "inputs": {}}]}}
    cli = KubeconfigCli(CliAnswer(json.dumps(export)), CliAnswer(), CliAnswer())
    engine = make_engine(cli, {"KUBECONFIG": "/config"})
    engine.kubeconfig = pinned

    engine.state()
    engine.up(empty_program)
    engine.refresh([urn(A)])

    assert [text for _, text in cli.kubeconfigs] == [pinned.as_text({"former"})] * 2
    assert not any(path.parent.exists() for path, _ in cli.kubeconfigs)


def test_the_environment_can_set_the_number_of_parallel_steps() -> None:
    cli = FakeCli(CliAnswer())

    assert make_engine(cli, {"PULUMI_PARALLEL": "1"}).up(empty_program) == Outcome()
    assert cli.environment["PULUMI_PARALLEL"] == "1"


def test_a_refresh_reads_only_the_given_resources() -> None:
    cli = FakeCli(CliAnswer(step_event("refresh", urn(A))))

    assert make_engine(cli).refresh([urn(A), "urn:b"]) == Outcome({"refresh": [urn(A)]})
    assert cli.command_lines == [
        f"refresh --skip-preview --yes --run-program=false --target {urn(A)}"
        " --target urn:b --exec-kind auto.local --stack prod"
    ]


def test_a_destroy_runs_the_program_for_its_hooks() -> None:
    cli = FakeCli(CliAnswer(step_event("delete", urn(A))))

    assert make_engine(cli).destroy(empty_program) == Outcome({"delete": [urn(A)]})
    assert cli.command_lines == [
        "destroy --skip-preview --yes --run-program=true --client=HERE"
        " --exec-kind auto.inline --stack prod"
    ]


def test_an_engine_that_is_too_old_is_an_error() -> None:
    assert error_of(
        lambda: make_engine(FakeCli(version=VersionInfo(3, 100))).destroy(empty_program)
    ) == (
        EngineError,
        "The installed version of the CLI does not support this operation. Please upgrade to at"
        " least version 3.181.0.",
    )


def test_a_preview_returns_the_steps_that_up_would_take() -> None:
    cli = PreviewCli(CliAnswer(step_event("create", urn(A))))

    assert make_engine(cli).preview(empty_program) == Outcome({"create": [urn(A)]})
    assert cli.command_lines == [
        "preview --client=HERE --exec-kind auto.inline --event-log tcp://HERE --stack prod"
    ]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (CliAnswer(err="error: incorrect passphrase\n", code=255), "incorrect passphrase"),
        (CliAnswer(), "summary event never found"),
    ],
)
def test_a_preview_that_does_not_finish_is_an_error(answer: CliAnswer, message: str) -> None:
    assert error_of(lambda: make_engine(FakeCli(answer)).preview(empty_program)) == (
        EngineError,
        message,
    )


def test_failed_resources_are_returned_and_do_not_stop_the_others() -> None:
    events = [
        step_event("create", urn(A)),
        failure_event(A),
        message_event("error", "it is wrong", urn(A)),
    ]

    outcome = make_engine(FakeCli(CliAnswer("\n".join(events), code=255))).up(empty_program)

    assert outcome.failures == (Failure(A, "it is wrong"),)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            CliAnswer(
                "\n".join(
                    [message_event("error", "no cluster"), message_event("error", "no plan")]
                ),
                "also",
                255,
            ),
            "no cluster\nno plan",
        ),
        (CliAnswer(err="error: incorrect\npassphrase\n", code=255), "incorrect\npassphrase"),
        (CliAnswer(code=255), "the engine failed and gave no reason"),
    ],
)
def test_an_engine_that_fails_without_a_failed_resource_is_an_error(
    answer: CliAnswer, message: str
) -> None:
    assert error_of(lambda: make_engine(FakeCli(answer)).up(empty_program)) == (
        EngineError,
        message,
    )
