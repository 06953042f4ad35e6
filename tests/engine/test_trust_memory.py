"""Tests that no loss of what pic remembers loses or exposes a host."""

import json

import pytest

from pic.core.names import register_name
from pic.core.register import bucket_of
from tests.engine.policies import without_config_maps
from tests.engine.stage import Object, Stage

LOGIN = {"pangolin.ingress.k8s.io/sso": "true"}
UNCHANGED = "Nothing to do: everything is as it was deployed.\n"


def config_map(stage: Stage, word: str) -> str:
    """Return the name of the ConfigMap that remembers a host."""
    return register_name(stage.name, bucket_of(stage.host(word)))


def buckets(stage: Stage) -> dict[str, dict[str, str]]:
    """Return the data of the register by ConfigMap, without those of the cluster itself."""
    return {
        item["metadata"]["name"]: item["data"]
        for item in stage.cluster.all("ConfigMap", stage.name)
        if item["metadata"]["name"].startswith("pic-")
    }


def remembered(stage: Stage, word: str) -> Object:
    """Return what the register remembers of a host."""
    entry: Object = json.loads(buckets(stage)[config_map(stage, word)][stage.host(word)])
    return entry


def lose_register(stage: Stage) -> None:
    for name in buckets(stage):
        stage.cluster.delete("ConfigMap", stage.name, name)


def edit(stage: Stage, word: str, **values: object) -> None:
    """Edit what the register remembers of a host, as with `kubectl edit`."""
    entry = {**remembered(stage, word), **values}
    data = {stage.host(word): json.dumps(entry)}
    stage.cluster.patch("ConfigMap", stage.name, config_map(stage, word), {"data": data})


@pytest.fixture
def deployed(stage: Stage) -> Stage:
    """Provide a stage with a protected and a public host, and another namespace."""
    stage.add_namespace()
    stage.ingress("web", "www", annotations=LOGIN)
    stage.ingress("app", "app")
    assert stage.pic("up").code == 0
    return stage


def check_unchanged(stage: Stage, before: list[Object], *, warning: str = "") -> None:
    """Check that one run changes no host, and the next one has nothing to do."""
    answer = stage.pic("up")
    assert (answer.code, stage.objects()) == (0, before), answer
    assert warning in answer.err
    assert stage.pic("up").out == UNCHANGED


def test_the_register_has_one_readable_line_for_each_host(deployed: Stage) -> None:
    entry = remembered(deployed, "www")

    assert entry.pop("since").endswith("Z")
    assert entry == {
        "namespace": deployed.name,
        "source": "Ingress/web",
        "tunnel": f"{deployed.name}/default",
        "login": True,
        "serial": 1,
    }


def test_a_lost_register_is_written_again(deployed: Stage) -> None:
    before, entry = deployed.objects(), remembered(deployed, "www")
    lose_register(deployed)

    check_unchanged(deployed, before, warning="RegisterMissing")

    again = remembered(deployed, "www")
    assert {**again, "since": entry["since"]} == {**entry, "serial": again["serial"]}


def test_a_lost_state_changes_no_host(deployed: Stage) -> None:
    before = deployed.objects()
    deployed.lose_state()

    check_unchanged(deployed, before)


def test_a_lost_state_and_a_lost_register_change_no_host(deployed: Stage) -> None:
    before = deployed.objects()
    deployed.lose_state()
    lose_register(deployed)

    check_unchanged(deployed, before, warning="RegisterMissing")
    assert remembered(deployed, "www")["login"] is True


def test_a_login_stays_although_register_and_state_are_lost(deployed: Stage) -> None:
    deployed.lose_state()
    lose_register(deployed)
    deployed.ingress("web", "www")

    held = deployed.pic("up")

    assert held.code == 8, held
    assert deployed.object("www")["spec"]["httpConfig"]["sso"] is True


def test_a_register_of_an_old_backup_loses_no_login(deployed: Stage) -> None:
    backup = buckets(deployed)
    deployed.ingress("app", "app", annotations=LOGIN)
    assert deployed.pic("up").code == 0
    for name, data in backup.items():
        deployed.cluster.patch("ConfigMap", deployed.name, name, {"data": data})
    before = deployed.objects()

    check_unchanged(deployed, before, warning="RegisterStale")

    assert remembered(deployed, "app")["login"] is True


def test_an_edited_register_gives_no_host_away_and_no_login_up(deployed: Stage) -> None:
    other = deployed.namespaces[1]
    before = deployed.objects()
    deployed.ingress("web", "www", namespace=other)
    edit(deployed, "www", namespace=other, login=False)

    answer = deployed.pic("up")

    assert (answer.code, deployed.objects()) == (0, before), answer
    assert deployed.objects(other) == []
    assert (remembered(deployed, "www")["namespace"], remembered(deployed, "www")["login"]) == (
        deployed.name,
        True,
    )


def test_a_register_that_is_no_json_is_written_again(deployed: Stage) -> None:
    before = deployed.objects()
    data = {deployed.host("www"): "{"}
    deployed.cluster.patch("ConfigMap", deployed.name, config_map(deployed, "www"), {"data": data})

    check_unchanged(deployed, before, warning="RegisterStale")
    assert remembered(deployed, "www")["login"] is True


def test_a_namespace_that_forbids_the_register_blocks_no_host(deployed: Stage) -> None:
    other = deployed.namespaces[1]
    deployed.settings(registerNamespace=other)
    deployed.ingress("new", "new")

    with without_config_maps(deployed, other):
        answer = deployed.pic("up")

    assert answer.code == 6, answer
    assert "register-" in answer.err
    assert deployed.host("new") in deployed.identities()


def test_04_an_object_without_a_host_does_not_spoil_the_register(deployed: Stage) -> None:
    name = deployed.object("app")["metadata"]["name"]
    broken = {"spec": {"httpConfig": None, "enabled": False}}
    deployed.cluster.patch("PangolinResource", deployed.name, name, broken)
    deployed.pulumi("refresh", "--yes", "--skip-preview", "--run-program")
    deployed.cluster.patch("PangolinResource", deployed.name, name, broken)
    # Without its register, pic asks the state.
    lose_register(deployed)

    assert deployed.pic("up").code == 0
    assert remembered(deployed, "app")["namespace"] == deployed.name
    assert deployed.pic("up").code == 0
