"""The annotation with the hosts that Pi-hole has; a failure to write it never ends a run."""

import pytest

from pic.cluster import managed_hosts
from pic.cluster.listing import NETWORKING, StatusError
from pic.cluster.managed_hosts import HostsAnnotation
from pic.core.ingress import Ingress
from pic.core.model import Owner, Plan, Record
from pic.planning.dns_requests import MANAGED_HOSTS
from pic.settings.parse import Settings, TargetName

BOTH = Settings(targets=(TargetName.PANGOLIN, TargetName.PIHOLE))
WEB, API, OLD = (
    Ingress("prod", name, f"uid-{name}", annotations={MANAGED_HOSTS: hosts} if hosts else {})
    for name, hosts in (("web", ""), ("api", "api.lan"), ("old", "old.lan"))
)


def record(host: str, *ingresses: Ingress, ip: str = "10.0.0.1") -> Record:
    return Record(
        host, ip, tuple(Owner(owner.namespace, owner.name, owner.uid) for owner in ingresses)
    )


B = record("b.lan", WEB)
PLAN = Plan(records=(B, record("a.lan", WEB), record("a.lan", WEB, ip="fe80::1")))


class Api:
    """An API server that records requests, and refuses those for some Ingresses."""

    def __init__(self, **statuses: int) -> None:
        self.statuses = statuses
        self.requests: list[object] = []

    def get(self, path: str) -> object:
        raise AssertionError(path)

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        self.requests.append((method, path, body))
        name = path.rpartition("/")[2].partition("?")[0]
        if name in self.statuses:
            raise StatusError(self.statuses[name], f"no {name}")
        return {}


def test_only_annotations_that_differ_are_written() -> None:
    plan = Plan(records=(*PLAN.records, record("api.lan", API)))

    assert managed_hosts.stale_annotations([WEB, API, OLD], plan, BOTH) == (
        HostsAnnotation(WEB, ("a.lan", "b.lan")),
        HostsAnnotation(OLD, ()),
    )
    assert managed_hosts.stale_annotations([WEB], PLAN, BOTH, [B]) == (
        HostsAnnotation(WEB, ("a.lan",)),
    )


@pytest.mark.parametrize(
    "settings", [Settings(), Settings(targets=BOTH.targets, pihole_annotate=False)]
)
def test_no_annotation_is_written_if_the_settings_say_so(settings: Settings) -> None:
    assert managed_hosts.stale_annotations([WEB], PLAN, settings) == ()


def test_an_apply_sends_only_the_annotation_and_the_uid() -> None:
    api, lines = Api(), list[str]()

    managed_hosts.write_annotations(api, [HostsAnnotation(WEB, ("a.lan", "b.lan"))], lines.append)
    managed_hosts.write_annotations(api, [HostsAnnotation(OLD, ())], lines.append)

    assert lines == []
    assert api.requests == [
        (
            "APPLY",
            f"{NETWORKING}/namespaces/prod/ingresses/{name}?fieldManager=pic-pihole&force=true",
            {
                "apiVersion": "networking.k8s.io/v1",
                "kind": "Ingress",
                "metadata": {
                    "name": name,
                    "namespace": "prod",
                    "uid": f"uid-{name}",
                    "annotations": annotations,
                },
            },
        )
        for name, annotations in (("web", {MANAGED_HOSTS: "a.lan,b.lan"}), ("old", {}))
    ]


def test_a_refused_annotation_is_reported_unless_its_ingress_was_deleted() -> None:
    lines = list[str]()
    annotations = [HostsAnnotation(ingress, ()) for ingress in (WEB, API, OLD)]

    managed_hosts.write_annotations(Api(web=409, api=404), annotations, lines.append)
    managed_hosts.write_annotations(Api(web=403), annotations, lines.append)
    managed_hosts.write_annotations(Api(web=403, old=403), annotations, lines.append)

    problem = "cannot write pihole.io/managed-hosts: Ingress prod/web: no web"
    assert lines == [problem, f"{problem}, and 1 more"]
