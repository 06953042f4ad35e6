"""Defines the goals, and compares the results with them. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass

Results = Mapping[str, object]


def look_up(results: Results, path: str) -> float | None:
    """Return the figure at a dotted path of results.json, or None if it was not measured."""
    value: object = results
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, (int, float)) else None


@dataclass(frozen=True, slots=True)
class Goal:
    """Sets the upper limit of a figure.

    Attributes:
        what: The measured operation.
        path: The dotted path of the figure in results.json.
        limit: The largest figure that meets the goal.
        unit: The unit of limit and figure: a yardstick, or what is counted.
    """

    what: str
    path: str
    limit: float
    unit: str

    def verdict(self, results: Results) -> str:
        """Say whether the goal is met."""
        figure = look_up(results, self.path)
        if figure is None:
            return "not measured"
        return "met" if figure <= self.limit else "NOT MET"


_APPLY, _DIFF = "x kubectl apply --server-side", "x kubectl diff --server-side"
GOALS = (
    Goal("pic up from nothing, Events off", "cold.ratio", 1.1, _APPLY),
    Goal("the same", "cold.ratio_to_engine_alone", 1.2, "x the engine alone, from nothing"),
    Goal("pic up from nothing, Events on", "cold.ratio_events", 1.5, _APPLY),
    Goal("pic up, nothing to do", "noop.ratio", 0.3, _DIFF),
    Goal("pic up, nothing to do", "noop.engine_processes", 0, "processes of the engine"),
    Goal("pulumi up, nothing to do", "engine_noop.ratio", 1.2, _DIFF),
    Goal("pulumi up with refresh, nothing to do", "engine_noop.ratio_refresh", 2.2, _DIFF),
    Goal("pic up, one host changed", "one_change.ratio", 1.5, "x pulumi up, nothing to do"),
    Goal("pic up, state lost", "state_lost.ratio_to_cold", 3, "x pic up from nothing"),
    Goal("pic up, state lost", "state_lost.generations_moved", 0, "generations moved"),
    Goal("growth, the worst row", "growth.ratio", 1.2, "x the time per host of few hosts"),
    Goal("pic up, nothing to do", "noop.requests", 0, "API calls beyond the LISTs"),
    Goal("pulumi up, nothing to do", "engine_noop.requests", 0, "API calls beyond the LISTs"),
    Goal("resident watcher, idle", "rss_mb.watch.tree", 64, "MiB"),
)
