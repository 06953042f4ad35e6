"""The engine as it is asked, and what its answers and its end are taken for."""

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from pulumi.runtime.proto import events_pb2, events_pb2_grpc
from semver import VersionInfo

from pic.core.command_result import CommandResult
from pic.core.errors import EngineError, PicError
from pic.engine.backend.state import StackState
from pic.engine.engine import Engine
from pic.engine.outcome import Failure, Outcome
from pic.engine.pulumi_command import Command, OnOutput
from tests.support.deployed import (
    A,
    remembered,
    urn,
    wanted,
)
from tests.unit.engine.test_outcome import (
    begun,
    failed,
    line,
    said,
)

ASKING = {"PULUMI_SKIP_UPDATE_CHECK": "true"}
NO_STACK = "error: no stack named 'prod' found\n"
INTERRUPTED = "interrupted: the engine has stopped and saved what was done. Run again to finish"
EVENT_LOG = re.compile(r"tcp://(.*)")


@dataclass(frozen=True)
class Says:
    """How one start of the CLI ends."""

    out: str = ""
    err: str = ""
    code: int = 0
    interrupted: bool = False


class Cli(Command):
    """Answers as it is told, one answer for each start, and keeps what it was asked."""

    def __init__(self, *answers: Says, version: VersionInfo | None = None) -> None:
        self.answers = list(answers)
        self.interrupted = False
        self.code = 0
        self.version = version or VersionInfo(3, 274, 1)
        self.asked: list[str] = []
        self.environment: Mapping[str, str] = {}
        self.folder = ""

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
    ) -> CommandResult:
        answer = self.answers.pop(0)
        self.asked.append(re.sub(r"127\.0\.0\.1:\d+", "HERE", " ".join(args)))
        self.environment, self.folder = additional_env, cwd
        self.code, self.interrupted = answer.code, answer.interrupted
        for told, words in ((on_output, answer.out), (on_error, answer.err)):
            for each in words.splitlines() if told else ():
                told(each)  # type: ignore[misc]
        return CommandResult(answer.code, answer.out, answer.err)


class Previewing(Cli):
    """Sends the summary of a preview where the Automation API waits for it."""

    def run(self, args: list[str], *others: object, **more: object) -> CommandResult:
        [address] = [found[1] for each in args if (found := EVENT_LOG.match(each))]
        summary = json.loads(
            line("summaryEvent", resourceChanges={"create": 1}, maybeCorrupt=False)
        )
        summary["summaryEvent"] |= {"durationSeconds": 1, "PolicyPacks": {}}
        event = events_pb2.EventRequest(event=json.dumps(summary))
        with grpc.insecure_channel(address) as channel:
            events_pb2_grpc.EventsStub(channel).StreamEvents(iter([event]))
        return super().run(args, *others, **more)  # type: ignore[arg-type]


def engine(cli: Cli, environment: Mapping[str, str] | None = None) -> Engine:
    return Engine(Path("/project"), "prod", environment or {}, command=cli)


def refused(act: Callable[[], object]) -> tuple[type[PicError], str]:
    with pytest.raises(PicError) as caught:
        act()
    return type(caught.value), str(caught.value)


def nothing() -> None:
    """A program that declares nothing."""


def test_the_outputs_of_a_stack_are_asked_for_in_the_projects_folder() -> None:
    cli = Cli(Says('{"digest": "abc"}\n'), Says(""))

    assert engine(cli).outputs() == {"digest": "abc"}
    assert cli.asked == ["stack output --json --stack prod"]
    assert (cli.folder, cli.environment) == ("/project", ASKING)
    assert engine(cli).outputs() == {}


def test_outputs_can_be_asked_for_ahead_once() -> None:
    cli = Cli(Says('{"digest": "abc"}\n'), Says('{"digest": "def"}\n'))
    made = engine(cli)

    made.ask_ahead()

    assert (made.outputs(), made.outputs()) == ({"digest": "abc"}, {"digest": "def"})


def test_a_stack_that_is_not_there_has_no_outputs_and_no_memory() -> None:
    cli = Cli(Says(err=NO_STACK, code=6), Says(err=NO_STACK, code=6))

    assert engine(cli).outputs() is None
    assert engine(cli).state() == StackState()
    assert cli.asked[1] == "stack export --stack prod"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Says(err="error: no such folder\n", code=255), "no such folder"),
        (Says(out="it is broken\n", code=1), "it is broken"),
        (
            Says("{"),
            "pulumi did not answer with JSON: Expecting property name enclosed in"
            " double quotes: line 1 column 2 (char 1)",
        ),
        (
            Says("[]"),
            "pulumi did not answer with JSON: the answer of pulumi is a list, not a"
            " map",
        ),
    ],
)
def test_a_backend_that_cannot_be_read_is_an_error(answer: Says, message: str) -> None:
    for ask in (engine(Cli(answer)).outputs, engine(Cli(answer)).state):
        assert refused(ask) == (EngineError, message)


