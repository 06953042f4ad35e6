"""Creates, changes and deletes Ingresses at random, and knows the hosts that they claim.

No Ingress takes a host to another namespace, and none gives up a login: both wait for a person.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dev.controlplane.api import APPLY, Api, RefusedError
from dev.controlplane.errors import ControlPlaneError

NAMESPACES = ("chaos-a", "chaos-b", "chaos-c")
DOMAIN = "chaos.example"
INGRESSES = 200
BULK = 70  # more than the guard allows to remove
SHARES = (0.4, 0.1, 0.5)  # of the Ingresses with a login, with a block and with DNS records
PANGOLIN, OTHER = "pangolin", "nginx"
PREFIX, REGISTER = "pangolin.ingress.k8s.io/", "pihole.io/register"

Object = dict[str, Any]
Key = tuple[str, str]


@dataclass(frozen=True)
class IngressSpec:
    """The part of an Ingress that changes."""

    hosts: tuple[str, ...]
    path: str = "/"
    class_name: str = PANGOLIN
    enabled: bool = True
    login: bool = False
    block: bool = False
    registered: bool = False

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of the Ingress."""
        switches = {
            f"{PREFIX}enabled": self.enabled,
            f"{PREFIX}sso": self.login,
            f"{PREFIX}block-access": self.block,
            REGISTER: self.registered,
        }
        return {key: str(value).lower() for key, value in switches.items()}

    @property
    def claimed(self) -> tuple[str, ...]:
        """The hosts that the Ingress claims from pic."""
        return self.hosts if self.enabled and self.class_name == PANGOLIN else ()


