"""Formats the results as tables. No I/O."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tabulate import tabulate

from bench.goals import GOALS, Results, look_up

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Line:
    """Describes a line that compares a time with its yardstick.

    Attributes:
        what: The measured operation.
        yardstick: The operation to compare with.
        section: The section of results.json with all three figures.
        seconds: The key of the time.
        other: The key of the time of the yardstick.
        ratio: The key of the ratio.
    """

    what: str
    yardstick: str
    section: str
    seconds: str
    other: str
    ratio: str

    def cells(self, results: Results) -> list[str]:
        """Return the cells of the line."""
        seconds, *rest = [
            _formatted(look_up(results, f"{self.section}.{key}"))
            for key in (self.seconds, self.other, self.ratio)
        ]
        return [self.what, seconds, self.yardstick, *rest]


def _lines() -> Iterator[Line]:
    """Yield the lines in the order of the life of a stack."""
    apply, diff, plain = "kubectl apply", "kubectl diff", "pulumi up, nothing to do"
    default, naive = ("seconds", "ratio"), ("naive", "ratio_naive")
    events, refresh = ("seconds_events", "ratio_events"), ("seconds_refresh", "ratio_refresh")
    for what, keys in (
        ("pic up from nothing, Events off", default),
        ("pic up from nothing, Events on", events),
        ("the engine alone, from nothing", ("engine_alone", "ratio_engine_alone")),
        ("naive from nothing", naive),
    ):
        yield Line(what, apply, "cold", keys[0], "kubectl_apply", keys[1])
    for what, keys in ("pic up, nothing to do", default), ("naive, nothing to do", naive):
        yield Line(what, diff, "noop", keys[0], "kubectl_diff", keys[1])
    for what, keys in (
        ("pulumi up, the first after a deployment", ("seconds_first", "ratio_first")),
        (plain, default),
        ("pulumi up with refresh, nothing to do", refresh),
    ):
        yield Line(what, diff, "engine_noop", keys[0], "kubectl_diff", keys[1])
    for what, keys in ("pic up, one host changed", default), ("naive, one host changed", naive):
        yield Line(what, plain, "one_change", keys[0], "engine_noop", keys[1])
    cold = "pic up from nothing"
    yield Line("pic up, state lost", cold, "state_lost", "seconds", "cold", "ratio_to_cold")
    yield Line("pic destroy", "kubectl delete", "destroy", "seconds", "kubectl_delete", "ratio")


def figures(results: Results) -> str:
    """Return each time and that of its yardstick, in seconds."""
    rows = [line.cells(results) for line in _lines()]
    return _table(rows, "measure", "s", "yardstick", "s", "ratio")


def growth(results: Results) -> str:
    """Return the time per host of each row at two numbers of hosts, in milliseconds.

    The table is empty if the growth was not measured.
    """
    section = _section(results, "growth")
    sizes = [key for key in section if key.startswith("per_host_")]
    rows = []
    for name, row in _section(section, "rows").items():
        times = [_milliseconds(look_up({name: row}, f"{name}.{size}")) for size in sizes]
        rows.append([name, *times, _formatted(look_up({name: row}, f"{name}.ratio"))])
    headers = (f"ms per host at {int(size.removeprefix('per_host_')):,}" for size in sizes)
    return _table(rows, "growth of", *headers, "ratio") if rows else ""


def memory(results: Results) -> str:
    """Return the peaks of resident memory, in MiB."""
    section = _section(results, "rss_mb")
    rows = [
        [name, *(_formatted(look_up(section, f"{name}.{key}")) for key in ("tree", "process"))]
        for name in section
    ]
    return _table(rows, "memory of", "MiB, all processes", "MiB, the first process")


def goals(results: Results) -> str:
    """Return each goal, and whether it is met."""
    rows = []
    for goal in GOALS:
        figure = _formatted(look_up(results, goal.path))
        rows.append([goal.what, f"{goal.limit:g} {goal.unit}", figure, goal.verdict(results)])
    return _table(rows, "goal", "at most", "measured", "")


def _table(rows: list[list[str]], *headers: str) -> str:
    return tabulate(rows, headers=headers, disable_numparse=True)


def _section(results: Results, name: str) -> Mapping[str, object]:
    section = results.get(name)
    return section if isinstance(section, dict) else {}


def _milliseconds(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds * 1000:.2f}"


def _formatted(figure: float | None) -> str:
    if figure is None:
        return NOTHING
    return str(figure) if isinstance(figure, int) else f"{figure:.2f}"
