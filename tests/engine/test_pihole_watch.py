"""The watcher with both targets: it reads Pi-hole itself, and runs only if something differs."""

from dev.pihole import PiHole
from tests.engine.records import Registry
from tests.engine.stage import SECONDS
from tests.engine.watcher import Watcher, watching
from tests.support.waiting import until


def sessions(pihole: PiHole) -> int:
    """Return the number of logins so far."""
    return sum((entry.method, entry.path) == ("POST", "/api/auth") for entry in pihole.log)


def until_read(pihole: PiHole, times: int) -> None:
    expected = sessions(pihole) + times
    until(lambda: sessions(pihole) >= expected, f"Pi-hole is read {times} times", SECONDS)


def until_ended(watcher: Watcher, runs: int) -> None:
    """Wait for the end of a number of runs."""
    ends = ("Done:", "Nothing to do")
    until(
        lambda: sum(line.startswith(ends) for line in messages(watcher)) == runs,
        f"{runs} runs have ended: {watcher.lines}",
        SECONDS,
    )


def messages(watcher: Watcher) -> list[str]:
    return [line.removeprefix("pic: ") for line in watcher.lines]


def test_a_resync_reads_pi_hole_and_runs_only_if_a_record_or_an_annotation_differs(
    registry: Registry,
) -> None:
    stage, pihole = registry.stage, registry.pihole
    registry.register("web", "www", "shop")
    assert stage.pic("up").code == 0

    with watching(stage, "--config", "resyncPeriod=1") as watcher:
        until_ended(watcher, 1)
        until_read(pihole, 3)
        assert watcher.runs == 1

        pihole.lines = [line for line in pihole.lines if stage.host("www") not in line]
        until(lambda: registry.ours == registry.lines("shop", "www"), "the record is back", SECONDS)
        until_ended(watcher, 2)
        until_read(pihole, 3)
        assert watcher.runs == 2

        bare = {"metadata": {"annotations": {"pihole.io/managed-hosts": None}}}
        stage.cluster.patch("Ingress", stage.name, "web", bare)
        hosts = f"{stage.host('shop')},{stage.host('www')}"
        until(lambda: registry.managed() == {"web": hosts}, "the annotation is back", SECONDS)
        until_ended(watcher, 3)
        until_read(pihole, 3)
        assert watcher.terminate() == 0

    assert watcher.runs == 3
