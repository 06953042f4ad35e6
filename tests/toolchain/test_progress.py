"""Tests what a user sees while a step takes long."""

import io

from dev.toolchain.progress import Progress


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_a_terminal_there_is_a_line_every_half_minute() -> None:
    clock, lines = Clock(), list[str]()
    progress = Progress("pulumi: building", lines.append, 30, clock=clock, terminal=None)

    for clock.now in range(0, 95, 5):
        progress.tick()

    assert lines == [f"pulumi: building: {seconds} s" for seconds in (30, 60, 90)]


def test_on_a_terminal_one_line_is_updated_and_then_erased() -> None:
    clock, lines, terminal = Clock(), list[str](), io.StringIO()
    progress = Progress("pulumi: building", lines.append, 30, clock=clock, terminal=terminal)

    for clock.now in (1.2, 2.3):
        progress.tick()
    progress.clear()

    assert lines == []
    assert terminal.getvalue() == "\rpulumi: building: 1 s\rpulumi: building: 2 s\r\x1b[K"
