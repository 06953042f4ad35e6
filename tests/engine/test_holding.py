"""Tests that a host whose sources cannot be resolved stays unchanged, with a warning."""

import pytest

from tests.engine.answers import succeeded
from tests.engine.stage import Stage


def its_host(stage: Stage) -> str:
    """Return what a warning about the whole Ingress says about its host."""
    return f" (its hosts: {stage.host('www')})"


def test_a_host_without_its_service_stays_unchanged(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()
    stage.cluster.delete("Service", stage.name, "app")

    assert stage.up() == succeeded(
        warnings=[
            f"BackendNotFound: Ingress {stage.name}/web: {stage.host('www')}: path /"
            " (spec.rules[0].http.paths[0]): Service app does not exist in namespace"
            f" {stage.name}"
        ]
    )
    assert stage.objects() == before


def test_a_host_without_its_tunnel_stays_unchanged(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()
    stage.cluster.delete("PangolinTunnel", stage.name, "default")

    assert stage.up() == succeeded(
        warnings=[
            f"TunnelNotFound: Ingress {stage.name}/web: PangolinTunnel default does not exist in"
            f" namespace {stage.name}: create it, or correct the name{its_host(stage)}"
        ]
    )
    assert stage.objects() == before


@pytest.mark.parametrize(
    ("field", "effect"),
    [("sso", "pic requires a login"), ("block-access", "pic blocks all access")],
)
def test_a_protection_that_becomes_unreadable_stays_in_force(
    field: str, effect: str, stage: Stage
) -> None:
    annotation = f"pangolin.ingress.k8s.io/{field}"
    stage.ingress("web", "www", annotations={annotation: "true"})
    stage.up()
    before = stage.objects()
    stage.ingress("web", "www", annotations={annotation: "members only"})

    answer = stage.up()

    assert answer == succeeded(
        warnings=[
            f"InvalidAnnotation: Ingress {stage.name}/web: {annotation} is 'members only', but"
            f" must be true or false: {effect}{its_host(stage)}"
        ],
        remarks=answer.remarks,
    )
    assert stage.objects() == before


def test_a_held_host_gets_a_new_protection_at_once(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.object("www")["spec"]
    stage.cluster.delete("Service", stage.name, "app")
    stage.ingress("web", "www", annotations={"pangolin.ingress.k8s.io/sso": "true"})

    answer = stage.up()

    assert (answer.code, answer.steps) == (0, (("update", stage.host("www")),))
    assert stage.object("www")["spec"] == {
        **before,
        "httpConfig": {**before["httpConfig"], "sso": True},
    }
