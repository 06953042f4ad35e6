"""The Ingresses of the chaos: made, changed and deleted at random, and what they ask for."""

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
BULK = 70  # more than the guard lets go
PANGOLIN, OTHER = "pangolin", "nginx"
ENABLED = "pangolin.ingress.k8s.io/enabled"

Object = dict[str, Any]
Key = tuple[str, str]


@dataclass(frozen=True)
class Wish:
    """What one Ingress says."""

    hosts: tuple[str, ...]
    path: str = "/"
    class_name: str = PANGOLIN
    enabled: bool = True

    @property
    def asked(self) -> tuple[str, ...]:
        """The hosts that pic is asked for."""
        return self.hosts if self.enabled and self.class_name == PANGOLIN else ()


@dataclass
class World:
    """The Ingresses as they are meant to be; a write that fails is made again until it is done."""

    api: Api
    dice: random.Random
    wishes: dict[Key, Wish] = field(default_factory=dict)
    count: int = 0
    actions: dict[str, int] = field(default_factory=dict)
    unsure: dict[Key, Wish | None] = field(default_factory=dict)

    @property
    def wanted(self) -> set[str]:
        """Every host that is asked for."""
        return {host for wish in self.wishes.values() for host in wish.asked}

    def populate(self) -> None:
        """Make the first Ingresses."""
        for _ in range(INGRESSES):
            self.make()

    def act(self) -> None:
        """Do something."""
        self.settle()
        name, act = self.dice.choices(ACTIONS, [weight for weight, _, _ in ACTIONS])[0][1:]
        self.actions[name] = self.actions.get(name, 0) + 1
        act(self)

    def settle(self) -> bool:
        """Make the writes again of which it is not known that they are done; say if all are."""
        for key, wish in list(self.unsure.items()):
            self._put(key, wish)
        return not self.unsure

    def leave(self) -> list[Key]:
        """Take many Ingresses from pic at once, without deleting them, and say which."""
        chosen = self.dice.sample(sorted(self._ours()), min(BULK, len(self._ours())))
        for key in chosen:
            self._change(key, class_name=OTHER)
        return chosen

    def come_back(self, keys: list[Key]) -> None:
        """Give Ingresses to pic again that still are."""
        for key in keys:
            if key in self.wishes:
                self._change(key, class_name=PANGOLIN)

    def _ours(self) -> list[Key]:
        return sorted(key for key, wish in self.wishes.items() if wish.asked)

    def _any(self) -> Key:
        return self.dice.choice(sorted(self.wishes))

    def make(self) -> None:
        """Make an Ingress."""
        self.count += 1
        extra = (self._host(),) if self.count % 4 == 0 else ()
        key = self.dice.choice(NAMESPACES), f"web-{self.count}"
        self._put(key, Wish((self._host(), *extra)))

    def _host(self) -> str:
        self.count += 1
        return f"h{self.count}.{DOMAIN}"

    def delete(self) -> None:
        """Delete one, if there are enough."""
        if len(self.wishes) > INGRESSES * 0.9:
            self._put(self._any(), None)

    def create(self) -> None:
        """Make one, if there are not too many."""
        if len(self.wishes) < INGRESSES * 1.1:
            self.make()

    def reroute(self) -> None:
        """Give one another path."""
        self.count += 1
        self._change(self._any(), path=f"/p{self.count}")

    def grow(self) -> None:
        """Give one a further host."""
        key = self._any()
        self._change(key, hosts=(*self.wishes[key].hosts[:2], self._host()))

    def shrink(self) -> None:
        """Take a host from one that has two."""
        key = self._any()
        self._change(key, hosts=self.wishes[key].hosts[:1])

    def toggle(self) -> None:
        """Disable one, or enable it again."""
        key = self._any()
        self._change(key, enabled=not self.wishes[key].enabled)

    def reclass(self) -> None:
        """Give one to another controller, or take it back."""
        key = self._any()
        self._change(key, class_name=OTHER if self.wishes[key].class_name == PANGOLIN else PANGOLIN)

    def recreate(self) -> None:
        """Delete one, and make it again."""
        key = self._any()
        wish = self.wishes[key]
        if self._put(key, None):
            self._put(key, wish)

    def rename(self) -> None:
        """Make one of another name with the same hosts, and delete it."""
        namespace, name = key = self._any()
        self.count += 1
        if self._put((namespace, f"web-{self.count}"), self.wishes[key]):
            self._put((namespace, name), None)

    def move(self) -> None:
        """Make it in another namespace, and delete it here."""
        namespace, name = key = self._any()
        there = self.dice.choice([each for each in NAMESPACES if each != namespace])
        if (there, name) not in self.wishes and self._put((there, name), self.wishes[key]):
            self._put(key, None)

    def _change(self, key: Key, **fields: Any) -> None:
        wish = self.wishes[key]
        self._put(key, Wish(**{**wish.__dict__, **fields}))

    def _put(self, key: Key, wish: Wish | None) -> bool:
        """Bring about what an Ingress says, None for its end; say whether that is certain."""
        if wish is None:
            self.wishes.pop(key, None)
        else:
            self.wishes[key] = wish
        try:
            self._write(key, wish)
        except ControlPlaneError:
            self.unsure[key] = wish
            return False
        self.unsure.pop(key, None)
        return True

    def _write(self, key: Key, wish: Wish | None) -> None:
        namespace, name = key
        path = f"/apis/networking.k8s.io/v1/namespaces/{namespace}/ingresses/{name}"
        if wish:
            body = json.dumps(manifest(name, wish))
            self.api.request("PATCH", f"{path}?fieldManager=chaos&force=true", body, APPLY)
            return
        try:
            self.api.request("DELETE", path)
        except RefusedError as refused:
            if refused.status != 404:
                raise


def manifest(name: str, wish: Wish) -> Object:
    """Return an Ingress."""
    backend = {"service": {"name": "app", "port": {"number": 80}}}
    http = {"paths": [{"path": wish.path, "pathType": "Prefix", "backend": backend}]}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "annotations": {ENABLED: str(wish.enabled).lower()}},
        "spec": {
            "ingressClassName": wish.class_name,
            "rules": [{"host": host, "http": http} for host in wish.hosts],
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
    (2, "moved", World.move),
]
