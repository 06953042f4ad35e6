"""Collects what planning has to report, and turns it into sorted notices."""

from dataclasses import dataclass

from pic.core.ingress import Ingress
from pic.core.notices import Notice, Reason, Ref
from pic.planning.trail import Trail


@dataclass(frozen=True, slots=True)
class Problem:
    """A notice before it has an object: a reason, its text, and the host that it is about.

    The steps of planning return and raise these. The caller knows the Ingress, and logs them.

    Attributes:
        host: None if the notice is about the whole Ingress.
        annotation: The annotation that cannot be used, if the notice is about one.
        urgent: Whether it is a warning although its reason usually needs no action.
    """

    reason: Reason
    message: str
    host: str | None = None
    annotation: str = ""
    urgent: bool = False


class ProblemError(ValueError):
    """Reports that something cannot be used now.

    Attributes:
        problem: The reason and the text, for a notice.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        self.problem = Problem(reason, message)
        super().__init__(message)


class NoticeLog:
    """Collects notices and drops duplicates, together with the trail of the decisions.

    Duplicates are normal: a missing tunnel, for example, is a problem of every host of an Ingress.

    Attributes:
        trail: Why planning decided as it did.
    """

    def __init__(self, trail: Trail | None = None) -> None:
        self.trail = Trail() if trail is None else trail
        self._notices: dict[Notice, None] = {}

    def add(self, ingress: Ingress, problem: Problem) -> None:
        """Add a notice about an Ingress, or about one host of it."""
        self.put(
            Notice(
                problem.reason,
                ref(ingress),
                problem.message,
                problem.host,
                problem.annotation,
                problem.urgent,
                hosts=() if problem.host else ingress.hosts,
            )
        )

    def refuse(self, ingress: Ingress, host: str, problem: Problem) -> None:
        """Add a notice about a host that an Ingress does not get."""
        self.trail.refuse(ingress, host, problem)
        self.add(ingress, problem)

    def refuse_record(self, ingress: Ingress, host: str, problem: Problem) -> None:
        """Add a notice about a host whose DNS record an Ingress does not get."""
        self.trail.refuse_record(ingress, host, problem)
        self.add(ingress, problem)

    def put(self, notice: Notice) -> None:
        """Add a notice about any object."""
        self._notices[notice] = None

    def sorted(self) -> tuple[Notice, ...]:
        """Return the notices by object, host and reason."""
        return tuple(sorted(self._notices, key=lambda notice: notice.order))


def ref(ingress: Ingress) -> Ref:
    """Name an Ingress."""
    return Ref("Ingress", ingress.namespace, ingress.name)
