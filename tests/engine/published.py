"""A stack that changes a simulated Pangolin itself, and what its proxy would serve."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dev.controlplane import ControlPlane
from dev.pangolin_api import Pangolin
from dev.toolchain import Toolchain
from pic.core.model import PUBLIC_TYPE
from tests.engine.stage import Stage, open_stage

SITE = "home"


@dataclass(frozen=True)
class PublicStage:
    """A stage with its Pangolin."""

    stage: Stage
    pangolin: Pangolin

    def reach(self, word: str, path: str = "/") -> str:
        """Say how far a visitor of a host gets."""
        return self.pangolin.reach(self.stage.host(word), path)

    @property
    def resources(self) -> dict[str, tuple[int, str]]:
        """Return the id and the niceId of every resource, by host."""
        return {
            str(row["fullDomain"]): (int(row["resourceId"]), str(row["niceId"]))
            for row in self.pangolin.store.resources.values()
        }

    @property
    def remembered(self) -> list[str]:
        """The hosts in the state of the stack."""
        latest = json.loads(self.stage.state_file.read_text())["checkpoint"]["latest"]
        resources = latest.get("resources", ())
        return sorted(
            raw["urn"].rpartition("::")[2] for raw in resources if raw["type"] == PUBLIC_TYPE
        )

    def lose_register(self) -> None:
        """Delete every ConfigMap of the register."""
        for body in self.stage.cluster.all("ConfigMap", self.stage.name):
            name = body["metadata"]["name"]
            if name.startswith("pic-"):
                self.stage.cluster.delete("ConfigMap", self.stage.name, name)


@contextmanager
def public_stage(
    plane: ControlPlane, tools: Toolchain, pangolin: Pangolin
) -> Iterator[PublicStage]:
    """Prepare a stage for an organisation that has the base domain of its hosts."""
    with open_stage(plane, tools, PANGOLIN_API_KEY=pangolin.key) as stage:
        pangolin.store.domain("home", f"{stage.name}.example")
        stage.settings(
            targets=["pangolin-api"],
            pangolinUrl=pangolin.url,
            pangolinOrg="home",
            defaultTunnel=SITE,
        )
        yield PublicStage(stage, pangolin)
        assert stage.workspace.processes() == [], "a test leaves no process behind"
