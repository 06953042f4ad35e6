"""Computes medians and ratios from the measurements, in the shape of results.json. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

SECONDS_DIGITS, RATIO_DIGITS, PER_HOST_DIGITS = 2, 2, 6

Json = dict[str, object]


class Row(StrEnum):
    """Names what is timed."""

    COLD = "cold"
    COLD_EVENTS = "cold_events"
    NOOP = "noop"
    ENGINE_NOOP = "engine_noop"
    ENGINE_NOOP_REFRESH = "engine_noop_refresh"
    ONE_CHANGE = "one_change"
    STATE_LOST = "state_lost"
    DESTROY = "destroy"
    KUBECTL_APPLY = "kubectl_apply"
    KUBECTL_DIFF = "kubectl_diff"
    KUBECTL_DELETE = "kubectl_delete"
    NAIVE = "naive"
    NAIVE_NOOP = "naive_noop"
    NAIVE_ONE_CHANGE = "naive_one_change"
    ENGINE_FIRST = "engine_first"
    ENGINE_COLD = "engine_cold"


OURS = (
    *(Row.COLD, Row.COLD_EVENTS, Row.NOOP, Row.ENGINE_FIRST, Row.ENGINE_NOOP),
    *(Row.ENGINE_NOOP_REFRESH, Row.ONE_CHANGE, Row.STATE_LOST, Row.DESTROY),
)


@dataclass
class Samples:
    """Holds the measurements with one number of hosts.

    Attributes:
        hosts: The number of hosts.
        seconds: The times of each row, one per round.
        moved: The number of live objects that the recovery of a lost state changed, per round.
    """

    hosts: int
    seconds: dict[Row, list[float]] = field(default_factory=dict)
    moved: list[int] = field(default_factory=list)

    def add(self, row: Row, seconds: float) -> None:
        """Record a time."""
        self.seconds.setdefault(row, []).append(seconds)

    def of(self, row: Row) -> float | None:
        """Return the median of a row, or None if it was not measured."""
        return median(self.seconds[row]) if self.seconds.get(row) else None


@dataclass(frozen=True, slots=True)
class Observed:
    """Holds what was observed during one run, which was not timed.

    Attributes:
        tree_mb: The peak sum of resident memory over the process and its descendants, in MiB.
        process_mb: The peak resident memory of the started process, in MiB.
        engines: The number of processes of the engine, its language host and plugins.
        clis: The number of processes of the CLI that only query.
        requests: The requests about single PangolinResources: all but LIST and WATCH.
    """

    tree_mb: float
    process_mb: float
    engines: int
    clis: int
    requests: int


def ratio(value: float | None, yardstick: float | None) -> float | None:
    """Return a value as a multiple of its yardstick, or None if one was not measured."""
    if value is None or not yardstick:
        return None
    return round(value / yardstick, RATIO_DIGITS)


def results(
    main: Samples, growth: Sequence[Samples], observed: Mapping[Row, Observed]
) -> dict[str, object]:
    """Return the content of results.json; a figure is null if it was not measured."""
    return {
        "hosts": main.hosts,
        "cold": _cold(main),
        "noop": _noop(main, observed.get(Row.NOOP)),
        "engine_noop": _engine_noop(main, observed.get(Row.ENGINE_NOOP)),
        "one_change": _one_change(main, observed.get(Row.ONE_CHANGE)),
        "state_lost": _state_lost(main),
        "destroy": _compared(main, Row.DESTROY, Row.KUBECTL_DELETE),
        "growth": _growth(growth),
        "rss_mb": {row.value: _memory(run) for row, run in observed.items()},
    }


def _compared(main: Samples, row: Row, yardstick: Row) -> Json:
    return {
        "seconds": _seconds(main, row),
        yardstick.value: _seconds(main, yardstick),
        "ratio": ratio(main.of(row), main.of(yardstick)),
    }


def _variant(main: Samples, word: str, row: Row, yardstick: Row) -> Json:
    """Return another row of a section, with its ratio to the yardstick of the section."""
    return {
        f"seconds_{word}": _seconds(main, row),
        f"ratio_{word}": ratio(main.of(row), main.of(yardstick)),
    }


def _naive(main: Samples, row: Row, yardstick: Row) -> Json:
    return {
        "naive": _seconds(main, row),
        "ratio_naive": ratio(main.of(row), main.of(yardstick)),
    }


def _cold(main: Samples) -> Json:
    return {
        **_compared(main, Row.COLD, Row.KUBECTL_APPLY),
        **_naive(main, Row.NAIVE, Row.KUBECTL_APPLY),
        **_variant(main, "events", Row.COLD_EVENTS, Row.KUBECTL_APPLY),
        "engine_alone": _seconds(main, Row.ENGINE_COLD),
        "ratio_engine_alone": ratio(main.of(Row.ENGINE_COLD), main.of(Row.KUBECTL_APPLY)),
        "ratio_to_engine_alone": ratio(main.of(Row.COLD), main.of(Row.ENGINE_COLD)),
    }


def _noop(main: Samples, observed: Observed | None) -> Json:
    return {
        **_compared(main, Row.NOOP, Row.KUBECTL_DIFF),
        **_naive(main, Row.NAIVE_NOOP, Row.KUBECTL_DIFF),
        "engine_processes": observed.engines if observed else None,
        "cli_processes": observed.clis if observed else None,
        "requests": observed.requests if observed else None,
    }


def _engine_noop(main: Samples, observed: Observed | None) -> Json:
    return {
        **_compared(main, Row.ENGINE_NOOP, Row.KUBECTL_DIFF),
        **_variant(main, "refresh", Row.ENGINE_NOOP_REFRESH, Row.KUBECTL_DIFF),
        **_variant(main, "first", Row.ENGINE_FIRST, Row.KUBECTL_DIFF),
        "requests": observed.requests if observed else None,
    }


def _one_change(main: Samples, observed: Observed | None) -> Json:
    return {
        **_compared(main, Row.ONE_CHANGE, Row.ENGINE_NOOP),
        **_naive(main, Row.NAIVE_ONE_CHANGE, Row.ENGINE_NOOP),
        "requests": observed.requests if observed else None,
    }


def _state_lost(main: Samples) -> Json:
    return {
        "seconds": _seconds(main, Row.STATE_LOST),
        "cold": _seconds(main, Row.COLD),
        "ratio_to_cold": ratio(main.of(Row.STATE_LOST), main.of(Row.COLD)),
        "generations_moved": max(main.moved, default=None),
    }


def _growth(sizes: Sequence[Samples]) -> Json:
    """Return the time per host of each row at two sizes, and that of the row that grows most."""
    if len(sizes) != 2:
        return {}
    rows = {row.value: _growth_of(row, *sizes) for row in OURS}
    worst = max(rows, key=lambda name: _factor(rows[name]))
    return {**rows[worst], "row": worst, "rows": rows}


def _growth_of(row: Row, small: Samples, large: Samples) -> Json:
    first, second = _per_host(small, row), _per_host(large, row)
    return {
        f"per_host_{small.hosts}": _rounded(first, PER_HOST_DIGITS),
        f"per_host_{large.hosts}": _rounded(second, PER_HOST_DIGITS),
        "ratio": ratio(second, first),
    }


def _factor(row: Json) -> float:
    return row["ratio"] if isinstance(row["ratio"], float) else 0.0


def _per_host(samples: Samples, row: Row) -> float | None:
    seconds = samples.of(row)
    return None if seconds is None else seconds / samples.hosts


def _memory(observed: Observed) -> Json:
    return {"tree": round(observed.tree_mb), "process": round(observed.process_mb)}


def _seconds(main: Samples, row: Row) -> float | None:
    return _rounded(main.of(row), SECONDS_DIGITS)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def all_rounds(samples: Samples) -> Json:
    """Return the figures of every round, in seconds."""
    seconds = {
        row.value: [round(figure, SECONDS_DIGITS) for figure in samples.seconds[row]]
        for row in Row
        if row in samples.seconds
    }
    return {"hosts": samples.hosts, "seconds": seconds, "moved": samples.moved}
