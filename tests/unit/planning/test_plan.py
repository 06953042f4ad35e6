"""Tests what a plan adopts and which labels it sets."""

from pic.core.ingress import Ingress, IngressPath, PathType, Rule, ServiceBackend
from pic.core.model import (
    HttpConfig,
    LiveResource,
    Owner,
    Plan,
    Resource,
    Snapshot,
    Spec,
    Target,
    TunnelRef,
)
from pic.core.names import label_value, labels, object_name
from pic.planning.ownership import Ownership
from pic.run.targets import build_plan
from pic.settings.parse import Settings, TargetName

HOST = "app.example.com"
WEB = Ingress(
    "prod",
    "web",
    "uid-1",
    class_name="pangolin",
    rules=(Rule(HOST, (IngressPath("/", PathType.PREFIX, ServiceBackend("web", 80)),)),),
)
NAME = object_name("prod", "web", HOST)


def resource(name: str, stack: str, *, adopts: bool) -> Resource:
    return Resource(
        HOST,
        "prod",
        name,
        (Owner("prod", "web", "uid-1"),),
        labels(stack, "prod", "web", "uid-1"),
        Spec(
            enabled=True,
            name=HOST,
            protocol="http",
            tunnel=TunnelRef("default"),
            http=HttpConfig("example.com", "app", sso=False, block_access=False),
            targets=(Target("web.prod.svc.cluster.local", 80, "http"),),
        ),
        adopts=adopts,
    )


def live(name: str, host: str = HOST) -> LiveResource:
    return LiveResource("prod", name, "u", host, labels("pic.prod", "prod", "web", "uid-1"))


def planned(*objects: LiveResource, stack: str = "pic.prod") -> Plan:
    snapshot = Snapshot(ingresses=(WEB,), live=objects)
    return build_plan(snapshot, Settings(), stack, Ownership(label_value(stack)))


def test_an_empty_snapshot_gives_an_empty_plan() -> None:
    both = Settings(targets=(TargetName.PANGOLIN, TargetName.PIHOLE))

    assert build_plan(Snapshot(), both, "pic.prod", Ownership("pic.prod")) == Plan()


def test_a_new_host_adopts_nothing() -> None:
    assert planned() == Plan((resource(NAME, "pic.prod", adopts=False),))


def test_a_live_object_of_ours_is_adopted_under_its_name() -> None:
    assert planned(live("old")) == Plan((resource("old", "pic.prod", adopts=True),))


def test_a_live_object_of_ours_with_the_planned_name_is_adopted_whatever_its_host() -> None:
    assert planned(live(NAME, "edited.example.com")) == Plan(
        (resource(NAME, "pic.prod", adopts=True),)
    )


def test_a_long_stack_name_is_a_legal_label() -> None:
    stack = f"pic.{'s' * 80}"

    assert planned(stack=stack) == Plan((resource(NAME, label_value(stack), adopts=False),))
