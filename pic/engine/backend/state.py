"""What the engine remembers of a stack, read from `pulumi stack export`. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pic.core.json_values import (
    Raw,
    mapping,
    sequence,
    text,
)
from pic.core.model import KIND, RECORD_TYPE


@dataclass(frozen=True, slots=True)
class Remembered:
    """A PangolinResource in the state.

    Attributes:
        urn: Names it in the engine.
        key: Namespace and name of its object.
        inputs: The object as it was last declared.
    """

    urn: str
    key: tuple[str, str]
    inputs: Raw


@dataclass(frozen=True, slots=True)
class RememberedRecord:
    """A DNS record in the state.

    Attributes:
        urn: Names it in the engine.
        host: As it was last declared, as is `ip`.
    """

    urn: str
    host: str
    ip: str


@dataclass(frozen=True, slots=True)
class StackState:
    """What a stack has, and its outputs.

    Attributes:
        resources: By host.
        records: By id, such as `app.example.com/A`.
    """

    resources: Mapping[str, Remembered] = field(default_factory=dict)
    outputs: Raw = field(default_factory=dict)
    records: Mapping[str, RememberedRecord] = field(default_factory=dict)

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        """Namespaces and names of all objects."""
        return frozenset(each.key for each in self.resources.values())


def read(export: Raw) -> StackState:
    """Read the JSON of an export; a stack that was never deployed remembers nothing.

    Raises:
        MalformedError: It has another shape.
    """
    deployment = mapping(export.get("deployment") or {}, "deployment")
    listed = sequence(deployment.get("resources") or [], "resources")
    entries = [mapping(each, "resource") for each in listed]
    found = {
        text(each.get("urn")).rpartition("::")[2]: _remembered(each)
        for each in entries
        # What waits for its deletion after a replacement has a successor of the same URN.
        if text(each.get("type")).endswith(f":{KIND}") and not each.get("delete")
    }
    stack = next((each for each in entries if each.get("type") == "pulumi:pulumi:Stack"), {})
    records = {
        text(each.get("id")): _record(each)
        for each in entries
        if each.get("type") == RECORD_TYPE and not each.get("delete")
    }
    return StackState(found, mapping(stack.get("outputs") or {}, "outputs"), records)


def _record(entry: Raw) -> RememberedRecord:
    outputs = mapping(entry.get("outputs") or {}, "outputs")
    host, ip = text(outputs.get("host")), text(outputs.get("ip"))
    return RememberedRecord(text(entry.get("urn")), host, ip)


def _remembered(entry: Raw) -> Remembered:
    namespace, _, name = text(entry.get("id")).partition("/")
    inputs = mapping(entry.get("inputs") or {}, "inputs")
    return Remembered(text(entry.get("urn")), (namespace, name), inputs)
