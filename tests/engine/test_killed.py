"""Killed at any moment of a run that does everything at once: the next one heals."""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.recorder import record
from tests.engine.stage import Stage
from tests.support.waiting import until

INGRESSES, HOSTS = 60, 5
KILLS = int(os.environ.get("PIC_KILLS", "4"))  # `make kills` does 20, and 20 by the proxy
PROXIED_KILLS = max(1, KILLS // 2) if KILLS < 20 else KILLS
LONGEST = 4.0  # seconds into a run
# A turn writes some twenty objects, most of a run later and all within a moment, which a time
# drawn at random misses: so three kills of four wait for a number of them.
MOST_WRITES = 18


class World:
    """The Ingresses of a stage, changed at random, and the hosts they ask for."""

    def __init__(self, stage: Stage, dice: random.Random) -> None:
        self.stage = stage
        self.dice = dice
        self.count = INGRESSES
        self.wanted = {f"web-{at}": [f"h{at}-{n}" for n in range(HOSTS)] for at in range(INGRESSES)}
        for name in self.wanted:
            self.apply(name)

    @property
    def hosts(self) -> set[str]:
        return {self.stage.host(word) for words in self.wanted.values() for word in words}

    def apply(self, name: str, path: str = "/") -> None:
        self.stage.ingress(name, *self.wanted[name], paths=(path,))

    def shake(self) -> None:
        """Create, change, re-create, rename and remove."""
        created, changed, again, renamed, removed = self.dice.sample(sorted(self.wanted), 5)
        self.wanted[created].append(f"n{self.count}")
        self.apply(created)
        self.apply(changed, f"/p{self.count}")
        self.stage.cluster.delete("Ingress", self.stage.name, again)
        self.apply(again)
        self.count += 1
        self.wanted[f"web-{self.count}"] = self.wanted.pop(renamed)
        self.apply(f"web-{self.count}")
        self.stage.cluster.delete("Ingress", self.stage.name, renamed)
        self.leave(removed)

    def leave(self, name: str) -> None:
        """Take an Ingress from pic, without deleting it."""
        self.stage.ingress(name, *self.wanted.pop(name), class_name="nginx")
        self.count += 1
        self.wanted[f"web-{self.count}"] = [f"r{self.count}-{n}" for n in range(HOSTS)]
        self.apply(f"web-{self.count}")


@pytest.mark.parametrize(
    ("where", "kills"), [("stage", KILLS), ("strict_stage", PROXIED_KILLS)], ids=["real", "strict"]
)
def test_a_run_killed_at_any_moment_heals_in_one(
    where: str, kills: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    stage: Stage = request.getfixturevalue(where)
    dice = random.Random(7)  # noqa: S311 - nothing secret
    recorder, path = record(tmp_path, stage.workspace.tools)
    world = World(stage, dice)
    assert stage.pic("up").code == 0
    taken_up = 0

    for turn in range(kills):
        world.shake()
        if turn % 4 == 3:
            moment = after_seconds(dice.uniform(0.2, LONGEST))
        else:
            moment = after_writes(stage, dice.randint(1, MOST_WRITES))
        killed(stage, moment, dice.choice(("pic", "engine")))
        if turn % 2:
            world.leave(dice.choice(sorted(world.wanted)))
        before = stage.settled()
        recorder.steps()

        answer = stage.pic("up", PATH=path)

        steps = recorder.steps()
        assert (turn, answer.code, answer.err) == (turn, 0, ""), answer.err
        after = stage.identities()
        assert set(after) == world.hosts
        assert set(stage.remembered) == world.hosts
        # What is live is never made a second time: not by a create that would be told 409.
        assert {host for op, host in steps if op == "create"} & set(before) == set()
        changed = {host for op, host in steps if op in ("update", "delete")}
        kept = {host: it for host, it in before.items() if host in after and host not in changed}
        assert {host: after[host] for host in kept} == kept
        taken_up += sum(op == "import" for op, _ in steps)
        assert stage.workspace.processes() == []
    assert stage.pic("up").out == "Nothing to do: everything is as it was deployed.\n"
    assert taken_up or kills < 6, "a kill has left something that only the cluster knows"


def after_seconds(seconds: float) -> Callable[[], bool]:
    """Return whether it is some seconds later."""
    due = time.monotonic() + seconds
    return lambda: time.monotonic() >= due


def after_writes(stage: Stage, count: int) -> Callable[[], bool]:
    """Return whether some objects have been made or changed since."""
    before = stage.identities().items()
    return lambda: len(stage.identities().items() - before) >= count


def killed(stage: Stage, is_due: Callable[[], bool], what: str) -> None:
    """Start a deployment and kill it, or its engine, at a moment, if it runs until then."""
    command = (str(stage.workspace.python), "-m", "pic", "up", "--stack", stage.name)
    with stage.workspace.start(*command) as process:
        until(lambda: process.poll() is not None or is_due(), "a moment to kill")
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