@dataclass
class World:
    """The wanted Ingresses; a write that fails is retried until it succeeds.

    Attributes:
        count: The number of names that were drawn so far.
        counts: How often each action was taken.
        uncertain: The writes that may have failed; None deletes an Ingress.
    """

    api: Api
    rng: random.Random
    specs: dict[Key, IngressSpec] = field(default_factory=dict)
    count: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    uncertain: dict[Key, IngressSpec | None] = field(default_factory=dict)

    @property
    def wanted(self) -> set[str]:
        """Every host that an Ingress claims."""
        return {host for spec in self.specs.values() for host in spec.claimed}

    @property
    def wanted_records(self) -> set[str]:
        """Every host that an Ingress registers, whatever its class."""
        return {host for spec in self.specs.values() if spec.registered for host in spec.hosts}

    def populate(self) -> None:
        """Create the first Ingresses."""
        for _ in range(INGRESSES):
            self.create_one()

    def act(self) -> None:
        """Take a random action."""
        self.retry_writes()
        name, act = self.rng.choices(ACTIONS, [weight for weight, _, _ in ACTIONS])[0][1:]
        self.counts[name] = self.counts.get(name, 0) + 1
        act(self)

    def retry_writes(self) -> bool:
        """Retry the uncertain writes, and say whether all have succeeded."""
        for key, spec in list(self.uncertain.items()):
            self._put(key, spec)
        return not self.uncertain

    def reclass_many(self) -> list[Key]:
        """Take many Ingresses from pic at once, without deleting them, and return their keys."""
        chosen = self.rng.sample(sorted(self._ours()), min(BULK, len(self._ours())))
        for key in chosen:
            self._change(key, class_name=OTHER)
        return chosen

    def give_back(self, keys: list[Key]) -> None:
        """Give those Ingresses back to pic that still exist."""
        for key in keys:
            if key in self.specs:
                self._change(key, class_name=PANGOLIN)

    def _ours(self) -> list[Key]:
        return sorted(key for key, spec in self.specs.items() if spec.claimed)

    def _any(self) -> Key:
        return self.rng.choice(sorted(self.specs))

    def create_one(self) -> None:
        """Create an Ingress."""
        self.count += 1
        extra = (self._host(),) if self.count % 4 == 0 else ()
        key = self.rng.choice(NAMESPACES), f"web-{self.count}"
        login, block, registered = (self.rng.random() < share for share in SHARES)
        spec = IngressSpec((self._host(), *extra), login=login, block=block, registered=registered)
        self._put(key, spec)

    def _host(self) -> str:
        self.count += 1
        return f"h{self.count}.{DOMAIN}"

    def delete(self) -> None:
        """Delete an Ingress, unless there are too few."""
        if len(self.specs) > INGRESSES * 0.9:
            self._put(self._any(), None)

    def create(self) -> None:
        """Create an Ingress, unless there are too many."""
        if len(self.specs) < INGRESSES * 1.1:
            self.create_one()

    def reroute(self) -> None:
        """Change the path of an Ingress."""
        self.count += 1
        self._change(self._any(), path=f"/p{self.count}")

    def grow(self) -> None:
        """Add a host to an Ingress."""
        key = self._any()
        self._change(key, hosts=(*self.specs[key].hosts[:2], self._host()))

    def shrink(self) -> None:
        """Remove all hosts but one from an Ingress."""
        key = self._any()
        self._change(key, hosts=self.specs[key].hosts[:1])

    def toggle(self) -> None:
        """Disable an Ingress, or enable it again."""
        key = self._any()
        self._change(key, enabled=not self.specs[key].enabled)

    def reclass(self) -> None:
        """Give an Ingress to another controller, or back to pic."""
        key = self._any()
        self._change(key, class_name=OTHER if self.specs[key].class_name == PANGOLIN else PANGOLIN)

    def recreate(self) -> None:
        """Delete an Ingress, and create it again."""
        key = self._any()
        spec = self.specs[key]
        if self._put(key, None):
            self._put(key, spec)

    def rename(self) -> None:
        """Create a copy of an Ingress under another name, and delete the original."""
        namespace, name = key = self._any()
        self.count += 1
        if self._put((namespace, f"web-{self.count}"), self.specs[key]):
            self._put((namespace, name), None)

    def protect(self) -> None:
        """Ask for a login."""
        self._change(self._any(), login=True)

    def _change(self, key: Key, **fields: Any) -> None:
        spec = self.specs[key]
        self._put(key, IngressSpec(**{**spec.__dict__, **fields}))

    def _put(self, key: Key, spec: IngressSpec | None) -> bool:
        """Write an Ingress, or delete it if the spec is None; say whether that succeeded."""
        if spec is None:
            self.specs.pop(key, None)
        else:
            self.specs[key] = spec
        try:
            self._write(key, spec)
        except ControlPlaneError:
            self.uncertain[key] = spec
            return False
        self.uncertain.pop(key, None)
        return True

    def _write(self, key: Key, spec: IngressSpec | None) -> None:
        namespace, name = key
        path = f"/apis/networking.k8s.io/v1/namespaces/{namespace}/ingresses/{name}"
        if spec:
            body = json.dumps(manifest(name, spec))
            self.api.request("PATCH", f"{path}?fieldManager=chaos&force=true", body, APPLY)
            return
        try:
            self.api.request("DELETE", path)
        except RefusedError as error:
            if error.status != 404:
                raise


def manifest(name: str, spec: IngressSpec) -> Object:
    """Return the manifest of an Ingress."""
    backend = {"service": {"name": "app", "port": {"number": 80}}}
    http = {"paths": [{"path": spec.path, "pathType": "Prefix", "backend": backend}]}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "annotations": spec.annotations},
        "spec": {
            "ingressClassName": spec.class_name,
            "rules": [{"host": host, "http": http} for host in spec.hosts],
        },
    }


ACTIONS: list[tuple[int, str, Callable[[World], None]]] = [
    (5, "created", World.create),
    (5, "deleted", World.delete),
    (5, "rerouted", World.reroute),
    (2, "grown", World.grow),
    (2, "shrunk", World.shrink),
    (2, "toggled", World.toggle),
    (2, "reclassed", World.reclass),
    (2, "recreated", World.recreate),
    (2, "renamed", World.rename),
    (1, "protected", World.protect),
]
