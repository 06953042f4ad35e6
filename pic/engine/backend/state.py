"""Parses the state of a stack from the JSON of `pulumi stack export`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.json_values import Raw, mapping, sequence, text
from pic.core.model import KIND, PUBLIC_TYPE, RECORD_TYPE
from pic.run import register
from pic.run.targets.pangolin_api.declaration import OBJECT

STACK_TYPE = "pulumi:pulumi:Stack"
PROVIDER_TYPE = "pulumi:providers:kubernetes"


@dataclass(frozen=True, slots=True)
class StateResource:
    """A PangolinResource in the state, or a resource in Pangolin itself.

    Attributes:
        urn: The name of the resource in the engine.
        key: Namespace and name of its object, or of what the register calls its host.
        inputs: The object as the last deployment declared it.
        published: The id of a resource in Pangolin itself; 0 for an object in the cluster.
    """

    urn: str
    key: tuple[str, str]
    inputs: Raw
    published: int = 0

    @property
    def identity(self) -> int | tuple[str, str]:
        """The same as that of its live resource."""
        return self.published or self.key


@dataclass(frozen=True, slots=True)
class StateRecord:
    """A DNS record in the state.

    Attributes:
        urn: The name of the resource in the engine.
        host: As the last deployment declared it, like `ip`.
    """

    urn: str
    host: str
    ip: str
    marker: str = ""


@dataclass(frozen=True, slots=True)
class StackState:
    """The state of a stack: its resources, outputs and records.

    Attributes:
        resources: By host.
        records: By id, such as `app.example.com/A`.
        buckets: The URN of the ConfigMap of each bucket of the register, by its digit.
        contexts: The contexts of a kubeconfig that the Kubernetes providers name.
    """

    resources: Mapping[str, StateResource] = field(default_factory=dict)
    outputs: Raw = field(default_factory=dict)
    records: Mapping[str, StateRecord] = field(default_factory=dict)
    buckets: Mapping[str, str] = field(default_factory=dict)
    contexts: frozenset[str] = frozenset()

    @property
    def unmarked_hosts(self) -> frozenset[str]:
        """The hosts of the records that pic made without a marker of the stack."""
        return frozenset(record.host for record in self.records.values() if not record.marker)

    @property
    def identities(self) -> frozenset[int | tuple[str, str]]:
        """What all resources are known by: an id in Pangolin, or namespace and name."""
        return frozenset(resource.identity for resource in self.resources.values())


def read(export: Raw) -> StackState:
    """Read the JSON of an export; a stack that was never deployed has an empty state.

    Raises:
        MalformedError: It has another shape.
    """
    deployment = mapping(export.get("deployment") or {}, "deployment")
    listed = sequence(deployment.get("resources") or [], "resources")
    # A resource that waits for its deletion has a successor with the same URN, so it is left out.
    entries = [entry for item in listed if not (entry := mapping(item, "resource")).get("delete")]
    resources = {
        text(entry.get("urn")).rpartition("::")[2]: _resource(entry)
        for entry in entries
        if text(entry.get("type")).endswith(f":{KIND}") or entry.get("type") == PUBLIC_TYPE
    }
    records = {
        text(entry.get("id")): _record(entry)
        for entry in entries
        if entry.get("type") == RECORD_TYPE
    }
    stack = next((entry for entry in entries if entry.get("type") == STACK_TYPE), {})
    urns = [text(entry.get("urn")) for entry in entries if entry.get("type") == register.TYPE]
    return StackState(
        resources,
        mapping(stack.get("outputs") or {}, "outputs"),
        records,
        buckets={urn[-1]: urn for urn in urns},
        contexts=frozenset(_contexts(listed)),
    )


def _contexts(listed: Sequence[object]) -> Iterator[str]:
    # A provider that waits for its deletion still deletes the objects that it had created.
    for item in listed:
        entry = mapping(item, "resource")
        if entry.get("type") == PROVIDER_TYPE:
            inputs = mapping(entry.get("inputs") or {}, "inputs")
            if name := text(inputs.get("context")):
                yield name


def _record(entry: Raw) -> StateRecord:
    outputs = mapping(entry.get("outputs") or {}, "outputs")
    host, ip = text(outputs.get("host")), text(outputs.get("ip"))
    return StateRecord(text(entry.get("urn")), host, ip, text(outputs.get("marker")))


def _resource(entry: Raw) -> StateResource:
    inputs = mapping(entry.get("inputs") or {}, "inputs")
    is_public, number = entry.get("type") == PUBLIC_TYPE, text(entry.get("id"))
    name = text(inputs.get(OBJECT)) if is_public else number
    published = int(number) if is_public and number.isdecimal() else 0
    namespace, _, name = name.partition("/")
    return StateResource(text(entry.get("urn")), (namespace, name), inputs, published)
