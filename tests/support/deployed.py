"""What was deployed: planned resources, the objects they became, and the engine's memory."""

from pathlib import Path

from pic.cluster.listing import Transport
from pic.core.model import (
    HttpConfig,
    LiveResource,
    Owner,
    Plan,
    Resource,
    Snapshot,
    Spec,
    Target,
)
from pic.core.names import labels
from pic.engine.backend.state import Remembered, StackState
from pic.planning import changes
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
    subdomain, _, domain = host.partition(".")
    spec = Spec(
        enabled=True,
        name=host,
        http=HttpConfig(domain, subdomain, sso=sso, block_access=False),
        targets=(Target("web", 80),),
    )
    marks = labels(STACK, namespace, "web", "uid-1")
    return Resource(host, namespace, f"pic-{subdomain}", (OWNER,), marks, spec)


def live(resource: Resource) -> LiveResource:
    """The object that a resource has become."""
    return LiveResource(
        resource.namespace,
        resource.name,
        f"uid-of-{resource.name}",
        resource.host,
        resource.labels,
        resource.owners,
        resource.spec,
    )


def remembered(resource: Resource) -> Remembered:
    inputs = declaration.declaration(resource, Settings()).inputs
    return Remembered(urn(resource.host), resource.key, inputs)


def state(*resources: Resource) -> StackState:
    return StackState({each.host: remembered(each) for each in resources})


class NoApi(Transport):
    """A way to a cluster that nobody asks."""

    def get(self, path: str) -> object:
        raise AssertionError(path)

    def request(self, method: str, path: str, body: object) -> object:
        raise AssertionError(method, path, body)


def situation(
    there: tuple[LiveResource, ...], plan: tuple[Resource, ...], settings: Settings | None = None
) -> Situation:
    """What a run finds when these objects are live and these resources are planned."""
    asked = StackConfig(settings or Settings(cluster_id=CLUSTER), STACK, OURS, ())
    snapshot, planned = Snapshot(CLUSTER, live=there), Plan(plan)
    found = changes.between(snapshot, planned, STACK, OURS)
    return Situation(asked, NoApi(), snapshot, planned, found)


def write(path: Path, text: str) -> Path:
    """Write a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
