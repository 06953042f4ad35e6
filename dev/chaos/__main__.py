"""Everything that can fail does, for two minutes: `python -m dev.chaos`, or `make chaos`.

CHAOS_SECONDS and CHAOS_SEED say for how long, and what is drawn. Everything is on 127.0.0.1 and
gone in the end. The exit code is 1 where a host was lost or wrongly deleted, or where plan, live
objects and state do not agree once everything is quiet.
"""

import os
import random
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import monotonic, sleep

from dev import toolchain
from dev.chaos import judge, replicas, stage
from dev.chaos.judge import Verdict
from dev.chaos.replicas import Replicas
from dev.chaos.troubles import Troubles
from dev.chaos.witness import Witness
from dev.chaos.world import Key, World
from dev.controlplane import ControlPlane, ControlPlaneError
from dev.controlplane.api import Api
from dev.controlplane.proxy import Proxy, proxied
from dev.workspace import Workspace, workspace

SECONDS = float(os.environ.get("CHAOS_SECONDS", "120"))
SEED = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(10_000))
PAUSE_SECONDS, DOWN_SECONDS = 0.15, 2.0
# Who follows a leader that was killed has to wait 15 s.
LEADER_KILL_SECONDS, KILL_SECONDS = (10.0, 20.0), (5.0, 14.0)
CUT_SECONDS, BACK_SECONDS = (5.0, 10.0), 20.0
# After the last fault, until everything is as it should be: a wait after a failure, and two runs.
REST_SECONDS, QUIET_SECONDS = 300.0, 5.0

Range = tuple[float, float]
Act = Callable[[], None]


@dataclass
class Regular:
    """Something that is done again and again, at random distances in seconds."""

    act: Act
    distance: Range
    due: float = 0.0

    def turn(self, now: float, dice: random.Random) -> None:
        """Do it where it is due."""
        if not self.due:
            self.due = now + dice.uniform(*self.distance)
        elif now >= self.due:
            self.act()
            self.due = now + dice.uniform(*self.distance)


@dataclass
class Chaos:
    """One run of it."""

    plane: ControlPlane
    proxy: Proxy
    project: Workspace
    troubles: Troubles
    world: World
    watchers: Replicas
    witness: Witness
    dice: random.Random
    cuts: int = 0
    restarts: list[str] = field(default_factory=list)
    away: list[Key] = field(default_factory=list)

    @property
    def api(self) -> Api:
        """The API server, without the proxy."""
        return self.world.api

    def begin(self) -> None:
        """Deploy the first Ingresses, before anything fails."""
        say(f"{len(self.world.wishes)} Ingresses, deployed by pic up")
        self.project.pic("up", "--stack", stage.STACK)

    def rage(self, seconds: float) -> None:
        """Let everything fail: first with two watchers and a Lease, then with one, killed more."""
        say(f"{seconds:g} s of chaos, seed {SEED}")
        self.troubles.on = True
        say("two watchers and a Lease")
        with self.watchers.running(2, elected=True):
            half = seconds / 2
            plan = [(half * 0.5, self.restart_etcd), (half * 0.8, self.restart_apiserver)]
            self._fail(half, LEADER_KILL_SECONDS, plan)
        say("one watcher, killed more often")
        with self.watchers.running(1, elected=False):
            plan = [(half * 0.2, self.leave), (half * 0.2 + BACK_SECONDS, self.come_back)]
            self._fail(half, KILL_SECONDS, plan)
        self.come_back()
        self.troubles.on = False

    def _fail(self, seconds: float, kills: Range, plan: list[tuple[float, Act]]) -> None:
        begin = monotonic()
        regular = [Regular(self.watchers.kill, kills), Regular(self.cut, CUT_SECONDS)]
        while (now := monotonic() - begin) < seconds:
            self.world.act()
            self.watchers.turn()
            for each in regular:
                each.turn(now, self.dice)
            if plan and now >= plan[0][0]:
                plan.pop(0)[1]()
            sleep(PAUSE_SECONDS)

    def cut(self) -> None:
        """Cut every watch that is open."""
        self.cuts += self.proxy.cut_watches()

    def restart_etcd(self) -> None:
        """Let etcd be away for a while."""
        say("etcd starts again")
        self.plane.stop_etcd()
        sleep(DOWN_SECONDS)
        self.plane.start_etcd()
        self.restarts.append("etcd")

    def restart_apiserver(self) -> None:
        """Let the API server be away for a while."""
        say("the API server starts again")
        self.plane.stop_apiserver()
        sleep(DOWN_SECONDS)
        self.plane.start_apiserver()
        self.restarts.append("API server")

    def leave(self) -> None:
        """Take more Ingresses from pic at once than the guard lets go."""
        say("many Ingresses change their class at once")
        self.away = self.world.leave()

    def come_back(self) -> None:
        """Give them back."""
        self.world.come_back(self.away)
        self.away = []

    def rest(self) -> bool:
        """Wait until everything is as it should be, and say whether it became so."""
        say("quiet: waiting for everything to be as the Ingresses ask")
        end = monotonic() + REST_SECONDS
        while monotonic() < end:
            self.watchers.turn()
            if self._is_settled():
                return True
            sleep(PAUSE_SECONDS)
        return False

    def _is_settled(self) -> bool:
        if not self.world.settle() or monotonic() - self.witness.last_change() < QUIET_SECONDS:
            return False
        return stage.live(self.api) == sorted(self.world.wanted)

    def verdict(self) -> Verdict:
        """Return what the witness makes of it, once it has seen all."""
        return judge.judge(self.witness.seen())

    def disagreements(self) -> list[str]:
        """Return where Ingresses, plan, live objects and state do not agree."""
        wanted, live = sorted(self.world.wanted), stage.live(self.api)
        found = []
        if live != wanted:
            found.append(f"live and wanted: {differences(live, wanted)}")
        if (state := stage.remembered(self.project)) != live:
            found.append(f"state and live: {differences(state, live)}")
        words = ("diff", "--stack", stage.STACK, "--expect-no-changes")
        done = self.project.run(str(self.project.python), "-m", "pic", *words, check=False)
        if done.returncode:
            found.append(f"pic diff ended with {done.returncode}:\n{done.stdout}")
        return found


