"""Events at the Ingresses, also under a plain `pulumi up`."""

from tests.engine.stage import Stage


def test_an_ingress_is_told_what_becomes_of_its_hosts(stage: Stage) -> None:
    stage.ingress("web", "www", "old")
    stage.up()
    name = {
        word: f"{stage.name}/{stage.object(word)['metadata']['name']}" for word in ("www", "old")
    }
    www, old = stage.host("www"), stage.host("old")
    stage.ingress("web", "www", paths=["/", "/api"])
    stage.up()
    stage.up()

    assert stage.events() == [
        ("Normal", "Created", f"{old} is exposed by PangolinResource {name['old']}"),
        ("Normal", "Created", f"{www} is exposed by PangolinResource {name['www']}"),
        (
            "Normal",
            "Deleted",
            f"{old} is no longer exposed; deleted is PangolinResource {name['old']}",
        ),
        ("Normal", "Updated", f"{www} is changed in PangolinResource {name['www']}"),
    ]


def test_an_event_is_about_the_ingress_itself(stage: Stage) -> None:
    uid = stage.ingress("web", "www")["metadata"]["uid"]
    stage.up()

    (event,) = stage.cluster.all("Event", stage.name)

    assert event["involvedObject"] == {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "namespace": stage.name,
        "name": "web",
        "uid": uid,
    }


def test_an_adoption_is_no_event(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.events()
    stage.lose_state()

    answer = stage.up()

    assert answer.hosts("import") == {stage.host("www")}
    assert stage.events() == before


def test_events_can_be_turned_off(stage: Stage) -> None:
    stage.settings(events=False)
    stage.ingress("web", "www")

    assert stage.up().code == 0
    assert stage.events() == []
