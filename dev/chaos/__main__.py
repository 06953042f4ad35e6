"""Runs watchers for two minutes while everything fails that can, and a tenant attacks the others.

    CHAOS_SECONDS=120 CHAOS_SEED=1 python -m dev.chaos        (or `make chaos`)

Everything runs on 127.0.0.1 and is removed in the end. The exit code is 1 if a host, a login or a
DNS record was lost, removed or given away, or if plan, live objects and state disagree once
everything is quiet.
"""

import contextlib
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import monotonic, sleep

from dev import toolchain
from dev.chaos import judge, records, replicas, stage
from dev.chaos.attacker import Attacker, Loot
from dev.chaos.judge import HOSTILE, Judgement
from dev.chaos.random_faults import RandomFaults
from dev.chaos.records import RecordJudgement, RecordWitness
from dev.chaos.replicas import Replicas
from dev.chaos.witness import Witness
from dev.chaos.world import Key, World
from dev.controlplane import ControlPlane, ControlPlaneError
from dev.controlplane.api import Api
from dev.controlplane.proxy import Proxy, proxied
from dev.pihole import PiHole
from dev.workspace import Workspace, workspace

SECONDS = float(os.environ.get("CHAOS_SECONDS", "120"))
SEED = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(10_000))
PAUSE_SECONDS, DOWN_SECONDS = 0.15, 2.0
# After a leader was killed, the next one has to wait 15 s for the Lease.
LEADER_KILL_SECONDS, KILL_SECONDS = (10.0, 20.0), (5.0, 14.0)
CUT_SECONDS, BACK_SECONDS = (5.0, 10.0), 20.0
# The longest time from the last fault to a settled state: the longest backoff, and two runs.
SETTLE_SECONDS, QUIET_SECONDS = 300.0, 5.0
# What the attacker knows is renewed so often. While the others settle, he attacks more slowly.
LOOK_SECONDS, SLOW_ATTACK_SECONDS = (0.5, 1.5), (1.0, 3.0)
LAST_RUNS = 3

Range = tuple[float, float]
Action = Callable[[], None]


@dataclass
class Repeated:
    """An action that is repeated at random intervals, in seconds."""

    action: Action
    interval: Range
    due_at: float = 0.0

    def act_if_due(self, now: float, rng: random.Random) -> None:
        """Act if it is due."""
        if not self.due_at:
            self.due_at = now + rng.uniform(*self.interval)
        elif now >= self.due_at:
            self.action()
            self.due_at = now + rng.uniform(*self.interval)


