"""Declares what a target is: one system in which pic brings a part of the plan about.

A target is one package below `pic/run/targets`, registered in the list of that package. Everything
that runs, reviews, deploys and diagnoses goes through this interface and names no single target.
A target declares its resources as values, since nothing below the engine may import Pulumi.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar

from pic.core.errors import TargetError
from pic.core.findings import Finding
from pic.core.model import Plan, Snapshot
from pic.planning.notice_log import NoticeLog
from pic.planning.plan import PlanRequest
from pic.run.doctor_context import DoctorContext
from pic.settings.parse import Settings, TargetName
from pic.settings.permissions import Permission
from pic.snapshot.assemble import RawSnapshot


@dataclass(frozen=True, slots=True)
class ReadTimeouts:
    """How long a run waits for what a target holds, in seconds.

    Attributes:
        lock: For other runs of this host that talk to the same target.
        connect: For a connection.
        answer: For one answer.
    """

    lock: float
    connect: float
    answer: float


class HookSet(Enum):
    """Which hooks of the engine a target's resources bind."""

    RESOURCE = "resource"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class Provider:
    """The provider that a target's resources use.

    Attributes:
        package: The Pulumi package, such as `kubernetes`.
        name: The Pulumi name of the provider resource.
        inputs: Its configuration. Credentials do not belong here: inputs enter the state.
    """

    package: str
    name: str
    inputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Declaration:
    """One resource as it is declared to the engine.

    Attributes:
        name: The Pulumi name.
        inputs: Plain values, without None and without empty maps and lists.
        import_id: The id of the live object to import; empty to create one.
        adopting: The live object belongs to the Go controller.
    """

    name: str
    inputs: Mapping[str, Any]
    import_id: str = ""
    adopting: bool = False


@dataclass(frozen=True, slots=True)
class Declarations:
    """Everything that a target declares in one run.

    Attributes:
        token: The type token of the resources.
        version: The version of the provider plugin; empty where Pulumi.yaml names the plugin.
        delete_timeout: As Pulumi writes durations, such as `2m`.
    """

    token: str
    version: str
    provider: Provider
    hooks: HookSet
    delete_timeout: str
    resources: Sequence[Declaration] = field(default=())


class Target(ABC):
    """One system in which a part of the plan is brought about.

    Attributes:
        name: As `pic:targets` and reports name it.
        token: The type token of its resources in the engine.
    """

    name: ClassVar[TargetName]
    token: ClassVar[str]

    # Reading

    def read(
        self,
        raw: RawSnapshot,
        settings: Settings,
        environment: Mapping[str, str],
        timeouts: ReadTimeouts | None = None,
    ) -> RawSnapshot:
        """Add what the target itself holds to what the cluster holds.

        A target that does not answer must not end a run: the snapshot says why instead.
        """
        del settings, environment, timeouts
        return raw

    def unread(self, snapshot: Snapshot) -> TargetError | None:
        """Return why the target could not be read; None where it could, or needs no reading."""
        del snapshot
        return None

    def unreachable(
        self, settings: Settings, environment: Mapping[str, str], cluster_id: str
    ) -> TargetError | None:
        """Return why the target cannot be read, without reading the cluster; None where it can."""
        del settings, environment, cluster_id
        return None

    # Planning

    @abstractmethod
    def plan(self, request: PlanRequest, notices: NoticeLog) -> Plan:
        """Return the part of the plan that this target brings about; notices go to the log."""

    @abstractmethod
    def hosts(self, plan: Plan) -> Mapping[str, bool]:
        """Return the hosts of this target in a plan, each with whether it is held."""

    # Settings and permissions

    def problems(self, settings: Settings, environment: Mapping[str, str]) -> Sequence[str]:
        """Return what must be set before this target can be deployed to."""
        del settings, environment
        return ()

    def means(self, settings: Settings) -> Mapping[str, str]:
        """Return the settings that decide how the engine reaches this target.

        They are exported. A run that finds others asks the engine for a preview first.
        """
        del settings
        return {}

    @abstractmethod
    def permissions(self, settings: Settings) -> Iterator[Permission]:
        """Yield what the target needs in the cluster to write, beyond what every run reads."""

    # Declaration and diagnosis

    @abstractmethod
    def declare(self, plan: Plan, snapshot: Snapshot, settings: Settings) -> Declarations:
        """Return the resources of a plan as the engine gets them."""

    def examine(self, context: DoctorContext, settings: Settings) -> Iterator[Finding]:
        """Yield what `pic doctor` finds about this target beyond the cluster."""
        del context, settings
        yield from ()
