"""What cannot be resolved now stays as it is: unchanged in the cluster, with a warning."""

import pytest

from tests.engine.answers import done
from tests.engine.stage import Stage


def test_a_host_whose_service_is_gone_stays_as_it_is(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()
    stage.cluster.delete("Service", stage.name, "app")

    assert stage.up() == done(
        warnings=[
            f"BackendNotFound: Ingress {stage.name}/web: the root path: there is no Service app in"
            f" {stage.name}"
        ]
    )
    assert stage.objects() == before


def test_a_host_whose_tunnel_is_gone_stays_as_it_is(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()
    stage.cluster.delete("PangolinTunnel", stage.name, "default")

    assert stage.up() == done(
        warnings=[
            f"TunnelNotFound: Ingress {stage.name}/web: there is no tunnel default in {stage.name}"
        ]
    )
    assert stage.objects() == before


@pytest.mark.parametrize(
    ("field", "effect"),
    [("sso", "login is asked for"), ("block-access", "access is blocked for everybody")],
)
def test_protection_that_becomes_unreadable_stays(field: str, effect: str, stage: Stage) -> None:
    annotation = f"pangolin.ingress.k8s.io/{field}"
    stage.ingress("web", "www", annotations={annotation: "true"})
    stage.up()
    before = stage.objects()
    stage.ingress("web", "www", annotations={annotation: "members only"})

    answer = stage.up()

    assert answer == done(
        warnings=[
            f"InvalidAnnotation: Ingress {stage.name}/web: {annotation} is 'members only', allowed"
            f" is true or false: {effect}"
        ],
        remarks=answer.remarks,
    )
    assert stage.objects() == before


def test_protection_is_given_at_once_to_a_host_that_is_held(stage: Stage) -> None:
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
