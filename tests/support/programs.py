"""Provides what the tests of the Pulumi program share."""

from collections.abc import Callable
from typing import TypeAlias

from pic.core.errors import EngineError
from pic.engine.backend.state import StackState, StateRecord, StateResource
from pic.engine.engine import Engine
from tests.support.api import CLUSTER, REMEMBERING
from tests.support.deployed import urn
from tests.support.engine import ProgramRun

# A stack that is bound to the cluster of the fake API server.
BOUND = {f"pic:{name}": value for name, value in {"clusterId": CLUSTER, **REMEMBERING}.items()}
RunProgram: TypeAlias = Callable[..., ProgramRun]


class StateEngine(Engine):
    """An engine that only returns the state of the stack.

    Attributes:
        keys: Namespace and name of the objects in the state.
        records: The hosts of the records in the state, without a marker.
        error: If not empty, the message of the error that reading the state raises.
        exists: Whether the stack exists.
    """

    def __init__(self) -> None:
        self.keys: list[tuple[str, str]] = []
        self.records: list[str] = []
        self.error = ""
        self.exists = True

    def find_state(self) -> StackState | None:
        if self.error:
            raise EngineError(self.error)
        if not self.exists:
            return None
        return StackState(
            {name: StateResource(urn(name), (space, name), {}) for space, name in self.keys},
            records={f"{host}/A": StateRecord("urn", host, "") for host in self.records},
        )
