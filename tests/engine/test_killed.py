"""Tests that the next run repairs what a run leaves that is killed at any moment."""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.recorder import record
from tests.engine.stage import Stage
from tests.support.waiting import until_moment

# `make kills` sets 20, and then 20 more go through the proxy, over more hosts.
KILLS = int(os.environ.get("PIC_KILLS", "4"))
PROXIED_KILLS = max(1, KILLS // 2) if KILLS < 20 else KILLS
INGRESSES, HOSTS = (20 if KILLS < 20 else 60), 5
LATEST_KILL = 4.0  # seconds after the start of a run
# A run writes about twenty objects within a moment near its end, which a random time would miss. So
# three of four kills wait for a number of writes.
MAX_WRITES = 18


class World:
    """Changes the Ingresses of a stage at random, and knows the hosts that they ask for."""

    def __init__(self, stage: Stage, rng: random.Random) -> None:
        self.stage = stage
        # The removals of all turns together are within one window.
        stage.settings(maxRemovals=INGRESSES * HOSTS)
        self.rng = rng
        self.count = INGRESSES
        self.wanted = {
            f"web-{ingress}": [f"h{ingress}-{host}" for host in range(HOSTS)]
            for ingress in range(INGRESSES)
        }
        for name in self.wanted:
            self.apply(name)

    @property
    def hosts(self) -> set[str]:
        return {self.stage.host(word) for words in self.wanted.values() for word in words}

    def apply(self, name: str, path: str = "/") -> None:
        self.stage.ingress(name, *self.wanted[name], paths=(path,))

    def change(self) -> None:
        """Add a host, change a path, and recreate, rename and remove an Ingress."""
        created, changed, recreated, renamed, removed = self.rng.sample(sorted(self.wanted), 5)
        self.wanted[created].append(f"n{self.count}")
        self.apply(created)
        self.apply(changed, f"/p{self.count}")
        self.stage.cluster.delete("Ingress", self.stage.name, recreated)
        self.apply(recreated)
        self.count += 1
        self.wanted[f"web-{self.count}"] = self.wanted.pop(renamed)
        self.apply(f"web-{self.count}")
        self.stage.cluster.delete("Ingress", self.stage.name, renamed)
        self.remove(removed)

    def remove(self, name: str) -> None:
        """Give an Ingress another class, so that pic ignores it, and create a new one."""
        self.stage.ingress(name, *self.wanted.pop(name), class_name="nginx")
        self.count += 1
        self.wanted[f"web-{self.count}"] = [f"r{self.count}-{host}" for host in range(HOSTS)]
        self.apply(f"web-{self.count}")


@pytest.mark.parametrize(
    ("fixture", "kills"),
    [("stage", KILLS), ("strict_stage", PROXIED_KILLS)],
    ids=["real", "strict"],
)
def test_one_run_repairs_what_a_killed_run_leaves(
    fixture: str, kills: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    stage: Stage = request.getfixturevalue(fixture)
    rng = random.Random(7)  # noqa: S311 - nothing secret
    recorder, path = record(tmp_path, stage.workspace.tools)
    world = World(stage, rng)
    assert stage.pic("up").code == 0
    imported = 0

    for turn in range(kills):
        world.change()
        if turn % 4 == 3:
            moment = after_seconds(rng.uniform(0.2, LATEST_KILL))
        else:
            moment = after_writes(stage, rng.randint(1, MAX_WRITES))
        kill_run(stage, moment, rng.choice(("pic", "engine")))
        if turn % 2:
            world.remove(rng.choice(sorted(world.wanted)))
        before = stage.settled()
        recorder.steps()

        answer = stage.pic("up", PATH=path)

        steps = recorder.steps()
        assert (turn, answer.code, answer.err) == (turn, 0, ""), answer.err
        after = stage.identities()
        assert set(after) == world.hosts
        assert set(stage.remembered) == world.hosts
        # A live object is imported, never created: the API server would answer 409.
        assert {host for op, host in steps if op == "create"} & set(before) == set()
        changed = {host for op, host in steps if op in ("update", "delete")}
        unchanged = {
            host: identity
            for host, identity in before.items()
            if host in after and host not in changed
        }
        assert {host: after[host] for host in unchanged} == unchanged
        imported += sum(op == "import" for op, _ in steps)
        assert stage.workspace.processes() == []
    assert stage.pic("up").out == "Nothing to do: everything is as it was deployed.\n"
    assert imported or kills < 6, "at least one kill leaves objects that are not in the state"


def after_seconds(seconds: float) -> Callable[[], bool]:
    """Return a condition that is true after some seconds."""
    due = time.monotonic() + seconds
    return lambda: time.monotonic() >= due


def after_writes(stage: Stage, count: int) -> Callable[[], bool]:
    """Return a condition that is true after some objects were created or changed."""
    before = stage.identities().items()
    return lambda: len(stage.identities().items() - before) >= count


def kill_run(stage: Stage, is_due: Callable[[], bool], what: str) -> None:
    """Start a run, and kill pic or the engine when it is due, unless the run ends before."""
    command = (str(stage.workspace.python), "-m", "pic", "up", "--stack", stage.name)
    with stage.workspace.start(*command) as process:
        until_moment(
            lambda: process.poll() is not None or is_due(), "the run has ended, or the kill is due"
        )
        for pid in stage.workspace.processes():
            if is_victim(pid, what):
                os.kill(pid, signal.SIGKILL)
        process.communicate(timeout=30)


def is_victim(pid: int, what: str) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return False
    if what == "engine":
        return words[0].endswith(b"/pulumi")
    return words[1:4] == [b"-m", b"pic", b"up"]
