"""Runs programs against Pulumi's mocks, as the language host would, and keeps what they asked."""

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

# The hooks that every program registers; the state has their names, so they stay for ever.
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
]
STACK = "pulumi:pulumi:Stack"
# What says where in the sources a resource is made, and what every request says alike.
NOISE = {
    *("sourcePosition", "stackTrace", "propertyDependencies", "parent", "custom"),
    *("acceptSecrets", "acceptResources", "supportsPartialValues", "supportsResultReporting"),
}


class _NoError(grpc.RpcError):  # type: ignore[misc]
    """The engine's no, as the connection to it puts it."""

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.INVALID_ARGUMENT

    def details(self) -> str:
        return "the engine says no"


class _Monitor(mocks.MockMonitor):
    """Keeps the requests themselves; every resource becomes what its inputs say.

    Without the library's own deserialising, which leaves event loops open behind it.
    """

    def __init__(self, seen: "Seen", refuses: str) -> None:
        super().__init__(mocks=None)  # type: ignore[arg-type]
        self.seen = seen
        self.refuses = refuses

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the engine's word
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == STACK:
            return proto.RegisterResourceResponse(urn=urn)
        if request.name == self.refuses:
            raise _NoError
        told = MessageToDict(request)
        kept = {key: value for key, value in told.items() if key not in NOISE}
        self.seen.resources.append({"urn": urn, **kept})
        return proto.RegisterResourceResponse(urn=urn, id=request.name, object=request.object)

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the engine's word
        self.seen.outputs.update(MessageToDict(request.outputs))
        return empty_pb2.Empty()

    def RegisterResourceHook(self, request: Any) -> Any:  # noqa: N802 - the engine's word
        self.seen.hooks.append(request.name)
        return empty_pb2.Empty()


@dataclass
class Seen:
    """What a program registered, exported and logged, and the error it ended with."""

    resources: list[dict[str, Any]] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    hooks: list[str] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    error: Exception | None = None

    @property
    def names(self) -> list[str]:
        return [each["name"] for each in self.resources]


class _Log(logging.Handler):
    def __init__(self, seen: Seen) -> None:
        super().__init__(logging.INFO)
        self.seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.log.append((record.levelname, record.getMessage()))


def run(
    program: Callable[[], Awaitable[None] | None],
    configuration: Mapping[str, str] | None = None,
    *,
    preview: bool = False,
    refuses: str = "",
) -> Seen:
    """Run a program to the end of all that it registers, on an event loop of its own.

    An error of the program is caught inside, so that pending registrations are waited for as well:
    they would come through, had the program begun them before it failed. The engine refuses to
    register the resource that is named.
    """
    seen = Seen()

    async def caught() -> None:
        try:
            result = program()
            if result is not None:
                await result
        except Exception as error:  # noqa: BLE001 - the test compares it
            seen.error = error

    values = dict(configuration or {})
    monitor = _Monitor(seen, refuses)
    try:
        contextvars.copy_context().run(_run, caught, monitor, values, preview=preview)
    except Exception as error:  # noqa: BLE001 - of what comes after the program's own code
        seen.error = error
    return seen


def _run(
    program: Callable[[], Awaitable[None]],
    monitor: _Monitor,
    values: dict[str, str],
    *,
    preview: bool,
) -> None:
    logger = logging.Logger("pulumi")  # noqa: LOG001 - one of its own for each run
    logger.addHandler(_Log(monitor.seen))
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
