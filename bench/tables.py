"""Results as tables for people. No I/O."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tabulate import tabulate

from bench.goals import GOALS, Results, look_up

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Line:
    """A time beside its yardstick.

    Attributes:
        section: Of results.json, where all three figures are.
    """

    what: str
    yardstick: str
    section: str
    seconds: str
    other: str
    ratio: str

    def cells(self, results: Results) -> list[str]:
        """Return the cells of the line."""
        found = [
            _shown(look_up(results, f"{self.section}.{key}"))
            for key in (self.seconds, self.other, self.ratio)
        ]
        return [self.what, found[0], self.yardstick, *found[1:]]


def _lines() -> Iterator[Line]:
    """Yield the lines in the order in which one thinks of a stack's life."""
    apply, diff, plain = "kubectl apply", "kubectl diff", "pulumi up, nothing to do"
    own, naive = ("seconds", "ratio"), ("naive", "ratio_naive")
    events, refresh = ("seconds_events", "ratio_events"), ("seconds_refresh", "ratio_refresh")
    for what, keys in (
        ("pic up from nothing, Events off", own),
        ("pic up from nothing, Events on", events),
        ("the engine alone, from nothing", ("engine_alone", "ratio_engine_alone")),
        ("naive from nothing", naive),
    ):
        yield Line(what, apply, "cold", keys[0], "kubectl_apply", keys[1])
    for what, keys in ("pic up, nothing to do", own), ("naive, nothing to do", naive):
        yield Line(what, diff, "noop", keys[0], "kubectl_diff", keys[1])
    for what, keys in (
        ("pulumi up, the first after a deployment", ("seconds_first", "ratio_first")),
        (plain, own),
        ("pulumi up with refresh, nothing to do", refresh),
    ):
        yield Line(what, diff, "engine_noop", keys[0], "kubectl_diff", keys[1])
    for what, keys in ("pic up, one host changed", own), ("naive, one host changed", naive):
        yield Line(what, plain, "one_change", keys[0], "engine_noop", keys[1])
    cold = "pic up from nothing"
    yield Line("pic up, state lost", cold, "state_lost", "seconds", "cold", "ratio_to_cold")
    yield Line("pic destroy", "kubectl delete", "destroy", "seconds", "kubectl_delete", "ratio")


def figures(results: Results) -> str:
    """Return each time beside its yardstick, in seconds."""
    rows = [line.cells(results) for line in _lines()]
    return _table(rows, "measure", "s", "yardstick", "s", "ratio")


def growth(results: Results) -> str:
    """Return the time per host of each row at two numbers of hosts, in milliseconds.

    It is empty where that was not measured.
    """
    found = _section(results, "growth")
    sizes = [key for key in found if key.startswith("per_host_")]
    rows = []
    for name, row in _section(found, "rows").items():
        times = [_milliseconds(look_up({name: row}, f"{name}.{size}")) for size in sizes]
        rows.append([name, *times, _shown(look_up({name: row}, f"{name}.ratio"))])
    headers = (f"ms a host at {int(size.removeprefix('per_host_')):,}" for size in sizes)
    return _table(rows, "growth of", *headers, "ratio") if rows else ""


def memory(results: Results) -> str:
    """Return the peaks of resident memory, in MiB."""
    found = _section(results, "rss_mb")
    rows = [
        [name, *(_shown(look_up(found, f"{name}.{key}")) for key in ("tree", "process"))]
        for name in found
    ]
    return _table(rows, "memory of", "MiB, all processes", "MiB, the one started")


def goals(results: Results) -> str:
    """Return for each goal whether it is met."""
    rows = []
    for goal in GOALS:
        found = _shown(look_up(results, goal.path))
        rows.append([goal.what, f"{goal.limit:g} {goal.unit}", found, goal.verdict(results)])
    return _table(rows, "goal", "at most", "found", "")


def _table(rows: list[list[str]], *headers: str) -> str:
    return tabulate(rows, headers=headers, disable_numparse=True)


def _section(results: Results, name: str) -> Mapping[str, object]:
    found = results.get(name)
    return found if isinstance(found, dict) else {}


def _milliseconds(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds * 1000:.2f}"


def _shown(figure: float | None) -> str:
    if figure is None:
        return NOTHING
    return str(figure) if isinstance(figure, int) else f"{figure:.2f}"
