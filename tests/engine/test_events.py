"""Tests the Events of Ingresses, also with a plain `pulumi up`."""

from pic.planning.annotations import NAMES, PREFIX
from tests.engine.stage import PicRun, Stage


def test_events_report_what_happens_to_the_hosts_of_an_ingress(stage: Stage) -> None:
    stage.ingress("web", "www", "old")
    stage.up()
    keys = {
        word: f"{stage.name}/{stage.object(word)['metadata']['name']}" for word in ("www", "old")
    }
    www, old = stage.host("www"), stage.host("old")
    stage.ingress("web", "www", paths=["/", "/api"])
    stage.up()
    stage.up()

    assert stage.events() == [
        ("Normal", "Created", f"{old} is exposed by PangolinResource {keys['old']}"),
        ("Normal", "Created", f"{www} is exposed by PangolinResource {keys['www']}"),
        (
            "Normal",
            "Deleted",
            f"{old} is no longer declared: deleted PangolinResource {keys['old']}",
        ),
        ("Normal", "Updated", f"{www} is changed in PangolinResource {keys['www']}"),
    ]


def test_an_event_refers_to_its_ingress(stage: Stage) -> None:
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


def test_an_adoption_posts_no_event(stage: Stage) -> None:
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


def warnings(stage: Stage) -> list[tuple[str, str]]:
    """Return the reason and the message of each warning Event."""
    return [(reason, text) for kind, reason, text in stage.events() if kind == "Warning"]


def unknown_annotation(stage: Stage, word: str, more: str = "") -> tuple[str, str]:
    known = f"known are {', '.join(NAMES)} (its hosts: {stage.host('www')})"
    message = f"{PREFIX}{word} is not a known annotation; {known}{more}"
    return "UnknownAnnotation", message


def test_kubectl_describe_shows_a_warning_once_with_its_age_and_source(stage: Stage) -> None:
    stage.ingress("web", "www", annotations={f"{PREFIX}one-odd-word": "x"})
    stage.up()

    description = stage.plane.kubectl("describe", "ingress", "web", "--namespace", stage.name)

    [line] = [row.split() for row in description.splitlines() if "Warning" in row]
    kind, reason, age, source, *message = line
    assert (kind, (reason, " ".join(message)), source) == (
        "Warning",
        unknown_annotation(stage, "one-odd-word"),
        "pic",
    )
    # The age must be seconds or minutes, not `<unknown>` or `(x2 over 3s)`.
    assert age[0].isdigit()


def test_a_warning_is_posted_once_until_its_text_changes(stage: Stage) -> None:
    stage.ingress("web", "www", annotations={f"{PREFIX}one-odd-word": "x"})
    stage.up()
    stage.up()
    once = warnings(stage)
    stage.ingress("web", "www", annotations={f"{PREFIX}{key}": "x" for key in ("zz-odd", "aa-odd")})
    stage.up()

    assert once == [unknown_annotation(stage, "one-odd-word")]
    assert warnings(stage) == [
        unknown_annotation(stage, "aa-odd", " … and 1 more: run pic plan"),
        *once,
    ]


def test_pic_up_does_not_repeat_a_warning_that_has_expired(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.pic("up")
    stage.ingress("web", "www", annotations={f"{PREFIX}one-odd-word": "x"})

    first, second = stage.pic("up"), stage.pic("up")
    # The API server deletes Events after an hour.
    for event in stage.event_objects():
        stage.cluster.delete("Event", stage.name, event["metadata"]["name"])
    third = stage.pic("up")

    assert first.out == "Done: nothing changed.\n"
    assert second == third == PicRun(0, "Nothing to do: everything is as it was deployed.\n", "")
    assert warnings(stage) == []
