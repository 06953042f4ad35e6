"""What is written back to the Ingresses, and that it never fails a run."""

import pytest

from pic.cluster import managed_hosts
from pic.cluster.listing import NETWORKING, StatusError
from pic.cluster.managed_hosts import HostsAnnotation
from pic.core.model import (
    Ingress,
    Owner,
    Plan,
    Record,
)
from pic.planning.dns_records import MANAGED_HOSTS
from pic.settings.parse import Settings, TargetName

BOTH = Settings(targets=(TargetName.PANGOLIN, TargetName.PIHOLE))
WEB, API, OLD = (
    Ingress("prod", name, f"uid-{name}", annotations={MANAGED_HOSTS: hosts} if hosts else {})
    for name, hosts in (("web", ""), ("api", "api.lan"), ("old", "old.lan"))
)


def record(host: str, *ingresses: Ingress, ip: str = "10.0.0.1") -> Record:
    return Record(host, ip, tuple(Owner(each.namespace, each.name, each.uid) for each in ingresses))


B = record("b.lan", WEB)
PLAN = Plan(records=(B, record("a.lan", WEB), record("a.lan", WEB, ip="fe80::1")))


class Api:
    """An API server that keeps what it is asked, and refuses Ingresses by name."""

    def __init__(self, **refuses: int) -> None:
        self.refuses = refuses
        self.requests: list[object] = []

    def get(self, path: str) -> object:
        raise AssertionError(path)

    def request(self, method: str, path: str, body: object) -> object:
        self.requests.append((method, path, body))
        name = path.rpartition("/")[2].partition("?")[0]
        if name in self.refuses:
            raise StatusError(self.refuses[name], f"no {name}")
        return {}


def test_only_what_differs_is_written_and_what_has_no_host_any_more_is_not_annotated() -> None:
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
def test_nothing_is_written_where_that_is_not_wanted(settings: Settings) -> None:
    assert managed_hosts.stale_annotations([WEB], PLAN, settings) == ()


def test_only_the_annotation_of_that_very_ingress_is_applied() -> None:
    api, told = Api(), list[str]()

    managed_hosts.write_annotations(api, [HostsAnnotation(WEB, ("a.lan", "b.lan"))], told.append)
    managed_hosts.write_annotations(api, [HostsAnnotation(OLD, ())], told.append)

    assert told == []
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


def test_an_ingress_that_is_gone_is_nothing_to_tell_of_and_what_is_refused_is_told() -> None:
    notes, told = [HostsAnnotation(each, ()) for each in (WEB, API, OLD)], list[str]()

    managed_hosts.write_annotations(Api(web=409, api=404), notes, told.append)
    managed_hosts.write_annotations(Api(web=403), notes, told.append)
    managed_hosts.write_annotations(Api(web=403, old=403), notes, told.append)

    problem = "pihole.io/managed-hosts is not written: Ingress prod/web: no web"
    assert told == [problem, f"{problem}, and 1 more"]
