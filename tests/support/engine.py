"""Runs Pulumi programs against mocks of the engine, and records what they register."""

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import empty_pb2
from google.protobuf.json_format import MessageToDict
from pulumi.runtime import config, mocks, settings, stack
from pulumi.runtime.proto import resource_pb2 as proto

from pic.run import register

# The hooks that every program registers. States store their names, so they never change.
HOOKS = [
    "pic:after-create",
    "pic:before-update",
    "pic:after-update",
    "pic:before-delete",
    "pic:after-delete",
    "pic:pihole-after-create",
    "pic:pihole-after-update",
    "pic:pihole-before-delete",
    "pic:pihole-after-delete",
    "pic:public-after-create",
    "pic:public-after-update",
    "pic:public-before-delete",
    "pic:public-after-delete",
]
STACK = "pulumi:pulumi:Stack"
# Fields of a request that name a place in the sources, or that are the same in every request.
NOISE = {
    *("sourcePosition", "stackTrace", "propertyDependencies", "parent", "custom"),
    *("acceptSecrets", "acceptResources", "supportsPartialValues", "supportsResultReporting"),
}


class _RefusalError(grpc.RpcError):  # type: ignore[misc]
    """The refusal of the engine, as the SDK gets it."""

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.INVALID_ARGUMENT

    def details(self) -> str:
        return "the engine says no"


class _Monitor(mocks.MockMonitor):
    """Records the requests, and answers each with its inputs as outputs.

    It does not use the library's own deserialising, which leaves event loops open.
    """

    def __init__(self, result: "ProgramRun", refuses: str, fails: str) -> None:
        super().__init__(mocks=None)  # type: ignore[arg-type]
        self.result = result
        self.refuses = refuses
        self.fails = fails

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name in the protocol
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == STACK:
            return proto.RegisterResourceResponse(urn=urn)
        self.result.order.append(request.name)
        if request.name == self.refuses:
            raise _RefusalError
        fields = MessageToDict(request).items()
        relevant = {"urn": urn, **{key: value for key, value in fields if key not in NOISE}}
        is_register = request.type == register.TYPE
        (self.result.register if is_register else self.result.resources).append(relevant)
        return proto.RegisterResourceResponse(
            urn=urn,
            id=request.name,
            object=request.object,
            result=proto.FAIL if request.name == self.fails else proto.SUCCESS,
        )

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the name in the protocol
        self.result.outputs.update(MessageToDict(request.outputs))
        return empty_pb2.Empty()

    def RegisterResourceHook(self, request: Any) -> Any:  # noqa: N802 - the name in the protocol
        self.result.hooks.append(request.name)
        return empty_pb2.Empty()


@dataclass
class ProgramRun:
    """What a program registered, exported and logged, and the error it ended with.

    Attributes:
        register: The ConfigMaps of the register. They are in no other list.
        order: The names of everything that was registered, as it was registered.
    """

    resources: list[dict[str, Any]] = field(default_factory=list)
    register: list[dict[str, Any]] = field(default_factory=list)
    order: list[str] = field(default_factory=list, compare=False)
    outputs: dict[str, Any] = field(default_factory=dict)
    hooks: list[str] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    error: Exception | None = None

    @property
    def names(self) -> list[str]:
        """The names of the resources, as they were registered."""
        return [resource["name"] for resource in self.resources]


class _Log(logging.Handler):
    def __init__(self, result: ProgramRun) -> None:
        super().__init__(logging.INFO)
        self.result = result

    def emit(self, record: logging.LogRecord) -> None:
        self.result.log.append((record.levelname, record.getMessage()))


def run(
    program: Callable[[], Awaitable[None] | None],
    configuration: Mapping[str, str] | None = None,
    *,
    preview: bool = False,
    refuses: str = "",
    fails: str = "",
) -> ProgramRun:
    """Run a program until all its registrations have ended, in an event loop of its own.

    An error of the program is caught inside it, so that pending registrations still end. A program
    that registers resources and then fails must show both.

    Args:
        program: The body of the program.
        configuration: The configuration of the stack.
        preview: Whether this is a preview.
        refuses: The name of the resource that the engine refuses.
        fails: The name of the resource that the engine cannot write.
    """
    result = ProgramRun()

    async def catching() -> None:
        try:
            pending = program()
            if pending is not None:
                await pending
        except Exception as error:  # noqa: BLE001 - the test compares it
            result.error = error

    values = dict(configuration or {})
    monitor = _Monitor(result, refuses, fails)
    try:
        contextvars.copy_context().run(_run, catching, monitor, values, preview=preview)
    except Exception as error:  # noqa: BLE001 - the SDK failed after the program
        result.error = error
    return result


def _run(
    program: Callable[[], Awaitable[None]],
    monitor: _Monitor,
    values: dict[str, str],
    *,
    preview: bool,
) -> None:
    logger = logging.Logger("pulumi")  # noqa: LOG001 - each run has its own
    logger.addHandler(_Log(monitor.result))
    settings.configure(
        mocks.MockSettings(  # type: ignore[no-untyped-call]
            monitor=monitor,
            monitor_features=set(),
            engine=mocks.MockEngine(logger),
            project="pic",
            stack="prod",
            dry_run=preview,
            callbacks=None,
        )
    )
    settings.ROOT.set(None)
    config.set_all_config(values)
    asyncio.run(stack.run_in_stack(program))
