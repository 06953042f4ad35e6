"""Events at the Ingresses, also under a plain `pulumi up`."""

from pic.planning.annotations import NAMES, PREFIX
from tests.engine.stage import PicRun, Stage


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
            f"{old} is no longer declared: deleted PangolinResource {name['old']}",
        ),
        ("Normal", "Updated", f"{www} is changed in PangolinResource {name['www']}"),
    ]


def test_an_event_is_about_the_ingress_itself(stage: Stage) -> None:
    uid = stage.ingress("web", "www")["metadata"]["uid"]
    stage.up()

    (event,) = stage.event_objects()

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


def warned(stage: Stage) -> list[tuple[str, str]]:
    """Reason and message of the warnings that the API server has."""
    return [(reason, text) for kind, reason, text in stage.events() if kind == "Warning"]


def unknown(word: str, more: str = "") -> tuple[str, str]:
    names = ", ".join(NAMES)
    message = f"{PREFIX}{word} is not a known annotation; known are {names}{more}"
    return "UnknownAnnotation", message


def test_kubectl_describe_shows_a_warning_once_with_its_age_and_who_tells_it(stage: Stage) -> None:
    stage.ingress("web", "www", annotations={f"{PREFIX}one-odd-word": "x"})
    stage.up()

    described = stage.plane.kubectl("describe", "ingress", "web", "--namespace", stage.name)

    [line] = [it.split() for it in described.splitlines() if "Warning" in it]
    kind, reason, age, teller, *message = line
    assert (kind, (reason, " ".join(message)), teller) == (
        "Warning",
        unknown("one-odd-word"),
        "pic",
    )
    # A number of seconds or minutes, and not `<unknown>`, or `(x2 over 3s)`.
    assert age[0].isdigit()


def test_a_warning_is_told_once_until_its_text_is_another(stage: Stage) -> None:
    stage.ingress("web", "www", annotations={f"{PREFIX}one-odd-word": "x"})
    stage.up()
    stage.up()
    once = warned(stage)
    stage.ingress("web", "www", annotations={f"{PREFIX}{key}": "x" for key in ("zz-odd", "aa-odd")})
    stage.up()

    assert once == [unknown("one-odd-word")]
    assert warned(stage) == [unknown("aa-odd", " … and 1 more: run pic plan"), *once]


def test_pic_up_remembers_what_it_has_told(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.pic("up")
    stage.ingress("web", "www", annotations={f"{PREFIX}one-odd-word": "x"})

    first, second = stage.pic("up"), stage.pic("up")
    for each in stage.event_objects():
        stage.cluster.delete("Event", stage.name, each["metadata"]["name"])
    third = stage.pic("up")

    assert first.out == "Done: nothing had to be changed.\n"
    assert second == third == PicRun(0, "Nothing to do: everything is as it was deployed.\n", "")
    # As after the hour for which the API server keeps them.
    assert warned(stage) == []
