"""Tests what an explanation of a host says, by the trail of its plan."""

from dataclasses import replace

import pytest

from pic.core.ingress import Ingress
from pic.core.model import Snapshot
from pic.core.sources import Ending
from pic.core.unread import Unreadable
from pic.planning import changes as comparing
from pic.planning.annotations import LEGACY_CLASS, PREFIX
from pic.planning.explanation import Explainer, Explanation
from pic.planning.memory import recall
from pic.planning.trail import FullTrail
from pic.report import explanation as report
from pic.settings.parse import Settings
from tests.support.memories import OURS, entry
from tests.support.tenants import STACK, cluster, ingress, live, plan, settled

A, B, C = "a.example.com", "b.example.com", "c.example.com"
LIVE = [live(A, sso=True)]


def explainer(snapshot: Snapshot, settings: Settings | None = None) -> Explainer:
    settings, trail = settings or settled(), FullTrail()
    memory = recall(snapshot, OURS, settings)
    planned = plan(snapshot, settings, trail=trail)
    changes = comparing.between(snapshot, planned, STACK, memory)
    return Explainer(snapshot, settings, planned, changes, trail, memory.register.hosts)


def explained(*ingresses: Ingress, host: str = A, **settings: object) -> Explanation:
    return explainer(cluster(ingresses), settled(**settings)).explain(host)


def facts(explanation: Explanation) -> dict[str, tuple[str, str]]:
    return {fact.name: (fact.value, fact.origin) for fact in explanation.facts}


def test_an_ingress_that_cannot_be_read_says_only_that() -> None:
    broken = Unreadable("Ingress", "prod", "web", "spec must be a map", uid="uid-prod-web")
    snapshot = replace(cluster([], LIVE, [entry(A, sso=True)]), unreadable=(broken,))

    explanation = explainer(snapshot).explain(A)

    (claimant,) = explanation.claimants
    assert (explanation.ending, explanation.stop.message) == (Ending.HELD, "spec must be a map")
    assert (claimant.facts, explanation.facts, explanation.paths) == ((), (), ())


@pytest.mark.parametrize(
    ("web", "origin"),
    [
        (replace(ingress(A), class_name=""), "default class"),
        (
            replace(ingress(A), class_name="", annotations={LEGACY_CLASS: "pangolin"}),
            f"annotation {LEGACY_CLASS}",
        ),
    ],
)
def test_the_class_says_where_it_comes_from(web: Ingress, origin: str) -> None:
    explanation = explained(web, ingress_classes=("", "pangolin"))

    (claimant,) = explanation.claimants
    assert [(it.name, it.value, it.origin) for it in claimant.facts] == [
        ("class", "pangolin", origin)
    ]


def test_annotations_are_named_however_they_are_spelt() -> None:
    web = ingress(A, enabled="true", backend_scheme="https")
    alike = {**web.annotations, "pangolin.io/sso": "true"}

    explanation = explained(replace(web, annotations=alike))

    (claimant,) = explanation.claimants
    assert [(it.name, it.value) for it in claimant.facts][1:] == [("enabled", "true")]
    assert facts(explanation)["sso"] == ("true", f"another spelling of {PREFIX}sso at prod/web")
    (path,) = explanation.paths
    assert path.scheme_origin == f"annotation {PREFIX}backend-scheme"


def test_a_tunnel_that_cannot_be_used_is_named() -> None:
    explanation = explained(ingress(A, tunnel_name="not a tunnel"))

    origin = f"annotation {PREFIX}tunnel-name"
    assert facts(explanation)["tunnel"] == ("not a tunnel (cannot be used)", origin)


def test_a_path_without_a_backend_says_why() -> None:
    snapshot = replace(cluster([ingress(A)]), services=())

    explanation = explainer(snapshot).explain(A)

    (path,) = explanation.paths
    assert path.problem.endswith("Service web does not exist in namespace prod")
    assert path.problem in report.render(explanation, [])


def test_a_deployment_says_what_it_does_to_an_object() -> None:
    other = replace(live(B), spec=replace(live(B).spec, enabled=False))
    last = replace(live(C), spec=replace(live(C).spec, protocol="tcp"))
    ingresses = [ingress(A, namespace="team"), ingress(B, C)]
    snapshot = cluster(ingresses, [live(A), other, last], [entry(A), entry(B), entry(C)])

    every = explainer(snapshot, settled(host_policy={"team": (A,), "prod": ("*.example.com",)}))

    assert every.explain(A).change == "a deployment moves it"
    assert every.explain(B).change == "a deployment changes spec.enabled"
    assert every.explain(B).live == other
    assert every.explain(C).change == "a deployment changes spec.protocol"


def test_an_object_as_planned_and_a_host_that_is_gone_are_said() -> None:
    settings = settled()
    kept = explainer(cluster([ingress(A)], [live(A)], [entry(A)]), settings)
    gone = explainer(cluster([], [], [entry(A, gone="2026-01-01T00:00:00Z")]), settings)

    assert report.as_json(kept.explain(A), None)["stoppedBy"] is None
    assert "guard        lets it through" in report.render(kept.explain(A), [])
    assert "gone at 2026-01-01T00:00:00Z" in report.render(gone.explain(A), [])


def test_an_ignored_ingress_says_what_stopped_it() -> None:
    other = replace(ingress(A), class_name="nginx")
    every = explainer(cluster([other]))
    source = every.source(other.key)

    assert source
    assert every.hosts_of(source) == [A]
    assert report.render_source(source).splitlines()[0] == "Ingress prod/web is ignored"
    assert "stopped by   OtherClass" in report.render_source(source)
    assert every.source(("prod", "none")) is None
