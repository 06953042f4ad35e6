"""Defines the interface of a target, a system that pic deploys a part of the plan to.

A target is a package below `pic/run/targets`. Its instance is in the list `TARGETS` there. All
other code uses targets only through this interface and never names one. Four methods are abstract,
and the others have a default that fits a target without contents of its own. A target declares its
resources as values, because only `pic/engine` may import Pulumi.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from pic.core.errors import TargetError
from pic.core.findings import Finding
from pic.core.model import Plan, Snapshot
from pic.planning.memory import Memory
from pic.planning.notice_log import NoticeLog
from pic.planning.request import PlanRequest
from pic.settings.parse import Settings, TargetName
from pic.settings.permissions import Permission
from pic.snapshot.assemble import RawSnapshot

if TYPE_CHECKING:
    from pic.run.doctor_context import DoctorContext


# More registrations at the same time make an engine no faster that waits for the API server.
AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class ReadTimeouts:
    """How long a run waits when it reads a target, in seconds.

    Attributes:
        lock: Until other runs on this host have finished with the same target.
        connect: Until a connection is open.
        answer: Until one request is answered.
    """

    lock: float
    connect: float
    answer: float


@dataclass(frozen=True, slots=True)
class Look:
    """How to look closer at what a list leaves open.

    Attributes:
        memory: What pic remembers of the hosts.
        environment: Holds the credentials of the target.
        timeouts: How long to wait. None waits as long as a deployment may.
        everything: Whether to look at all that is ours, also where nothing suggests a difference.
    """

    memory: Memory
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeouts: ReadTimeouts | None = None
    everything: bool = False


class HookSet(Enum):
    """The hooks that the engine calls before and after it changes a resource of a target.

    Attributes:
        RESOURCE: For PangolinResources. They check the owner before a deletion.
        PUBLIC: For resources in Pangolin. They check before a deletion that this run has read it.
        RECORD: For DNS records. They check before a deletion that this run has read Pi-hole.
        NONE: No hooks, for the register.
    """

    RESOURCE = "resource"
    PUBLIC = "public"
    RECORD = "record"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Provider:
    """The Pulumi provider that manages the resources of a target.

    Attributes:
        package: The Pulumi package, such as `kubernetes`.
        name: The Pulumi name of the provider resource.
        inputs: The configuration of the provider. The state stores it, so it has no credentials.
    """

    package: str
    name: str
    inputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Declaration:
    """One resource as the engine gets it.

    Attributes:
        name: The Pulumi name, unique within the target.
        inputs: Plain values, without None and without empty maps and lists.
        import_id: The provider's id of the live object to import. If empty, the engine creates one.
        adopting: The live object belongs to the Go controller, and pic takes it over.
    """

    name: str
    inputs: Mapping[str, Any]
    import_id: str = ""
    adopting: bool = False


@dataclass(frozen=True, slots=True)
class Declarations:
    """Everything that a target declares in one run.

    Attributes:
        token: The type token of all resources, equal to `Target.token`.
        version: The version of the provider plugin. Empty if Pulumi.yaml names the plugin.
        provider: The provider of all resources.
        hooks: The hooks of all resources.
        delete_timeout: How long a deletion may take, as Pulumi writes durations, such as `2m`.
        at_once: How many resources the engine gets at the same time. A target that makes one
            request of many resources wants more of them than one with a request for each.
    """

    token: str
    version: str
    provider: Provider
    hooks: HookSet
    delete_timeout: str
    resources: Sequence[Declaration] = field(default=())
    at_once: int = AT_ONCE


class Target(ABC):
    """A system that pic deploys a part of the plan to.

    Attributes:
        name: The name in `pic:targets` and in reports.
        token: The Pulumi type token of the resources, such as `package:module:Type`. The package
            belongs to this target alone.
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
        """Add the contents of the target to those of the cluster.

        A target without contents of its own returns `raw` as it is. A target that does not answer
        must not raise: it stores the error in the snapshot, where `read_error` finds it.

        Args:
            raw: The contents of the cluster, and of the targets that were read before.
            settings: Says where the target is.
            environment: Holds the credentials of the target.
            timeouts: How long to wait. None waits as long as a deployment may.
        """
        del settings, environment, timeouts
        return raw

    def look_closer(
        self, snapshot: Snapshot, plan: Plan, settings: Settings, look: Look
    ) -> Snapshot:
        """Read what the first reading left open, and return the same snapshot if it is nothing.

        A target that does not answer must not raise, as in `read`.

        Args:
            snapshot: What was read so far.
            plan: What should exist, by that.
            settings: Says where the target is.
            look: How to look, and what pic remembers.
        """
        del plan, settings, look
        return snapshot

    def read_error(self, snapshot: Snapshot) -> TargetError | None:
        """Return why `read` failed; None if it succeeded or if the target needs no reading."""
        del snapshot
        return None

    def probe(
        self, settings: Settings, environment: Mapping[str, str], cluster_id: str
    ) -> TargetError | None:
        """Try to read the target alone, and return why that failed; None if it succeeded.

        A plain `pulumi destroy` needs this, because it does not read the cluster.
        """
        del settings, environment, cluster_id
        return None

    # Planning

    @abstractmethod
    def plan(self, request: PlanRequest, notices: NoticeLog) -> Plan:
        """Return the part of the plan that belongs to this target, and put notices into the log."""

    @abstractmethod
    def hosts(self, plan: Plan) -> Mapping[str, bool]:
        """Return the hosts of this target in a plan. The value says whether the host is held."""

    # Settings and permissions

    def problems(self, settings: Settings, environment: Mapping[str, str]) -> Sequence[str]:
        """Return what the settings lack for a deployment to this target.

        Each problem is a sentence that says what is wrong and what to do.
        """
        del settings, environment
        return ()

    def conditions(self, settings: Settings) -> Mapping[str, str]:
        """Return the settings that decide how the engine reaches this target.

        The stack outputs store them. If they differ in the next run, that run asks the engine for a
        preview first.
        """
        del settings
        return {}

    @abstractmethod
    def permissions(self, settings: Settings) -> Iterator[Permission]:
        """Yield the permissions that the target needs in the cluster, beyond those to read."""

    # Declaring and diagnosing

    @abstractmethod
    def declare(self, plan: Plan, snapshot: Snapshot, settings: Settings) -> Declarations:
        """Return the declarations of all resources of this target in a plan."""

    def examine(self, context: "DoctorContext", settings: Settings) -> Iterator[Finding]:
        """Yield the findings of `pic doctor` about this target, except those about the cluster."""
        del context, settings
        yield from ()
