"""The order in which things are measured, and what each must have done."""

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
    """Measures on one stage; every round begins and ends with no object and no state.

    Attributes:
        tell: Prints a piece of a line about the progress.
    """

    stage: Stage
    driver: Driver
    samples: Samples
    tell: Tell

    def whole(self, number: int, *, naive: bool) -> None:
        """Measure this project and its yardsticks."""
        self.first(events=False, row=Row.COLD)
        self.stage.save_objects()
        self.stage.wipe()
        self.kubectl()
        self.engine()
        if naive:
            self.naive(number)
        self.ours(number, yardstick=True)

    def growing(self, number: int) -> None:
        """Measure this project without yardsticks."""
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
        """Measure a life of the stack, with Events as they are by default."""
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
        """Measure what happens when there is nothing to do."""
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
        """Measure the deployment after the state was lost, and count what it touched."""
        before = self.stage.identities()
        self.stage.lose_state()
        self.driver.prepare(self.stage.project)
        self._up(Row.STATE_LOST)
        self.samples.moved.append(moved(before, self.stage.identities()))

    def watch(self) -> dict[Row, Observed]:
        """Run things once more, watched instead of timed."""
        stage, project = self.stage, self.stage.project
        up = self.driver.up(project)
        found: dict[Row, Observed] = {}
        stage.set_events(on=True)
        self.driver.prepare(project)
        found[Row.COLD] = self._watch(Row.COLD, up)
        stage.save_objects()
        found[Row.NOOP] = self._watch(Row.NOOP, up)
        self.stage.runner.timed(project, commands.first_engine_up(project))
        plain = commands.engine_up(project, refresh=False)
        found[Row.ENGINE_NOOP] = self._watch(Row.ENGINE_NOOP, plain)
        refreshing = commands.engine_up(project, refresh=True)
        found[Row.ENGINE_NOOP_REFRESH] = self._watch(Row.ENGINE_NOOP_REFRESH, refreshing)
        diff = commands.kubectl_diff(project, stage.objects)
        found[Row.KUBECTL_DIFF] = self._watch(Row.KUBECTL_DIFF, diff)
        stage.change_ingress("/watched")
        found[Row.ONE_CHANGE] = self._watch(Row.ONE_CHANGE, up)
        stage.lose_state()
        self.driver.prepare(project)
        found[Row.STATE_LOST] = self._watch(Row.STATE_LOST, up)
        stage.wipe()
        return found

    def _up(self, row: Row) -> None:
        self._time(row, self.driver.up(self.stage.project))

    def _time(self, row: Row, command: Command, project: Workspace | None = None) -> None:
        self.tell(f"{row.value:<26}")
        seconds = self.stage.runner.timed(project or self.stage.project, command)
        self.tell(f"{seconds:8.2f} s\n")
        self.samples.add(row, seconds)

    def _watch(self, row: Row, command: Command) -> Observed:
        self.tell(f"{row.value:<26}")
        seen = self.stage.runner.watched(self.stage.project, command)
        self.tell(f"{seen.tree_mb:8.0f} MiB\n")
        return seen
