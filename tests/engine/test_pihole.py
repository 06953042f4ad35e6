"""Both targets on the real engine: records follow the Ingresses, and nothing else changes."""

import json
import os
import re
import signal
import threading
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from dev.controlplane import ControlPlane
from dev.pihole import QUICK, PiHole, PiHoleError
from dev.toolchain import Toolchain
from tests.engine.policies import denied
from tests.engine.records import IP, MANUAL, OTHER_IP, Registry, set_registry
from tests.engine.stage import PicRun
from tests.support.waiting import until, until_moment

NOTHING = "Nothing to do: everything is as it was deployed.\n"
MANY = 100


def last_line(run: PicRun) -> str:
    return run.out.splitlines()[-1] if run.out else run.err


def destroy(registry: Registry) -> PicRun:
    refusal = registry.stage.pic("destroy")
    digest = re.findall(r"--acknowledge ([0-9a-f]{12})", refusal.err)[-1]
    return registry.stage.pic("destroy", "--acknowledge", digest)


def test_hosts_are_exposed_registered_annotated_and_removed(registry: Registry) -> None:
    stage = registry.stage
    registry.register("web", "www", "shop")

    first, again = stage.pic("up"), stage.pic("up")

    assert (last_line(first), again) == ("Done: 4 created.", PicRun(0, NOTHING, ""))
    assert registry.ours == registry.lines("shop", "www")
    hosts = f"{stage.host('shop')},{stage.host('www')}"
    assert registry.managed() == {"web": hosts}
    assert [reason for _, reason, _ in stage.events()] == ["Created"] * 4
    assert registry.pihole.writes == 1

    destruction = destroy(registry)

    assert last_line(destruction) == "Done: 4 deleted."
    assert (registry.ours, registry.managed(), stage.objects()) == ([], {"web": None}, [])


def test_records_of_a_lost_state_are_imported_and_unwanted_records_are_deleted(
    registry: Registry,
) -> None:
    stage = registry.stage
    registry.register("web", "www", "shop", "docs")
    stage.pic("up")
    writes = registry.pihole.writes
    stage.lose_state()

    assert last_line(stage.pic("up")) == "Done: 6 adopted, 3 updated."
    assert registry.pihole.writes == writes

    stage.lose_state()
    registry.register("web", "www", "shop", ip=OTHER_IP)

    assert stage.pic("up", "--config", "maxRemovals=9").code == 0
    assert registry.ours == registry.lines("shop", "www", ip=OTHER_IP)
    assert registry.remembered == sorted(f"{stage.host(word)}/A" for word in ("shop", "www"))


def test_changes_of_others_are_repaired(registry: Registry) -> None:
    registry.register("web", "www", "shop")
    registry.stage.pic("up")
    registry.pihole.lines = [line for line in registry.pihole.lines if "www." not in line]

    assert last_line(registry.stage.pic("up")) == "Done: 1 created."
    assert registry.ours == registry.lines("shop", "www")


def test_an_unreachable_pihole_stops_no_resource_and_loses_no_record(
    registry: Registry, tmp_path: Path
) -> None:
    stage, report = registry.stage, tmp_path / "report.json"
    registry.register("web", "www")
    stage.pic("up")

    unread = stage.pic("up", "--report", str(report), PIHOLE_PASSWORD="wrong")  # noqa: S106

    assert (unread.code, failures(report)) == (5, [("pihole", "", "auth")])

    registry.register("web", "docs")
    failed = stage.pic(
        *("up", "--config", "maxRemovals=9", "--report", str(report)),
        PIHOLE_PASSWORD="wrong",  # noqa: S106
    )

    assert failed.code == 6
    assert failures(report) == [
        ("pihole", f"{stage.host('docs')}/A", "auth"),
        ("pihole", f"{stage.host('www')}/A", "auth"),
        ("pihole", "", "auth"),
    ]
    assert list(stage.identities()) == [stage.host("docs")]
    assert registry.ours == registry.lines("www")

    assert last_line(stage.pic("up", "--config", "maxRemovals=9")) == "Done: 1 created, 1 deleted."
    assert registry.ours == registry.lines("docs")


def failures(report: Path) -> list[tuple[str, str, str]]:
    entries = json.loads(report.read_text())["failures"]
    return [(entry["target"], entry["host"], entry["class"]) for entry in entries]


def test_a_failed_resource_stops_no_record_and_no_delete(registry: Registry) -> None:
    registry.register("web", "www", "shop")
    registry.stage.pic("up")
    registry.register("web", "shop", "bad", "good")

    with denied(registry.stage, "bad"):
        failed = registry.stage.pic("up", "--config", "maxRemovals=9")

    assert failed.code == 6
    assert registry.ours == registry.lines("bad", "good", "shop")
    assert sorted(registry.stage.identities()) == sorted(map(registry.stage.host, ("good", "shop")))


def test_removing_a_target_deletes_nothing_there(registry: Registry) -> None:
    registry.register("web", "www")
    registry.stage.pic("up")

    for target in ("pangolin", "pihole"):
        registry.targets(target)
        assert registry.stage.pic("up").code == 6

    assert registry.ours == registry.lines("www")
    assert list(registry.stage.identities()) == [registry.stage.host("www")]


