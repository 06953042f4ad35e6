"""Builds what a deployment leaves: planned resources, live objects, a state and a situation."""

from pathlib import Path

from pic.cluster.listing import Transport
from pic.core.model import HttpConfig, LiveResource, Owner, Plan, Resource, Snapshot, Spec, Target
from pic.core.names import labels
from pic.engine.backend.state import StackState, StateResource
from pic.planning import changes as comparing
from pic.planning.memory import recall
from pic.planning.ownership import Ownership
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.run.targets.pangolin import declaration
from pic.settings.parse import Settings

STACK = "pic.prod"
OURS = Ownership(STACK)
CLUSTER = "cluster-1"
URN = "urn:pulumi:prod::pic::"
TYPE = "kubernetes:tunnel.pangolin.io/v1alpha1:PangolinResource"
OWNER = Owner("prod", "web", "uid-1")
A, B, C = "a.example.com", "b.example.com", "c.example.com"


def urn(host: str) -> str:
    return f"{URN}pulumi:pulumi:Stack${TYPE}::{host}"


def wanted(host: str, namespace: str = "prod", *, sso: bool = False) -> Resource:
    """Return the resource that is planned for a host."""
    subdomain, _, domain = host.partition(".")
    spec = Spec(
        enabled=True,
        name=host,
        http=HttpConfig(domain, subdomain, sso=sso, block_access=False),
        targets=(Target("web", 80),),
    )
    resource_labels = labels(STACK, namespace, "web", "uid-1")
    return Resource(host, namespace, f"pic-{subdomain}", (OWNER,), resource_labels, spec)


def make_live(resource: Resource) -> LiveResource:
    """Return the live object of a deployed resource."""
    return LiveResource(
        resource.namespace,
        resource.name,
        f"uid-of-{resource.name}",
        resource.host,
        resource.labels,
        resource.owners,
        resource.spec,
    )


def state_resource(resource: Resource) -> StateResource:
    """Return the entry of a deployed resource in the state."""
    inputs = declaration.declaration(resource, Settings()).inputs
    return StateResource(urn(resource.host), resource.key, inputs)


def make_state(*resources: Resource) -> StackState:
    """Return the state after a deployment of these resources."""
    return StackState({resource.host: state_resource(resource) for resource in resources})


class UnusedTransport(Transport):
    """A transport that fails a test which uses it."""

    def get(self, path: str) -> object:
        raise AssertionError(path)

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        raise AssertionError(method, path, body)


def make_situation(
    live: tuple[LiveResource, ...], planned: tuple[Resource, ...], settings: Settings | None = None
) -> Situation:
    """Return a situation with these live objects and these planned resources."""
    config = StackConfig(settings or Settings(cluster_id=CLUSTER), STACK, OURS, ())
    snapshot, plan = Snapshot(CLUSTER, live=live), Plan(planned)
    memory = recall(snapshot, OURS, config.settings)
    changes = comparing.between(snapshot, plan, STACK, memory)
    return Situation(config, UnusedTransport(), snapshot, plan, changes)


def write_executable(path: Path, text: str) -> Path:
    """Write an executable file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