def differences(these: list[str], those: list[str]) -> str:
    """Return what only one of two lists has."""
    return (
        f"only there {sorted(set(these) - set(those))}, missing {sorted(set(those) - set(these))}"
    )


def report(chaos: Chaos, verdict: Verdict) -> list[str]:
    """Return what happened, in lines."""
    acts, runs = chaos.world.actions, replicas.runs(chaos.watchers.logs)
    return [
        f"changes of Ingresses: {sum(acts.values())} ({counted(acts)})",
        f"faults injected: {chaos.troubles.met.total()} ({counted(chaos.troubles.met)}),"
        f" watches cut {chaos.cuts}, restarted {' and '.join(chaos.restarts) or 'nothing'}",
        f"watchers: {chaos.watchers.starts} starts, kills {counted(chaos.watchers.kills)}",
        f"runs: {counted(runs)}; refusals {runs['refused']}",
        f"deletions seen: {verdict.deletions}, of them {verdict.collected} with their Ingress;"
        f" changes seen {len(chaos.witness.seen())}, gaps {chaos.witness.gaps}",
        f"lost {len(verdict.lost)}, wrongly deleted {len(verdict.wrong)},"
        f" left over {len(verdict.extra)}",
    ]


def counted(found: dict[str, int]) -> str:
    """Return counts in words."""
    return ", ".join(f"{name} {count}" for name, count in sorted(found.items())) or "none"


def say(words: str) -> None:
    """Say how far it is."""
    print(f"chaos: {words}", flush=True)


def run(seconds: float, seed: int) -> int:
    """Run it once and return the exit code."""
    dice, parts = random.Random(seed), ExitStack()  # noqa: S311 - nothing secret
    tools = toolchain.resolve(echo=say)
    with parts:
        plane = parts.enter_context(ControlPlane(crds="targets", binaries=tools.controlplane))
        troubles = Troubles(random.Random(dice.random()))  # noqa: S311 - as above
        proxy = parts.enter_context(proxied(plane, troubles))
        project = parts.enter_context(workspace(tools, proxy.kubeconfig, PULUMI_STACK=stage.STACK))
        api = stage.api_of(plane)
        stage.fill(api)
        stage.settle(api, project)
        witness = Witness(stage.port(plane), plane.token("admin"), stage.authority(plane))
        parts.enter_context(witness.watching())
        world = World(api, random.Random(dice.random()))  # noqa: S311 - as above
        world.populate()
        watchers = Replicas(project, stage.logs(project), dice)
        chaos = Chaos(plane, proxy, project, troubles, world, watchers, witness, dice)
        chaos.begin()
        chaos.rage(seconds)
        with watchers.running(2, elected=True):
            settled = chaos.rest()
        return conclude(chaos, settled=settled)


def conclude(chaos: Chaos, *, settled: bool) -> int:
    """Say what was found, and return the exit code."""
    verdict, problems = chaos.verdict(), chaos.disagreements()
    for line in report(chaos, verdict):
        say(line)
    if not settled:
        problems.insert(0, f"not everything was as asked within {REST_SECONDS:g} s")
    problems += [f"lost: {host}" for host in verdict.lost]
    problems += [f"wrongly deleted: {each}" for each in verdict.wrong]
    problems += [f"left over: {host}" for host in verdict.extra]
    for line in problems:
        say(line)
    if not problems:
        say(f"plan, live objects and state agree: {len(chaos.world.wanted)} hosts")
    return 1 if problems else 0


def main() -> None:
    """Run until the end or Ctrl-C, which ends everything that was started."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        sys.exit(run(SECONDS, SEED))
    except KeyboardInterrupt:
        sys.exit("chaos: interrupted")
    except (ControlPlaneError, toolchain.ToolchainError) as error:
        sys.exit(f"chaos: {error}")


if __name__ == "__main__":
    main()