@dataclass
class Chaos:
    """One chaos run."""

    plane: ControlPlane
    proxy: Proxy
    project: Workspace
    faults: RandomFaults
    world: World
    replicas: Replicas
    witness: Witness
    record_witness: RecordWitness
    attacker: Attacker
    rng: random.Random
    cuts: int = 0
    restarts: list[str] = field(default_factory=list)
    reclassed: list[Key] = field(default_factory=list)

    @property
    def api(self) -> Api:
        """The client of the API server, without the proxy."""
        return self.world.api

    def deploy(self) -> None:
        """Deploy the first Ingresses while nothing fails."""
        print_line(f"{len(self.world.specs)} Ingresses, deployed with pic up")
        self.project.pic("up", "--stack", stage.STACK)

    def fail_everything(self, seconds: float) -> None:
        """Let everything fail: first with two watchers and a Lease, then with one watcher."""
        print_line(f"{seconds:g} s of chaos, seed {SEED}")
        self.faults.on = True
        print_line("two watchers and a Lease")
        with self.replicas.running(2, elected=True):
            half = seconds / 2
            plan = [(half * 0.5, self.restart_etcd), (half * 0.8, self.restart_apiserver)]
            self._act(half, LEADER_KILL_SECONDS, plan)
        print_line("one watcher, killed more often")
        with self.replicas.running(1, elected=False):
            plan = [(half * 0.2, self.reclass_many), (half * 0.2 + BACK_SECONDS, self.give_back)]
            self._act(half, KILL_SECONDS, plan)
        self.give_back()
        self.faults.on = False

    def _act(self, seconds: float, kills: Range, plan: list[tuple[float, Action]]) -> None:
        start = monotonic()
        repeated = [
            Repeated(self.replicas.kill, kills),
            Repeated(self.cut, CUT_SECONDS),
            Repeated(self.look, LOOK_SECONDS),
        ]
        while (now := monotonic() - start) < seconds:
            self.world.act()
            self.attacker.act()
            self.replicas.restart_ended()
            for action in repeated:
                action.act_if_due(now, self.rng)
            if plan and now >= plan[0][0]:
                plan.pop(0)[1]()
            sleep(PAUSE_SECONDS)

    def look(self) -> None:
        """Let the attacker know what the others have now."""
        # While the API server restarts, the attacker knows nothing new.
        with contextlib.suppress(ControlPlaneError):
            objects = stage.live_objects(self.api)
            self.attacker.loot.add(objects, [host for host, _ in self.record_witness.live])

    def cut(self) -> None:
        """Cut every open watch."""
        self.cuts += self.proxy.cut_watches()

    def restart_etcd(self) -> None:
        """Stop etcd for a while."""
        print_line("restarting etcd")
        self.plane.stop_etcd()
        sleep(DOWN_SECONDS)
        self.plane.start_etcd()
        self.restarts.append("etcd")

    def restart_apiserver(self) -> None:
        """Stop the API server for a while."""
        print_line("restarting the API server")
        self.plane.stop_apiserver()
        sleep(DOWN_SECONDS)
        self.plane.start_apiserver()
        self.restarts.append("API server")

    def reclass_many(self) -> None:
        """Take more Ingresses from pic at once than the guard allows to remove."""
        print_line("changing the class of many Ingresses at once")
        self.reclassed = self.world.reclass_many()

    def give_back(self) -> None:
        """Give these Ingresses back to pic."""
        self.world.give_back(self.reclassed)
        self.reclassed = []

    def settle(self) -> bool:
        """Wait until the cluster matches the Ingresses, and say whether it did in time.

        The attacker goes on until it does: with an object for a host he may keep pic from exposing
        it again, but from nothing else. Then he deletes his objects, and every host must be live.
        """
        print_line("no more faults: waiting until the cluster matches the Ingresses")
        attack = Repeated(self.attacker.act, SLOW_ATTACK_SECONDS)
        if not self._wait(self._is_settled, attack):
            return False
        print_line("no more attacks: waiting until nothing changes")
        self.attacker.release()
        self.attacker.retreat()
        return self._wait(lambda: self._is_settled() and self._is_quiet())

    def _wait(self, is_over: Callable[[], bool], *repeated: Repeated) -> bool:
        deadline = monotonic() + SETTLE_SECONDS
        while (now := monotonic()) < deadline:
            self.replicas.restart_ended()
            for action in repeated:
                action.act_if_due(now, self.rng)
            if is_over():
                return True
            sleep(PAUSE_SECONDS)
        return False

    def _is_settled(self) -> bool:
        if not self.world.retry_writes() or self._changed_since(HOSTILE) < QUIET_SECONDS:
            return False
        blocked = stage.blocked_hosts(self.api) & self.world.wanted
        return (
            sorted({*stage.live_hosts(self.api), *blocked}) == sorted(self.world.wanted)
            and {host for host, _ in self.record_witness.live} >= self.world.wanted_records
        )

    def _is_quiet(self) -> bool:
        return self._changed_since() >= QUIET_SECONDS

    def _changed_since(self, *but: str) -> float:
        """Return how long nothing has changed, in seconds, without some namespaces."""
        return monotonic() - self.witness.last_change(*but)

    def judgement(self) -> Judgement:
        """Judge everything that the witness has seen."""
        return judge.judge(self.witness.events())

    def record_judgement(self) -> RecordJudgement:
        """Judge everything that happened to DNS records."""
        return records.judge(self.witness.events(), self.record_witness.history)

    def disagreements(self) -> list[str]:
        """Return where Ingresses, plan, live objects and state disagree, after a last run.

        Time alone lets held changes through, and the watchers have stopped. So pic runs once more.
        """
        problems: list[str] = []
        for _ in range(LAST_RUNS):
            self.project.run(*self._pic("up"), check=False)
            if not (problems := list(self._disagreements())):
                break
        return problems

    def _pic(self, *words: str) -> tuple[str, ...]:
        return (str(self.project.python), "-m", "pic", *words, "--stack", stage.STACK)

    def _disagreements(self) -> Iterator[str]:
        wanted, live = sorted(self.world.wanted), stage.live_hosts(self.api)
        if live != wanted:
            yield f"live and wanted: {differences(live, wanted)}"
        if (state := stage.remembered_hosts(self.project)) != live:
            yield f"state and live: {differences(state, live)}"
        diff = self.project.run(*self._pic("diff", "--expect-no-changes"), check=False)
        if diff.returncode:
            yield f"pic diff ended with {diff.returncode}:\n{diff.stdout}"


def differences(actual: list[str], expected: list[str]) -> str:
    """Return what only one of two lists has, as text."""
    extra, missing = set(actual) - set(expected), set(expected) - set(actual)
    return f"extra {sorted(extra)}, missing {sorted(missing)}"


