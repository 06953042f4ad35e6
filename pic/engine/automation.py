"""Runs one operation on an existing stack through Pulumi's Automation API.

Before and after an operation the API selects the stack and reads its outputs and history, each with
a CLI process of its own. pic knows what it needs by then, so these calls are left out.
"""

import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import grpc
from pulumi import automation
from pulumi.automation import LocalWorkspace, OutputMap, PulumiCommand, UpdateSummary

from pic.core.errors import EngineError
from pic.engine.backend import run_records
from pic.engine.pulumi_command import Command

PARALLEL = 32  # steps at the same time: they wait for the API server, not for a processor
# Otherwise the engine and its plugins spend a third of their time on garbage collection.
GARBAGE_COLLECTION = {"GOGC": "800", "GOMEMLIMIT": "1GiB"}
# If this process has one of these variables, its value replaces pic's own.
OVERRIDES = ("GOGC", "GOMEMLIMIT", "KUBECONFIG", "PULUMI_PARALLEL")


@dataclass(frozen=True, slots=True)
class Automation:
    """The API over the project in a folder.

    Attributes:
        environment: The environment of this process.
        command: Starts the CLI.
        record: The record of the run, to which the supervisor adds the process of the CLI.
        parallel: How many steps the engine takes at the same time.
    """

    root: Path
    stack: str
    environment: Mapping[str, str]
    command: Command
    record: Path | None = None
    parallel: int = PARALLEL

    def run(self, operation: str, **arguments: object) -> None:
        """Run an operation to its end, whether it succeeds or fails.

        Args:
            operation: The name of a method of the API's Stack, such as `up`.
            arguments: The arguments of that method.

        Raises:
            EngineError: The CLI is too old.
            RuntimeError: The API does not know how a preview ended.
        """
        logging.getLogger("grpc._server").addFilter(_is_real_failure)
        try:
            getattr(_Stack(self.stack, self._workspace()), operation)(**arguments)
        except automation.InvalidVersionError as error:
            raise EngineError(str(error)) from error

    def _workspace(self) -> LocalWorkspace:
        return LocalWorkspace(
            work_dir=str(self.root),
            # It has the methods of a PulumiCommand that the API calls.
            pulumi_command=cast("PulumiCommand", self.command),
            env_vars={
                "PULUMI_SKIP_UPDATE_CHECK": "true",
                "PULUMI_SKIP_CHECKPOINTS": "true",
                "PULUMI_PARALLEL": str(self.parallel),
                "PULUMI_OPTION_REFRESH": "false",
                # A target that fails does not stop the others.
                "PULUMI_CONTINUE_ON_ERROR": "true",
                # The Python that the plugins of pic run on.
                "PIC_PYTHON": sys.executable,
                "PULUMI_OPTION_JSON": "true",
                "PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true",
                "PULUMI_EXPERIMENTAL": "",
                **({run_records.VARIABLE: str(self.record)} if self.record else {}),
                **GARBAGE_COLLECTION,
                **{key: value for key, value in self.environment.items() if key in OVERRIDES},
            },
        )


class _Stack(automation.Stack):
    """An existing stack that saves the calls that the API makes after an operation."""

    def __init__(self, name: str, workspace: LocalWorkspace) -> None:
        self.name = name
        self.workspace = workspace

    def outputs(self) -> OutputMap:
        """Return nothing: pic read the outputs before the run."""
        return {}

    def info(self, show_secrets: bool = True) -> UpdateSummary:  # noqa: ARG002, FBT001, FBT002
        """Return an empty summary: pic reads the events."""
        return UpdateSummary("update", datetime.now(UTC), "", {}, {}, "")


def _is_real_failure(record: logging.LogRecord) -> bool:
    """Say whether a failure in the program's server is more than the end of the engine.

    However a program ends, the SDK logs its last steps (`Cancelling 3 tasks`) to the engine. An
    engine that was interrupted or that failed no longer listens. So the call fails in the SDK's
    error handler, and gRPC prints it. Nothing is lost: the engine's events and its exit code say
    why a run ended.
    """
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, grpc.Call) and error.code() is grpc.StatusCode.UNAVAILABLE)
