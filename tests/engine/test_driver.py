"""Tests `pic up`, `destroy`, `drift` and `preview` with the real engine."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.engine.policies import denied
from tests.engine.recorder import Recorder, record
from tests.engine.stage import PicRun, Stage
from tests.support.waiting import until_moment


@pytest.fixture
def recorder(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder, path = record(tmp_path, stage.workspace.tools)
    environment = stage.workspace.environment

    def with_recorder() -> dict[str, str]:
        return {**environment(), "PATH": path}

    monkeypatch.setattr(type(stage.workspace), "environment", lambda _: with_recorder())
    return recorder


PARALLEL_STEPS = 32  # of the engine


def files(stage: Stage) -> set[str]:
    return {str(path) for path in stage.workspace.state.rglob("*") if path.is_file()}


def test_a_run_without_changes_starts_no_update_and_writes_no_file(
    stage: Stage, recorder: Recorder
) -> None:
    stage.ingress("web", "www", "shop")
    first = stage.pic("up")
    assert (first.code, recorder.steps()) == (
        0,
        [("create", stage.host("shop")), ("create", stage.host("www"))],
    )
    before = files(stage)

    again = stage.pic("up")

    assert again == PicRun(0, "Nothing to do: everything is as it was deployed.\n", "")
    assert recorder.calls == ["stack output"]
    assert files(stage) == before


def test_only_objects_that_others_have_changed_or_deleted_are_refreshed(
    stage: Stage, recorder: Recorder
) -> None:
    stage.ingress("web", "www", "shop", "docs", "blog")
    stage.pic("up")
    recorder.steps()
    shop, docs = stage.object("shop")["metadata"]["name"], stage.object("docs")["metadata"]["name"]
    stage.cluster.delete("PangolinResource", stage.name, shop)
    stage.cluster.patch("PangolinResource", stage.name, docs, {"spec": {"enabled": False}})
    untouched = {
        host: identity
        for host, identity in stage.identities().items()
        if host.startswith(("www", "blog"))
    }

    answer = stage.pic("up")

    steps = [step for step in recorder.steps() if step[0] != "same"]
    assert (answer.code, steps) == (
        0,
        [
            ("create", stage.host("shop")),
            ("refresh", stage.host("docs")),
            ("refresh", stage.host("shop")),
            ("update", stage.host("docs")),
        ],
    )
    after = stage.identities()
    assert {host: after[host] for host in untouched} == untouched
    assert stage.object("docs")["spec"]["enabled"] is True
    assert stage.pic("up").out == "Nothing to do: everything is as it was deployed.\n"


def test_a_lost_state_is_recovered_without_changing_live_objects(
    stage: Stage, recorder: Recorder
) -> None:
    stage.ingress("web", "www", "shop")
    stage.pic("up")
    before = stage.identities()
    stage.state_file.unlink()
    recorder.steps()

    answer = stage.pic("up")

    assert (answer.code, [op for op, _ in recorder.steps()]) == (0, ["import"] * 2 + ["update"] * 2)
    assert stage.identities() == before


def test_an_unwanted_object_that_a_lost_state_has_forgotten_is_deleted(
    stage: Stage, recorder: Recorder
) -> None:
    stage.ingress("web", "www")
    stage.ingress("old", "old")
    stage.pic("up")
    stage.state_file.unlink()
    stage.ingress("old", "old", class_name="nginx")
    recorder.steps()

    answer = stage.pic("up")

    old, www = stage.host("old"), stage.host("www")
    name = f"pic-{stage.name}-old"
    assert (
        answer.code,
        answer.out.splitlines()[0].startswith(f"- {old} ({stage.name}/{name}"),
    ) == (
        0,
        True,
    )
    assert [step for step in recorder.steps() if step[0] not in ("same", "update")] == [
        ("delete", old),
        ("import", old),
        ("import", www),
    ]
    assert (stage.remembered, set(stage.identities())) == ([www], {www})


def test_a_held_host_stays_until_its_digest_is_acknowledged(stage: Stage) -> None:
    stage.settings(maxRemovals=0, maxRemovalRatio=0)
    stage.ingress("web", "www")
    stage.ingress("old", "old")
    stage.pic("up")
    stage.ingress("old", "old", class_name="nginx")
    before = stage.identities()

    held = stage.pic("up")

    digest, host = held.out.rpartition("--acknowledge ")[2].split()[0], stage.host("old")
    reason = (
        f"Ingress {stage.name}/old does not count: its class is nginx, and pic exposes only the"
        " classes pangolin, pangolin-* (pic does not know which class it had), but pic has removed"
        " as many hosts as it may (pic:maxRemovals, pic:removalWindow)"
    )
    assert held == PicRun(
        8,
        f"1 change held. Everything else is not affected:\n= {host} stays in {stage.name} (public):"
        f" {reason} (removed {digest})\nIf you want it: pic up --acknowledge {digest}\n"
        "Done: nothing changed.\n",
        held.err,
    )
    assert stage.identities() == before
    assert stage.pic("up", "--allow-held").code == 0
    assert stage.pic("up", "--acknowledge", "0" * 16).code == 8
    assert stage.pic("up", "--acknowledge", digest).code == 0
    assert set(stage.identities()) == {stage.host("www")}


def test_a_lock_of_another_host_is_respected(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.locks.mkdir(parents=True)
    lock = {"pid": 7, "username": "me", "hostname": "far", "timestamp": "2100-01-01T00:00:00Z"}
    (stage.locks / "one.json").write_text(json.dumps(lock))

    assert stage.pic("up") == PicRun(
        4,
        "",
        f"pic: stack {stage.name} is locked by a live run of me@far (pid 7) since 2100-01-01"
        " 00:00:00 UTC: wait for it to end. If that run is gone for good: pulumi cancel --stack"
        f" {stage.name}\n",
    )
    assert [file.name for file in stage.locks.iterdir()] == ["one.json"]


def test_a_failed_resource_is_reported_with_its_class_and_the_others_are_deployed(
    stage: Stage, tmp_path: Path
) -> None:
    stage.ingress("web", "www", "bad")
    report = tmp_path / "report.json"
    with denied(stage, "bad"):
        answer = stage.pic("up", "--report", str(report))

    content = json.loads(report.read_text())
    assert (answer.code, set(stage.identities())) == (6, {stage.host("www")})
    message = content["failures"][0].pop("message")
    assert "no bad hosts here" in message
    assert content | {"error": None} == {
        "version": 1,
        "exitCode": 6,
        "changed": {"create": 1},
        "failures": [
            {
                "target": "pangolin",
                "host": stage.host("bad"),
                "class": "invalid",
                "retryAfter": None,
            }
        ],
        "error": None,
        "held": [],
    }
    assert stage.pic("up").code == 0
    assert set(stage.identities()) == {stage.host("www"), stage.host("bad")}


def test_an_unreachable_system_has_its_own_exit_code(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.pic("up")

    backend = stage.pic("up", PULUMI_BACKEND_URL="file:///nowhere/at/all")
    cluster = stage.pic("up", KUBECONFIG="/nowhere")
    stage.ingress("web", "www", "more")
    passphrase = stage.pic("up", PULUMI_CONFIG_PASSPHRASE="wrong")  # noqa: S106

    assert [backend.code, cluster.code, passphrase.code] == [5, 5, 5]
    assert passphrase.err.endswith("incorrect passphrase\n")
    assert "/nowhere/at/all" in backend.err
    assert stage.pic("up", "--config", "maxRemovals=many").code == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_cleanly(stage: Stage, number: signal.Signals) -> None:
    words = [f"h{number}" for number in range(120)]
    for start in range(0, 120, 20):
        stage.ingress(f"web-{start}", *words[start : start + 20])
    command = (str(stage.workspace.python), "-m", "pic", "up", "--stack", stage.name)
    with stage.workspace.start(*command, stderr=-1) as process:
        until_moment(lambda: len(stage.objects()) >= 5, "a few objects exist")
        pic = next(pid for pid in stage.workspace.processes() if is_pic(pid))
        os.kill(pic, number)
        _, errors = process.communicate(timeout=60)

    live = set(stage.identities())
    assert (process.returncode, errors) == (
        1,
        "pic: interrupted: the engine has stopped and saved what was done. Run again to finish\n",
    )
    # Objects whose creation was in flight are live but not in the state; the next run adopts them.
    assert set(stage.remembered) <= live
    assert len(live) - len(stage.remembered) <= PARALLEL_STEPS
    assert list((stage.workspace.state / ".pulumi" / "locks").rglob("*.json")) == []
    assert stage.workspace.processes() == []
    assert stage.pic("up").code == 0
    assert set(stage.identities()) == {stage.host(word) for word in words}


def is_pic(pid: int) -> bool:
    return b"\0-m\0pic\0up" in Path(f"/proc/{pid}/cmdline").read_bytes() and (
        b"supervisor.py" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    )


def test_only_one_of_two_concurrent_runs_deploys(stage: Stage) -> None:
    words = [f"h{number}" for number in range(120)]
    for start in range(0, 120, 20):
        stage.ingress(f"web-{start}", *words[start : start + 20])
    command = (str(stage.workspace.python), "-m", "pic", "up", "--stack", stage.name)
    with stage.workspace.start(*command) as process:
        until_moment(lambda: len(stage.objects()) >= 1, "the first run has begun")
        first = next(pid for pid in stage.workspace.processes() if is_pic(pid))
        os.kill(first, signal.SIGSTOP)

        second = stage.pic("up")

        os.kill(first, signal.SIGCONT)
        process.communicate(timeout=60)
    assert (process.returncode, second.code) == (0, 4)
    assert second.err.startswith("pic: another pic on this host (pid ")
    assert set(stage.identities()) == {stage.host(word) for word in words}


def test_an_acknowledged_destroy_deletes_everything(stage: Stage) -> None:
    stage.ingress("web", "www", "shop")
    stage.pic("up")

    refused = stage.pic("destroy")
    digest = refused.err.strip().rpartition(" ")[2]
    assert (refused.code, len(stage.objects())) == (3, 2)
    stage.state_file.unlink()
    assert stage.pic("destroy", "--acknowledge", digest).code == 0

    assert stage.objects() == []
    reasons = sorted(reason for _, reason, _ in stage.events())
    assert reasons == ["Created", "Created", "Deleted", "Deleted"]


def test_drift_shows_the_changed_field_and_fails_if_no_change_is_expected(stage: Stage) -> None:
    stage.ingress("web", "www", "shop")
    stage.pic("up")
    assert stage.pic("drift", "--expect-no-changes") == PicRun(
        0, "Nothing differs from the last deployment.\n", ""
    )
    www = stage.object("www")["metadata"]["name"]
    stage.cluster.patch("PangolinResource", stage.name, www, {"spec": {"enabled": False}})

    assert stage.pic("drift", "--expect-no-changes") == PicRun(
        7,
        f"~ {stage.host('www')} ({stage.name}/{www}): spec.enabled: declared true, live false\n",
        "",
    )


def test_a_preview_shows_the_changes_without_making_them(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.pic("up")
    stage.ingress("web", "www", "shop")
    before = (stage.identities(), stage.state_file.read_bytes())

    answer = stage.pic("preview", "--expect-no-changes")

    assert (answer.code, answer.err) == (
        7,
        "pic: there are changes: 1 host becomes public, 1 new host, 1 part of the register (1 live,"
        " 2 planned)\n"
        "pic: the engine agrees: 1 created\n",
    )
    assert stage.host("shop") in answer.out
    assert (stage.identities(), stage.state_file.read_bytes()) == before


def test_old_history_is_pruned(stage: Stage) -> None:
    stage.settings(keepHistory=2)
    for words in (("a",), ("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")):
        stage.ingress("web", *words)
        assert stage.pic("up").code == 0

    folder = stage.workspace.state / ".pulumi"
    names = sorted(path.suffixes[0] for path in (folder / "history" / "pic").rglob("*.json"))
    assert names == [".checkpoint", ".checkpoint", ".history", ".history"]
    assert len(list((folder / "backups" / "pic").rglob("*.json"))) <= 2


def test_up_waits_for_the_operator_and_reports_hosts_that_are_not_ready(stage: Stage) -> None:
    stage.ingress("web", "www")

    answer = stage.pic("up", "--wait", "0.1")

    assert (answer.code, "not all hosts are ready after 0.1 s" in answer.err) == (6, True)
    www = stage.object("www")["metadata"]["name"]
    ready = {"status": {"status": "Ready", "observedGeneration": 1}}
    stage.cluster.patch("PangolinResource", stage.name, www, ready, "/status")
    assert stage.pic("up", "--wait", "30").code == 0