def test_the_state_is_what_the_engine_exports() -> None:
    known = remembered(wanted(A))
    entry = {"urn": known.urn, "type": "a:PangolinResource", "id": "prod/pic-a"}
    export = {"deployment": {"resources": [{**entry, "inputs": known.inputs}]}}

    assert engine(Cli(Says(json.dumps(export)))).state() == StackState({A: known})


def test_a_state_of_another_shape_is_an_error() -> None:
    assert refused(engine(Cli(Says('{"deployment": 7}'))).state) == (
        EngineError,
        "the state of stack prod cannot be read: deployment is a number, not a map",
    )


def test_a_stack_is_made_without_being_selected() -> None:
    cli = Cli(Says(), Says(err="error: no access", code=255))

    engine(cli).create()

    assert cli.asked == ["stack init --no-select --stack prod"]
    assert refused(engine(cli).create) == (EngineError, "no access")


def test_a_run_saves_its_state_once_and_tells_of_each_event() -> None:
    events = [begun("create", urn(A)), line("resOutputsEvent", metadata={})]
    cli = Cli(Says("\n".join(events)))
    told: list[int] = []
    made = Engine(
        Path("/project"),
        "prod",
        {"KUBECONFIG": "/config", "HOME": "/home"},
        lambda outcome: told.append(outcome.done),
        cli,
    )

    outcome = made.up(nothing)

    assert (outcome, told) == (Outcome({"create": [urn(A)]}, done=1), [0, 1])
    assert cli.asked == [
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
            "PULUMI_OPTION_JSON": "true",
            "PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true",
            "PULUMI_EXPERIMENTAL": "",
            "GOGC": "800",
            "GOMEMLIMIT": "1GiB",
            "KUBECONFIG": "/config",
        },
    )


def test_how_much_the_engine_does_at_once_can_be_set() -> None:
    cli = Cli(Says())

    assert engine(cli, {"PULUMI_PARALLEL": "1"}).up(nothing) == Outcome()
    assert cli.environment["PULUMI_PARALLEL"] == "1"


def test_a_refresh_reads_only_what_it_is_told_to() -> None:
    cli = Cli(Says(begun("refresh", urn(A))))

    assert engine(cli).refresh([urn(A), "urn:b"]) == Outcome({"refresh": [urn(A)]})
    assert cli.asked == [
        f"refresh --skip-preview --yes --run-program=false --target {urn(A)}"
        " --target urn:b --exec-kind auto.local --stack prod"
    ]


def test_a_destroy_has_the_program_for_its_hooks() -> None:
    cli = Cli(Says(begun("delete", urn(A))))

    assert engine(cli).destroy(nothing) == Outcome({"delete": [urn(A)]})
    assert cli.asked == [
        "destroy --skip-preview --yes --run-program=true --client=HERE"
        " --exec-kind auto.inline --stack prod"
    ]


def test_an_engine_that_is_too_old_is_an_error() -> None:
    assert refused(lambda: engine(Cli(version=VersionInfo(3, 100))).destroy(nothing)) == (
        EngineError,
        "The installed version of the CLI does not support this operation. Please upgrade to at"
        " least version 3.181.0.",
    )


def test_a_preview_says_what_would_be_done() -> None:
    cli = Previewing(Says(begun("create", urn(A))))

    assert engine(cli).preview(nothing) == Outcome({"create": [urn(A)]})
    assert cli.asked == [
        "preview --client=HERE --exec-kind auto.inline --event-log tcp://HERE --stack prod"
    ]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Says(err="error: incorrect passphrase\n", code=255), "incorrect passphrase"),
        (Says(), "summary event never found"),
    ],
)
def test_a_preview_that_comes_to_no_end_is_an_error(answer: Says, message: str) -> None:
    assert refused(lambda: engine(Cli(answer)).preview(nothing)) == (EngineError, message)


def test_resources_that_failed_are_returned_for_the_others_are_done() -> None:
    events = [begun("create", urn(A)), failed(A), said("error", "it is wrong", urn(A))]

    outcome = engine(Cli(Says("\n".join(events), code=255))).up(nothing)

    assert outcome.failures == (Failure(A, "it is wrong"),)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            Says("\n".join([said("error", "no cluster"), said("error", "no plan")]), "also", 255),
            "no cluster\nno plan",
        ),
        (Says(err="error: incorrect\npassphrase\n", code=255), "incorrect\npassphrase"),
        (Says(code=255), "the engine failed and gave no reason"),
    ],
)
def test_an_engine_that_could_not_do_its_work_says_why(answer: Says, message: str) -> None:
    assert refused(lambda: engine(Cli(answer)).up(nothing)) == (EngineError, message)
