"""Tests the resident watcher, with the real engine and a real API server."""

import json

import pytest

from pic.engine.automation import PARALLEL
from tests.engine.stage import SECONDS, Stage
from tests.engine.watcher import Watcher, watching
from tests.support.waiting import until


def until_live(stage: Stage, *words: str) -> None:
    hosts = sorted(map(stage.host, words))
    until(
        lambda: sorted(it["spec"]["name"] for it in stage.objects()) == hosts,
        f"objects for {hosts}",
        SECONDS,
    )


def until_idle(watcher: Watcher) -> None:
    """Wait until every run that started has ended."""
    until(
        lambda: sum("Done:" in it or "Nothing to do" in it for it in watcher.lines) == watcher.runs,
        f"the runs have ended: {watcher.lines}",
        SECONDS,
    )


def test_an_ingress_gets_an_object_that_is_repaired_and_later_deleted(stage: Stage) -> None:
    stage.ingress("web", "www")

    with watching(stage) as watcher:
        until_live(stage, "www")
        stage.ingress("api", "api")
        until_live(stage, "www", "api")
        until_idle(watcher)
        live = stage.object("api")
        wrong = {"spec": {"enabled": False}}
        stage.cluster.patch("PangolinResource", stage.name, live["metadata"]["name"], wrong)
        until(
            lambda: stage.object("api")["spec"] == live["spec"], "the object is repaired", SECONDS
        )
        stage.delete_ingress("api")
        until(
            lambda: stage.remembered == [stage.host("www")],
            "the engine has forgotten the object",
            SECONDS,
        )
        until_live(stage, "www")
        assert watcher.terminate() == 0

    assert watcher.lines[-1] == "pic: stopped"
    assert watcher.runs == 4


def test_a_watcher_of_a_deployed_stack_starts_one_run_only(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.identities()

    with watching(stage, "--config", "resyncPeriod=1") as watcher:
        watcher.wait_for("Nothing to do")
        # No plan reads the Service, and the label of the Ingress makes no difference to the plan.
        stage.cluster.apply("Service", stage.name, "idle", spec={"ports": [{"port": 80}]})
        stage.cluster.patch("Ingress", stage.name, "web", {"metadata": {"labels": {"a": "b"}}})
        with pytest.raises(AssertionError):
            until(lambda: watcher.runs > 1, "a second run", 6.0)
        assert watcher.terminate() == 0

    assert watcher.runs == 1
    assert stage.identities() == before


def test_a_restarted_api_server_is_followed_again(other_stage: Stage) -> None:
    stage = other_stage
    stage.ingress("web", "www")

    with watching(stage) as watcher:
        until_live(stage, "www")
        until_idle(watcher)
        stage.plane.stop_apiserver()
        watcher.wait_for("no answer from")
        stage.plane.start_apiserver()
        stage.await_service()
        stage.ingress("api", "api")
        until_live(stage, "www", "api")
        assert watcher.terminate() == 0

    assert "pic: following the cluster again" in watcher.lines


def test_a_run_that_is_stopped_with_the_watcher_leaves_no_lock(stage: Stage) -> None:
    words = [f"h{at}" for at in range(40)]
    stage.ingress("web", *words)
    locks = stage.workspace.state / ".pulumi" / "locks"

    with watching(stage) as watcher:
        # An engine takes its lock before it handles signals, so the lock is no sign for this.
        until(stage.objects, "the engine is at work", SECONDS)
        assert watcher.terminate() == 0

    assert "pic: stopping the run: the watcher was asked to stop" in watcher.lines
    assert [*locks.rglob("*.json")] == []
    # The engine forgets objects whose creation was under way when it gave up waiting.
    forgotten = set(stage.identities()) - set(stage.remembered)
    assert set(stage.remembered) <= set(stage.identities())
    assert len(forgotten) <= PARALLEL
    repair = stage.pic("up")
    assert (repair.code, sorted(stage.identities())) == (0, sorted(map(stage.host, words)))


def test_a_refusal_is_reported_once_and_ends_with_its_cause(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()

    with watching(stage, "--config", "resyncPeriod=1") as watcher:
        watcher.wait_for("Nothing to do")
        stage.ingress("web", "www", class_name="nginx")
        watcher.wait_for("The only live host would be removed")
        with pytest.raises(AssertionError):
            until(lambda: watcher.runs > 2, "a third run", 6.0)
        stage.ingress("web", "www", "new")
        until_live(stage, "www", "new")
        assert watcher.terminate() == 0

    assert sum("The only live host would be removed" in line for line in watcher.lines) == 1


def test_the_holder_of_the_lease_removes_the_lock_of_a_lost_pod(stage: Stage) -> None:
    stage.ingress("web", "www")
    folder = stage.workspace.state / ".pulumi" / "locks" / "organization" / "pic" / stage.name
    folder.mkdir(parents=True)
    lock = {"pid": 1, "username": "me", "hostname": "lost", "timestamp": "2000-01-01T00:00:00Z"}
    (folder / "one.json").write_text(json.dumps(lock))

    with watching(stage, "--no-leader-elect") as watcher:
        watcher.wait_for("is locked by a live run of me@lost (pid 1)")
        assert watcher.terminate() == 0
    assert stage.identities() == {}

    with watching(stage, "--leader-elect", "--lease-namespace", stage.name) as watcher:
        until_live(stage, "www")
        until_idle(watcher)
        assert watcher.terminate() == 0

    message = "removing the lock that was left by me@lost (pid 1) since 2000-01-01 00:00:00 UTC"
    assert sum(message in line for line in watcher.lines) == 1
    assert list(folder.iterdir()) == []