def test_a_plain_pulumi_up_registers_and_imports(registry: Registry) -> None:
    stage = registry.stage
    registry.register("web", "www")
    expected = [("create", stage.host("www")), ("create", f"{stage.host('www')}/A")]

    preview = stage.preview()
    assert (preview.code, list(preview.steps)[2:], registry.ours) == (0, expected, [])

    up = stage.up()
    assert (up.code, list(up.steps)[2:], registry.ours) == (0, expected, registry.lines("www"))
    assert (stage.up().steps, registry.pihole.writes) == ((), 1)

    stage.lose_state()
    registry.register("web", "www", ip=OTHER_IP)
    again = [
        (op, name)
        for name, op in product((stage.host("www"), f"{stage.host('www')}/A"), ("import", "update"))
    ]

    preview = stage.preview()
    assert (preview.code, list(preview.steps)[2:], preview.warnings) == (0, again, ())
    up = stage.up()
    assert (up.code, list(up.steps)[2:], up.warnings) == (0, again, ())
    assert registry.ours == registry.lines("www", ip=OTHER_IP)
    assert stage.up().steps == ()


def test_an_interrupted_or_killed_run_leaves_no_session_and_the_next_run_finishes_it(
    plane: ControlPlane, tools: Toolchain
) -> None:
    # Slow enough that the signal comes in time.
    slow = replace(QUICK, patch=0.5)
    with (
        PiHole(records=MANUAL, pace=slow) as pihole,
        set_registry(plane, tools, pihole, ["pihole"]) as registry,
    ):
        stage = registry.stage
        words = [f"h{number}" for number in range(3 * MANY)]
        registry.register("web", *words)

        for number in (signal.SIGINT, signal.SIGKILL):
            stop(registry, number)
            until(lambda: not stage.workspace.processes(), "all processes have ended")
            assert registry.is_at_rest()
            assert len(registry.ours) < len(words)

        assert stage.pic("up").code == 0
        assert registry.ours == registry.lines(*words)
        assert len(registry.remembered) == len(words)
        assert (registry.foreign, registry.is_at_rest()) == (MANUAL, True)


def stop(registry: Registry, number: signal.Signals) -> None:
    """Send pic a signal as soon as it has registered another record."""
    workspace, before = registry.stage.workspace, len(registry.ours)
    command = (str(workspace.python), "-m", "pic", "up", "--stack", registry.stage.name)
    # With fewer steps at once, the first write has only a part of the records.
    with workspace.start(*command, env={"PULUMI_PARALLEL": "32"}) as process:
        until_moment(lambda: len(registry.ours) > before, "another record")
        os.kill(next(filter(is_pic, workspace.processes())), number)
        process.communicate(timeout=60)


def is_pic(pid: int) -> bool:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return words[1:4] == [b"-m", b"pic", b"up"]


def test_a_changed_address_is_never_missing(registry: Registry) -> None:
    registry.targets("pihole")
    words = [f"h{number}" for number in range(MANY)]
    registry.register("web", *words)
    try:
        registry.pihole.ask("nas.lan")
    except PiHoleError as error:
        pytest.skip(f"no resolver: {error}")

    assert registry.stage.pic("up").code == 0
    names = [registry.stage.host(word) for word in words]
    assert [registry.pihole.ask(name) for name in names] == [[IP]] * MANY

    answers, stop_event = list[list[str]](), threading.Event()

    def probe() -> None:
        while not stop_event.wait(0.002):
            answers.append(registry.pihole.ask(names[-1]))

    prober = threading.Thread(target=probe)
    prober.start()
    registry.register("web", *words, ip=OTHER_IP)
    changed = registry.stage.pic("up", "--config", f"maxRetargeted={MANY}")
    stop_event.set()
    prober.join()

    assert (changed.code, [] in answers, answers[-1]) == (0, False, [OTHER_IP])


def test_a_pihole_that_loses_its_records_at_each_start_is_reported(
    plane: ControlPlane, tools: Toolchain
) -> None:
    with (
        PiHole(records=MANUAL, file_is_mounted=True) as pihole,
        set_registry(plane, tools, pihole, ["pihole"]) as registry,
    ):
        registry.register("web", "www", "shop")
        assert registry.stage.pic("up").code == 0
        pihole.restart()
        assert tuple(pihole.lines) == MANUAL

        again = registry.stage.pic("up")

        assert (again.code, last_line(again)) == (0, "Done: 2 created.")
        assert "RecordsLost" in again.err
        assert "it lacks 2 of the records that pic made" in again.err
        assert registry.ours == registry.lines("shop", "www")


def test_without_markers_only_remembered_records_are_deleted(
    plane: ControlPlane, tools: Toolchain
) -> None:
    manual = ("192.168.1.2 printer.lan",)
    with (
        PiHole(api="dns-local", records=manual) as pihole,
        set_registry(plane, tools, pihole, ("pihole",)) as registry,
    ):
        registry.stage.settings(piholeApi="dns-local")
        registry.register("web", "www", "shop")

        first = registry.stage.pic("up")
        registry.register("web", "www", ip=OTHER_IP)
        second = registry.stage.pic("up", "--config", "maxRemovals=9")

        assert (last_line(first), last_line(second)) == (
            "Done: 2 created.",
            "Done: 1 deleted, 1 updated.",
        )
        assert sorted(pihole.lines) == sorted((*manual, *registry.lines("www", ip=OTHER_IP)))
        # The annotations of the Ingresses hold our hosts, but not their addresses.
        registry.stage.lose_state()
        registry.register("web", "www", "blog")
        assert registry.stage.pic("up").code == 0
        assert sorted(pihole.lines) == sorted((*manual, *registry.lines("www", "blog")))
        assert registry.remembered == [f"{registry.stage.host(word)}/A" for word in ("blog", "www")]
        assert last_line(destroy(registry)) == "Done: 2 deleted."
        assert tuple(pihole.lines) == manual
