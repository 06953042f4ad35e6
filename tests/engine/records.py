"""A stack with a Pi-hole as a target, its records and its Ingresses."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dev.controlplane import ControlPlane
from dev.pihole import PiHole
from dev.toolchain import Toolchain
from pic.core.model import RECORD_TYPE
from tests.engine.stage import Object, Stage, open_stage

IP, OTHER_IP = "192.168.9.1", "192.168.9.2"
# Lines made by hand; the first one has the form of a line of another cluster.
MANUAL = (
    "192.168.1.1 nas.lan nas # k8s:another",
    "192.168.1.2 printer.lan # by hand",
    "fe80::1 router.lan",
)
MANAGED = "pihole.io/managed-hosts"


@dataclass(frozen=True)
class Registry:
    """A stage with its Pi-hole."""

    stage: Stage
    pihole: PiHole

    def targets(self, *names: str) -> None:
        self.stage.settings(targets=list(names))

    def register(
        self, name: str, *words: str, ip: str = "", annotations: Mapping[str, str] | None = None
    ) -> Object:
        """Create or replace an Ingress that registers its hosts."""
        own = {"pihole.io/register": "true", **({"pihole.io/target-ip": ip} if ip else {})}
        return self.stage.ingress(name, *words, annotations={**own, **(annotations or {})})

    @property
    def markers(self) -> tuple[str, str]:
        """The ends of the lines that the stack makes, and of those of earlier versions."""
        cluster, stack = self.stage.cluster.id, self.stage.stack_id
        return f" # k8s:{cluster[:8]}.{stack[:8]}", f" # k8s:{cluster}"

    @property
    def ours(self) -> list[str]:
        """The lines with a marker of this stack or of earlier versions, without the marker."""
        return sorted(
            line.partition("#")[0].strip()
            for line in self.pihole.lines
            if line.endswith(self.markers)
        )

    @property
    def foreign(self) -> tuple[str, ...]:
        """All foreign lines."""
        return tuple(line for line in self.pihole.lines if not line.endswith(self.markers))

    def lines(self, *words: str, ip: str = IP) -> list[str]:
        """Return the expected lines of some hosts."""
        return sorted(f"{ip} {self.stage.host(word)}" for word in words)

    def managed(self) -> dict[str, str | None]:
        """Return the annotation with managed hosts of each Ingress."""
        return {
            raw["metadata"]["name"]: raw["metadata"].get("annotations", {}).get(MANAGED)
            for raw in self.stage.cluster.all("Ingress", self.stage.name)
        }

    @property
    def remembered(self) -> list[str]:
        """The records that the engine remembers."""
        latest = json.loads(self.stage.state_file.read_text())["checkpoint"]["latest"]
        resources = latest.get("resources", ())
        return sorted(raw["id"] for raw in resources if raw["type"] == RECORD_TYPE)

    def is_at_rest(self) -> bool:
        """Return whether Pi-hole survived, one request at a time, and has no session left."""
        pihole = self.pihole
        return (pihole.sessions, pihole.most_at_once <= 1, pihole.deaths) == (0, True, [])


@contextmanager
def set_registry(
    plane: ControlPlane,
    tools: Toolchain,
    pihole: PiHole,
    targets: Sequence[str] = ("pangolin", "pihole"),
) -> Iterator[Registry]:
    """Prepare a stage with a Pi-hole."""
    with open_stage(plane, tools, PIHOLE_PASSWORD=pihole.password) as stage:
        stage.settings(piholeUrl=pihole.url, piholeTargetIp=IP, targets=list(targets))
        yield Registry(stage, pihole)
        assert stage.workspace.processes() == [], "a test leaves no process behind"
