"""Pulumi's Automation API, for one operation on a stack that is there.

The API's own calls before and after an operation, which select the stack and read its outputs and
history, each start a CLI; here nothing is asked.
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
from pic.engine.pulumi_command import Command

PARALLEL = "32"  # steps at once: they wait for the API server, not for a processor
# The engine and its plugins spend a third of their time on collecting garbage otherwise.
COLLECTING = {"GOGC": "800", "GOMEMLIMIT": "1GiB"}
# What of this process's environment goes over pic's own choice.
OWN = ("GOGC", "GOMEMLIMIT", "KUBECONFIG", "PULUMI_PARALLEL")


@dataclass(frozen=True, slots=True)
class Automation:
    """The API over the project in a folder.

    Attributes:
        environment: That of this process.
        command: Starts the CLI.
    """

    root: Path
    stack: str
    environment: Mapping[str, str]
    command: Command

    def run(self, operation: str, **arguments: object) -> None:
        """Run an operation to its end, however it ends.

        Args:
            operation: Such as `up`.
            arguments: What the API's method of that name takes.

        Raises:
            EngineError: The CLI is too old for it.
            RuntimeError: The API does not know how a preview ended.
        """
        logging.getLogger("grpc._server").addFilter(_is_news)
        try:
            getattr(_Stack(self.stack, self._workspace()), operation)(**arguments)
        except automation.InvalidVersionError as error:
            raise EngineError(str(error)) from error

    def _workspace(self) -> LocalWorkspace:
        return LocalWorkspace(
            work_dir=str(self.root),
            # It is called like one.
            pulumi_command=cast("PulumiCommand", self.command),
            env_vars={
                "PULUMI_SKIP_UPDATE_CHECK": "true",
                "PULUMI_SKIP_CHECKPOINTS": "true",
                "PULUMI_PARALLEL": PARALLEL,
                "PULUMI_OPTION_REFRESH": "false",
                # A target that fails does not stop the other one.
                "PULUMI_CONTINUE_ON_ERROR": "true",
                # What the plugin of Pi-hole runs on.
                "PIC_PYTHON": sys.executable,
                "PULUMI_OPTION_JSON": "true",
                "PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true",
                "PULUMI_EXPERIMENTAL": "",
                **COLLECTING,
                **{key: value for key, value in self.environment.items() if key in OWN},
            },
        )


class _Stack(automation.Stack):
    """A stack that is taken to be there, and of which nothing is asked after an operation."""

    def __init__(self, name: str, workspace: LocalWorkspace) -> None:
        self.name = name
        self.workspace = workspace

    def outputs(self) -> OutputMap:
        """Return nothing; what is needed is read once, before the run."""
        return {}

    def info(self, show_secrets: bool = True) -> UpdateSummary:  # noqa: ARG002, FBT001, FBT002
        """Return a summary of nothing; the events have told everything."""
        return UpdateSummary("update", datetime.now(UTC), "", {}, {}, "")


def _is_news(record: logging.LogRecord) -> bool:
    """Say whether what fails in the server of the program is more than an engine that is gone.

    However a program ends, the SDK logs its own last steps (as `Cancelling 3 tasks`) to the engine.
    An engine that was interrupted, or ended by a failure, hears no more, so that call fails in the
    SDK's error handler, and gRPC prints it. Nothing is lost: why a run ended is in the engine's
    events and its exit code.
    """
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, grpc.Call) and error.code() is grpc.StatusCode.UNAVAILABLE)
