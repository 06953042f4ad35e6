"""What the loop needs of others: a lease, and somebody to tell how it is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pic.core.model import Plan
from pic.core.notices import Notice

Log = Callable[..., None]
"""Logs a line: its level, its words, and fields."""


class Leader(Protocol):
    """Of several watchers of one stack, one may start runs."""

    def hold(self) -> bool:
        """Take the lease or renew it, and say whether it is ours.

        Raises:
            ClusterError: It is not, and cannot be without a person's help.
        """

    def release(self) -> None:
        """Give it back, so that another one need not wait for its end."""


class Health(Protocol):
    """What probes and metrics are made of. Times are seconds of one clock that only grows."""

    def beat(self, now: float) -> None:
        """Note that the loop goes round."""

    def contact(self, now: float) -> None:
        """Note that the API server has answered."""

    def synced(self, kind: str, ok: bool) -> None:  # noqa: FBT001 - a state, told in one word
        """Note whether everything of a kind is known."""

    def leading(self, yes: bool) -> None:  # noqa: FBT001 - as above
        """Note whether this watcher may start runs."""

    def queue(self, oldest_change_at: float | None) -> None:
        """Note since when the oldest change waits."""

    def run_started(self, now: float) -> None:
        """Note that a run begins."""

    def run_ended(self, now: float, report: Mapping[str, object]) -> None:
        """Note how a run ended, or that a look found nothing to do."""

    def evaluated(self, plan: Plan, notices: Sequence[Notice], refused: int = 0) -> None:
        """Note what is to be, and how many removals of that the guard refuses."""
