"""Runs the measurements in order, and checks what each command has done."""

from collections.abc import Callable
from dataclasses import dataclass

from bench import commands
from bench.commands import Driver
from bench.figures import Observed, Row, Samples
from bench.running import Command
from bench.stage import Stage, moved
from dev.workspace import Workspace

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Rounds:
    """Measures on one stage; every round begins and ends without objects and without state.

    Attributes:
        stage: The control plane and the projects.
        driver: How to deploy and destroy.
        samples: Where the times go.
        tell: Prints part of a progress line.
    """

    stage: Stage
    driver: Driver
    samples: Samples
    tell: Tell

    def whole(self, number: int, *, naive: bool) -> None:
        """Measure pic and its yardsticks."""
        self.first(events=False, row=Row.COLD)
        self.stage.save_objects()
        self.stage.wipe()
        self.kubectl()
        self.engine()
        if naive:
            self.naive(number)
        self.ours(number, yardstick=True)

    def growing(self, number: int) -> None:
        """Measure pic without yardsticks."""
        self.first(events=False, row=Row.COLD)
        self.stage.wipe()
        self.ours(number, yardstick=False)

    def first(self, *, events: bool, row: Row) -> None:
        """Measure a first deployment."""
        self.stage.set_events(on=events)
        self.driver.prepare(self.stage.project)
        self._up(row)
        self.stage.expect(self.stage.hosts)

    def kubectl(self) -> None:
        """Measure how kubectl creates and deletes the same objects."""
        project, objects = self.stage.project, self.stage.objects
        self._time(Row.KUBECTL_APPLY, commands.kubectl_apply(project, objects))
        self.stage.expect(self.stage.hosts)
        self._time(Row.KUBECTL_DELETE, commands.kubectl_delete(project, objects))
        self.stage.expect(0)

    def engine(self) -> None:
        """Measure the least that the engine needs for the same objects."""
        project = self.stage.project
        commands.make_stack(project)
        self._time(Row.ENGINE_COLD, commands.engine_alone(project, self.stage.objects))
        self.stage.expect(self.stage.hosts)
        self.stage.wipe()

    def naive(self, number: int) -> None:
        """Measure the naive program."""
        self.stage.set_naive()
        for row, change in (Row.NAIVE, 0), (Row.NAIVE_NOOP, 0), (Row.NAIVE_ONE_CHANGE, number):
            self.stage.write_naive(change=change)
            self._time(row, commands.naive_up(self.stage.naive), self.stage.naive)
            self.stage.expect(self.stage.hosts)
        self.stage.drop_naive()
        self.stage.wipe()

    def ours(self, number: int, *, yardstick: bool) -> None:
        """Measure a stack from its first deployment to its end, with the default Events."""
        self.first(events=True, row=Row.COLD_EVENTS)
        before = self.stage.identities()
        self.unchanged(yardstick=yardstick)
        self.stage.expect_moved(0, before)
        self.change(f"/round-{number}")
        self.heal()
        self._time(Row.DESTROY, self.driver.destroy(self.stage.project))
        self.stage.expect(0)
        self.stage.wipe()

    def unchanged(self, *, yardstick: bool) -> None:
        """Measure runs that have nothing to do."""
        project = self.stage.project
        self._up(Row.NOOP)
        if yardstick:
            self._time(Row.KUBECTL_DIFF, commands.kubectl_diff(project, self.stage.objects))
        self._time(Row.ENGINE_FIRST, commands.first_engine_up(project))
        self._time(Row.ENGINE_NOOP, commands.engine_up(project, refresh=False))
        self._time(Row.ENGINE_NOOP_REFRESH, commands.engine_up(project, refresh=True))

    def change(self, path: str) -> None:
        """Measure the deployment of one changed Ingress."""
        before = self.stage.identities()
        self.stage.change_ingress(path)
        self._up(Row.ONE_CHANGE)
        self.stage.expect_moved(1, before)

    def heal(self) -> None:
        """Measure the deployment after the state is lost, and count the objects that it changes."""
        before = self.stage.identities()
        self.stage.lose_state()
        self.driver.prepare(self.stage.project)
        self._up(Row.STATE_LOST)
        self.samples.moved.append(moved(before, self.stage.identities()))

    def observe(self) -> dict[Row, Observed]:
        """Run the main commands once more, observed instead of timed."""
        stage, project = self.stage, self.stage.project
        up = self.driver.up(project)
        observed: dict[Row, Observed] = {}
        stage.set_events(on=True)
        self.driver.prepare(project)
        observed[Row.COLD] = self._observe(Row.COLD, up)
        stage.save_objects()
        observed[Row.NOOP] = self._observe(Row.NOOP, up)
        self.stage.runner.timed(project, commands.first_engine_up(project))
        plain = commands.engine_up(project, refresh=False)
        observed[Row.ENGINE_NOOP] = self._observe(Row.ENGINE_NOOP, plain)
        refreshing = commands.engine_up(project, refresh=True)
        observed[Row.ENGINE_NOOP_REFRESH] = self._observe(Row.ENGINE_NOOP_REFRESH, refreshing)
        diff = commands.kubectl_diff(project, stage.objects)
        observed[Row.KUBECTL_DIFF] = self._observe(Row.KUBECTL_DIFF, diff)
        stage.change_ingress("/observed")
        observed[Row.ONE_CHANGE] = self._observe(Row.ONE_CHANGE, up)
        stage.lose_state()
        self.driver.prepare(project)
        observed[Row.STATE_LOST] = self._observe(Row.STATE_LOST, up)
        stage.wipe()
        return observed

    def _up(self, row: Row) -> None:
        self._time(row, self.driver.up(self.stage.project))

    def _time(self, row: Row, command: Command, project: Workspace | None = None) -> None:
        self.tell(f"{row.value:<26}")
        seconds = self.stage.runner.timed(project or self.stage.project, command)
        self.tell(f"{seconds:8.2f} s\n")
        self.samples.add(row, seconds)

    def _observe(self, row: Row, command: Command) -> Observed:
        self.tell(f"{row.value:<26}")
        observed = self.stage.runner.observed(self.stage.project, command)
        self.tell(f"{observed.tree_mb:8.0f} MiB\n")
        return observed
