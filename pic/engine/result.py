"""Defines what a run of the engine did, as a deployment reports it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pic.core.errors import PicError, TargetError, with_class
from pic.engine.outcome import Failure, Outcome
from pic.planning.changes import Changes


@dataclass(frozen=True, slots=True)
class DeployResult:
    """What a run did.

    Attributes:
        changes: The changes that it set out to make.
        outcome: What the engine did in all passes; None if nothing had to be done, so none ran.
        unread_targets: The targets that did not answer, with the reason. pic leaves what they hold
            as it is.
        error: Why a later pass could not do its work, although an earlier one changed something.
        withheld: The hosts that the run could not make, because Kubernetes is still deleting the
            object that has them.
    """

    changes: Changes
    outcome: Outcome | None = None
    unread_targets: Mapping[str, TargetError] = field(default_factory=dict)
    error: PicError | None = None
    withheld: tuple[Failure, ...] = ()

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The resources that failed, and those that wait for an object to go."""
        return (*(self.outcome.failures if self.outcome else ()), *self.withheld)

    @property
    def all_failures(self) -> tuple[Failure, ...]:
        """The resources that failed, and the targets that did not answer."""
        unread = (
            Failure("", with_class(error), name) for name, error in self.unread_targets.items()
        )
        return (*self.failures, *unread)
