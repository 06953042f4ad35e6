"""A stack whose target is a Pi-hole as well, and what it and its Ingresses have."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dev.controlplane import ControlPlane
from dev.pihole import PiHole
from dev.toolchain import Toolchain
from pic.core.model import RECORD_TYPE
from tests.engine.stage import Object, Stage, set_stage

IP, OTHER_IP = "192.168.9.1", "192.168.9.2"
# Lines that somebody has made by hand; the first looks like ours, of another cluster.
MINE = (
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
        """Make or replace an Ingress whose hosts are to be registered."""
        own = {"pihole.io/register": "true", **({"pihole.io/target-ip": ip} if ip else {})}
        return self.stage.ingress(name, *words, annotations={**own, **(annotations or {})})

    @property
    def ours(self) -> list[str]:
        """The lines that bear the marker of this cluster, without it."""
        mark = f" # k8s:{self.stage.cluster.id}"
        return sorted(
            line.removesuffix(mark).strip() for line in self.pihole.lines if line.endswith(mark)
        )

    @property
    def theirs(self) -> tuple[str, ...]:
        """All other lines."""
        mark = f" # k8s:{self.stage.cluster.id}"
        return tuple(line for line in self.pihole.lines if not line.endswith(mark))

    def lines(self, *words: str, ip: str = IP) -> list[str]:
        """Return the lines that some hosts should have."""
        return sorted(f"{ip} {self.stage.host(word)}" for word in words)

    def managed(self) -> dict[str, str | None]:
        """Return what each Ingress is annotated with."""
        return {
            it["metadata"]["name"]: it["metadata"].get("annotations", {}).get(MANAGED)
            for it in self.stage.cluster.all("Ingress", self.stage.name)
        }

    @property
    def remembered(self) -> list[str]:
        """The records that the engine remembers."""
        latest = json.loads(self.stage.state_file.read_text())["checkpoint"]["latest"]
        listed = latest.get("resources", ())
        return sorted(it["id"] for it in listed if it["type"] == RECORD_TYPE)

    def is_at_rest(self) -> bool:
        """Whether nobody is logged in, and Pi-hole is well."""
        pihole = self.pihole
        return (pihole.sessions, pihole.most_at_once <= 1, pihole.deaths) == (0, True, [])


@contextmanager
def set_registry(
    plane: ControlPlane,
    tools: Toolchain,
    pihole: PiHole,
    targets: Sequence[str] = ("pangolin", "pihole"),
) -> Iterator[Registry]:
    """Set a stage with a Pi-hole."""
    with set_stage(plane, tools, PIHOLE_PASSWORD=pihole.password) as stage:
        stage.settings(piholeUrl=pihole.url, piholeTargetIp=IP, targets=list(targets))
        yield Registry(stage, pihole)
        assert stage.workspace.processes() == [], "a test leaves no process behind"