def report(chaos: Chaos, judgement: Judgement, dns: RecordJudgement) -> list[str]:
    """Return the lines of the report."""
    changes, runs = chaos.world.counts, replicas.count_runs(chaos.replicas.logs)
    attacker = chaos.attacker
    return [
        f"changes of Ingresses: {sum(changes.values())} ({format_counts(changes)})",
        f"attacks: {attacker.counts.total()} ({format_counts(attacker.counts)}); requests"
        f" {format_counts(attacker.answers)}",
        f"faults injected: {chaos.faults.counts.total()} ({format_counts(chaos.faults.counts)}),"
        f" watches cut {chaos.cuts}, restarted {' and '.join(chaos.restarts) or 'nothing'}",
        f"watchers: {chaos.replicas.starts} starts, kills {format_counts(chaos.replicas.kills)}",
        f"runs: {format_counts(runs)}; refusals {runs['refused']}, held {runs['held']}",
        f"deletions seen: {judgement.deletions}, {judgement.collected} of them with their Ingress;"
        f" changes seen {len(chaos.witness.events())}, gaps {chaos.witness.gaps}; changes of DNS"
        f" records seen {len(chaos.record_witness.history)}",
        f"hosts: {verdict(judgement)}, left over {len(judgement.extra)}",
        f"DNS records: lost {len(dns.lost)}, wrongly redirected {len(dns.redirected)},"
        f" wrongly removed {len(dns.wrong)}",
    ]


def verdict(judgement: Judgement) -> str:
    """Return the numbers of errors as text."""
    return (
        f"lost {len(judgement.lost)}, wrongly exposed {len(judgement.exposed)},"
        f" wrongly removed {len(judgement.wrong)}, weakened {len(judgement.weakened)}"
    )


def errors(judgement: Judgement, dns: RecordJudgement, trespasses: Sequence[str]) -> list[str]:
    """Return a line for each error."""
    groups: dict[str, Sequence[object]] = {
        "lost": judgement.lost,
        "wrongly exposed": judgement.exposed,
        "wrongly removed": judgement.wrong,
        "weakened": judgement.weakened,
        "left over": judgement.extra,
        "DNS record lost": dns.lost,
        "DNS record wrongly redirected": dns.redirected,
        "DNS record wrongly removed": dns.wrong,
        "not forbidden to the attacker": trespasses,
    }
    return [f"{title}: {error}" for title, group in groups.items() for error in group]


def format_counts(counts: dict[str, int]) -> str:
    """Return counts as text."""
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def print_line(line: str) -> None:
    """Print a line of progress."""
    print(f"chaos: {line}", flush=True)


def run(seconds: float, seed: int) -> int:
    """Run the chaos and return the exit code."""
    rng, stack = random.Random(seed), ExitStack()  # noqa: S311 - nothing secret
    tools = toolchain.resolve(echo=print_line)
    with stack:
        plane = stack.enter_context(ControlPlane(crds="targets", binaries=tools.controlplane))
        # A killed run and the next one must not kill Pi-hole together: `make kills` tests that.
        pihole = stack.enter_context(PiHole(overlap="serialise"))
        faults = RandomFaults(child(rng))
        proxy = stack.enter_context(proxied(plane, faults))
        project = stack.enter_context(
            workspace(
                tools, proxy.kubeconfig, PULUMI_STACK=stage.STACK, PIHOLE_PASSWORD=pihole.password
            )
        )
        api = stage.admin_api(plane)
        stage.create_prerequisites(api)
        stage.create_stack(api, project, pihole)
        witness = Witness(stage.port(plane), plane.token("admin"), stage.authority(plane))
        stack.enter_context(witness.watching())
        record_witness = RecordWitness(lambda: pihole.lines)
        stack.enter_context(record_witness.watching())
        tenant = stage.create_tenant(plane, api)
        attacker = Attacker(tenant, child(rng), Loot(forbidden=stage.FORBIDDEN))
        attacker.prepare()
        world = World(api, child(rng))
        world.populate()
        watchers = Replicas(project, stage.log_folder(project), rng)
        chaos = Chaos(
            *(plane, proxy, project, faults, world, watchers),
            *(witness, record_witness, attacker, rng),
        )
        chaos.deploy()
        chaos.fail_everything(seconds)
        with watchers.running(2, elected=True):
            settled = chaos.settle()
        return conclude(chaos, settled=settled)


def child(rng: random.Random) -> random.Random:
    """Return a generator of its own, so that one part does not change what another one does."""
    return random.Random(rng.random())  # noqa: S311 - nothing secret


def conclude(chaos: Chaos, *, settled: bool) -> int:
    """Print the report, and return the exit code."""
    problems = chaos.disagreements()
    judgement, dns = chaos.judgement(), chaos.record_judgement()
    for line in report(chaos, judgement, dns):
        print_line(line)
    if not settled:
        problems.insert(0, f"the cluster did not match the Ingresses within {SETTLE_SECONDS:g} s")
    problems += errors(judgement, dns, chaos.attacker.trespasses)
    for line in problems:
        print_line(line)
    if not problems:
        print_line(f"plan, live objects and state agree: {len(chaos.world.wanted)} hosts")
    return 1 if problems else 0


def main() -> None:
    """Run to the end, or until Ctrl-C, which stops everything."""
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
