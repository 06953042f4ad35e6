"""Publishes the hosts of a fake cluster in a simulated Pangolin, without an engine."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dev.pangolin_api import Pangolin
from pic.cluster import listing
from pic.core.names import STACK_LABEL
from pic.core.register import Register
from pic.pangolin_api import inputs, naming
from pic.pangolin_api.client import Client
from pic.pangolin_api.connection import KEY
from pic.planning.ownership import Ownership
from pic.run import situation as situations
from pic.run import targets
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.run.targets.interface import Declaration
from pic.run.targets.pangolin_api import PangolinApi
from pic.settings.parse import Settings, TargetName
from tests.support.api import (
    CLUSTER,
    REGISTER,
    REGISTER_NAMESPACE,
    STACK_ID,
    Api,
    config_maps_of,
    fill_cluster,
    serving,
)
from tests.support.pangolin_client import client_of

LABEL = "pic.prod"
HOST = "web.example.com"
# The base domain and the site that a simulated Pangolin begins with.
SITE = "home"


def settings_for(url: str, **others: Any) -> Settings:
    settings = Settings(
        cluster_id=CLUSTER,
        stack_id=STACK_ID,
        register_namespace=REGISTER_NAMESPACE,
        targets=(TargetName.PANGOLIN_API,),
        pangolin_url=url,
        pangolin_org="home",
        default_tunnel=SITE,
    )
    return replace(settings, **others)


@dataclass
class Publisher:
    """A fake cluster, a simulated Pangolin, and a stack for both."""

    api: Api
    server: Pangolin
    folder: Path
    others: Mapping[str, Any]
    earlier: list[dict[str, Any]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return {"KUBECONFIG": str(self.folder / "config"), KEY: self.server.key}

    @property
    def client(self) -> Client:
        return client_of(self.server)

    def config(self, **others: Any) -> StackConfig:
        settings = settings_for(self.server.url, **{**self.others, **others})
        earlier = LABEL.replace("prod", settings.adopt_from) if settings.adopt_from else ""
        return StackConfig(settings, LABEL, Ownership(LABEL, False, earlier, STACK_ID), ())  # noqa: FBT003

    def ingresses(self, *ingresses: Mapping[str, object]) -> None:
        """Set the Ingresses, and keep the register."""
        register = self.api.answers.get(REGISTER)
        fill_cluster(self.api, ingresses)
        if register:
            self.api.answers[REGISTER] = register

    def situation(self, *, everything: bool = False, **others: Any) -> Situation:
        config = self.config(**others)
        transport = listing.connect(config.settings, self.environment)
        return situations.read_and_plan(config, transport, self.environment, everything=everything)

    def deploy(self, **others: Any) -> Situation:
        """Do in Pangolin what the engine would have done, and write the register."""
        situation = self.situation(**others)
        live = {it.host: it.published for it in situation.snapshot.live if it.labels}
        for declaration in self.declarations(situation):
            self.apply(declaration, live.get(declaration.name, 0))
        for removed in situation.changes.removed:
            self.client.delete(removed.published)
        self.remember(situation.plan.register)
        return situation

    def apply(self, declaration: Declaration, number: int) -> None:
        wanted = inputs.decode(declaration.inputs)
        client = self.client
        live = client.reader.live(number, wanted) if number else None
        if live:
            client.update(live, wanted)
        else:
            client.create(wanted)

    def declarations(self, situation: Situation) -> Sequence[Declaration]:
        target = next(it for it in targets.TARGETS if isinstance(it, PangolinApi))
        return target.declare(situation.plan, situation.snapshot, situation.settings).resources

    def remember(self, register: Register | None) -> None:
        own = config_maps_of(register or Register())
        self.api.set_objects(REGISTER, *own, *self.earlier)

    def remember_earlier(self, stack: str, register: Register) -> None:
        """Add the register of another stack to what the API server has."""
        bodies = config_maps_of(register)
        for body in bodies:
            body["metadata"]["labels"][STACK_LABEL] = f"pic.{stack}"
            body["metadata"]["name"] += f"-{stack}"
        self.earlier = bodies

    def id_of(self, host: str = HOST) -> int:
        """Return the id of our resource for a host."""
        nice = naming.nice_id("prod", STACK_ID, host)
        rows = self.server.store.resources.values()
        return next(int(row["resourceId"]) for row in rows if row["niceId"] == nice)


@contextmanager
def publishing(folder: Path, **others: Any) -> Iterator[Publisher]:
    with serving() as api, Pangolin() as server:
        api.kubeconfig(folder / "config")
        yield Publisher(api, server, folder, others)
