"""Attacks the other namespaces as a tenant who has all rights in one namespace, and no others.

The attacker does at random what such a tenant can do to get a host, a login, a DNS record or the
review of another namespace. The API server enforces the rights: `trespass` tries to leave them. The
attacker knows everything about the objects of the others, as if it had leaked.

Some Ingresses of the attacker are older than all others: whoever decides by age decides for them.
Only hosts that were live are attacked. A host that nobody has yet belongs to whoever is first.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dev.chaos.judge import FORGED, HOSTILE, PIC
from dev.chaos.world import DOMAIN, OTHER, PANGOLIN, PREFIX, REGISTER
from dev.controlplane.api import Api, RefusedError
from dev.controlplane.errors import ControlPlaneError

MANAGER, ADDRESS = "attacker", "198.51.100.66"
ELDERS, CLAIMS = 6, 20
# Together they are as many bogus hosts as raise a limit that is a share of all hosts.
BULKS, BULK_HOSTS = 5, 30
FLOODS = 40
FORBIDDEN, CONFLICT = 403, 409
MERGE = "application/merge-patch+json"
FINALIZER = "chaos.example/stuck"
PIC_LABELS = "pic.ingress.k8s.io/"
GO_LABELS = (f"{PIC_LABELS}uid", f"{PIC_LABELS}name", f"{PIC_LABELS}namespace")
INGRESSES = f"/apis/networking.k8s.io/v1/namespaces/{HOSTILE}/ingresses"
PANGOLIN_API = f"/apis/tunnel.pangolin.io/v1alpha1/namespaces/{HOSTILE}"
RESOURCES, TUNNELS = f"{PANGOLIN_API}/pangolinresources", f"{PANGOLIN_API}/pangolintunnels"

Object = dict[str, Any]


@dataclass(frozen=True)
class Loot:
    """What the attacker knows of the others.

    Attributes:
        objects: The last live object of each host.
        records: The hosts that had a DNS record.
        forbidden: Paths that a tenant may not write to.
    """

    objects: dict[str, Object] = field(default_factory=dict)
    records: set[str] = field(default_factory=set)
    forbidden: Sequence[str] = ()

    def add(self, objects: Sequence[Object], records: Sequence[str]) -> None:
        """Add what is live now; what was live before stays known."""
        self.objects.update({raw["spec"]["name"]: raw for raw in objects})
        self.records.update(records)


@dataclass
class Attacker:
    """A tenant who attacks.

    Attributes:
        api: Sends the requests with the token of the tenant.
        loot: What the attacker knows of the others.
        counts: How often each action was taken.
        answers: How the API server answered, by `done`, `forbidden`, `refused` and `no answer`.
        trespasses: The requests outside the namespace that the API server did not forbid.
    """

    api: Api
    rng: random.Random
    loot: Loot
    counts: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    trespasses: list[str] = field(default_factory=list)
    count: int = 0

    def prepare(self) -> None:
        """Create the Ingresses that are older than all others."""
        for number in range(ELDERS):
            self._put_ingress(f"elder-{number}", [self._own_host()])

    def act(self) -> None:
        """Take a random action."""
        weights = [weight for weight, _, _ in ACTIONS]
        _, name, action = self.rng.choices(ACTIONS, weights)[0]
        self.counts[name] += 1
        action(self)

    def release(self) -> None:
        """Give up the finalizers, so that what the attacker deleted can go."""
        for collection in (INGRESSES, RESOURCES):
            for raw in self._list(collection):
                if raw["metadata"].get("finalizers"):
                    self._patch(_path(collection, raw), {"metadata": {"finalizers": None}})

    def retreat(self) -> None:
        """Delete every object in the namespace; pic makes its own again."""
        for raw in self._list(RESOURCES):
            self._send("DELETE", _path(RESOURCES, raw))

    # Claims.

    def rehost(self) -> None:
        """Claim hosts of others with an Ingress that is older than theirs."""
        self._put_ingress(self._elder(), [*self._victims(3), self._own_host()])

    def claim(self) -> None:
        """Claim hosts of others with a new Ingress, or with the one that had the name before."""
        number = self.rng.randrange(CLAIMS)
        annotations = {f"{PREFIX}sso": self.rng.choice(("false", "true", "maybe"))}
        self._put_ingress(f"claim-{number}", self._victims(5), annotations)

    def delete(self) -> None:
        """Delete an Ingress of the attacker that may have claimed something."""
        self._send("DELETE", f"{INGRESSES}/claim-{self.rng.randrange(CLAIMS)}")

    def recreate(self) -> None:
        """Delete an Ingress, and create it again at once with hosts of others."""
        name = f"claim-{self.rng.randrange(CLAIMS)}"
        self._send("DELETE", f"{INGRESSES}/{name}")
        self._put_ingress(name, self._victims(2))

    # Objects that look as if pic had made them.

    def plant(self) -> None:
        """Create an object for a host of others, with our labels, or those of the Go controller."""
        victim = self._victim_object()
        if victim is None:
            return
        self.count += 1
        theirs = victim["metadata"]
        labels = self._labels(theirs.get("labels") or {})
        names = (theirs["name"], f"planted-{self.count % CLAIMS}")
        # pic takes an object without labels for its own if it was among its field managers.
        manager = self.rng.choice((MANAGER, PIC))
        metadata = {
            "name": self.rng.choice(names),
            "labels": labels,
            "annotations": {FORGED: "true"} if manager == PIC else {},
        }
        body = _body(RESOURCES, "PangolinResource", metadata, _opened(victim["spec"]))
        self._send("POST", f"{RESOURCES}?fieldManager={manager}", body)

    def relabel(self) -> None:
        """Give an object in the namespace other labels, or none."""
        raw = self._own_object()
        victim = self._victim_object()
        if raw is None or victim is None:
            return
        labels = dict.fromkeys(raw["metadata"].get("labels") or {}, None)
        theirs = self._labels(victim["metadata"].get("labels") or {})
        metadata: Object = {"labels": {**labels, **theirs}}
        if self.rng.random() < 0.3:
            # An empty entry removes all of them, and so what pic recognises its objects by.
            metadata["managedFields"] = [{}]
        self._patch(_path(RESOURCES, raw), {"metadata": metadata})

    def rewrite(self) -> None:
        """Let an object in the namespace serve a host of others."""
        raw, victim = self._own_object(), self._victim_object()
        if raw is not None and victim is not None:
            self._patch(_path(RESOURCES, raw), {"spec": _opened(victim["spec"])})

    def remove(self) -> None:
        """Delete an object in the namespace, perhaps one that pic has made."""
        if raw := self._own_object():
            self._send("DELETE", _path(RESOURCES, raw))

    def stick(self) -> None:
        """Let an object in the namespace stay while Kubernetes deletes it."""
        collection = self.rng.choice((RESOURCES, INGRESSES))
        if raw := self._any(collection):
            finalizers = {"metadata": {"finalizers": [FINALIZER]}}
            self._patch(_path(collection, raw), finalizers)
            self._send("DELETE", _path(collection, raw))

    # Numbers and noise.

    def inflate(self) -> None:
        """Register many hosts that exist only to raise the limits."""
        for number in range(BULKS):
            hosts = [f"bogus-{number}-{index}.{DOMAIN}" for index in range(BULK_HOSTS)]
            self._put_ingress(f"bulk-{number}", hosts)

    def deflate(self) -> None:
        """Remove all of these hosts at once, so that the limits of removals are reached."""
        way = self.rng.choice(("disable", "reclass", "delete", "shrink"))
        for number in range(BULKS):
            name, hosts = f"bulk-{number}", [f"bogus-{number}-0.{DOMAIN}"]
            match way:
                case "delete":
                    self._send("DELETE", f"{INGRESSES}/{name}")
                case "disable":
                    annotations = {f"{PREFIX}enabled": "false"}
                    self._patch(f"{INGRESSES}/{name}", {"metadata": {"annotations": annotations}})
                case "reclass":
                    self._patch(f"{INGRESSES}/{name}", {"spec": {"ingressClassName": OTHER}})
                case _:
                    self._put_ingress(name, hosts)

    def flood(self) -> None:
        """Cause many warnings that are new."""
        for number in self.rng.sample(range(FLOODS), FLOODS // 4):
            self.count += 1
            annotations = {f"{PREFIX}odd-{self.count}": "x", f"{PREFIX}path-regex": "odd"}
            self._put_ingress(f"flood-{number}", ["", self._own_host()], annotations)

    # Tunnels and DNS records.

    def shadow_tunnel(self) -> None:
        """Make a tunnel with the bare name that others use, or delete it."""
        if self.rng.random() < 0.3:
            self._send("DELETE", f"{TUNNELS}/default")
            return
        spec = {"organizationRef": {"name": "home"}}
        self._put(TUNNELS, "PangolinTunnel", {"name": "default"}, spec)
        self._patch(f"{TUNNELS}/default/status", {"status": {"status": "Ready"}})

    def redirect(self) -> None:
        """Ask for the DNS records of others, or say that pic registered them here."""
        records = self._sample(self.loot.records, 4)
        annotations = self.rng.choice(
            (
                {
                    REGISTER: "true",
                    "pihole.io/hosts": ",".join(records),
                    "pihole.io/target-ip": ADDRESS,
                },
                {"pihole.io/managed-hosts": ",".join(records)},
                {REGISTER: "false", "pihole.io/hosts": None},
            )
        )
        self._patch(f"{INGRESSES}/{self._elder()}", {"metadata": {"annotations": annotations}})

    # Rights.

    def trespass(self) -> None:
        """Write outside the namespace. The API server must forbid it."""
        path = self.rng.choice(self.loot.forbidden)
        metadata = {"metadata": {"annotations": {f"{PREFIX}enabled": "false"}}}
        status = self._send("PATCH", path, metadata, MERGE)
        if status != FORBIDDEN and status is not None:
            self.trespasses.append(f"{path}: {status}")

    # What the actions need.

    def _victims(self, most: int) -> list[str]:
        return self._sample(self.loot.objects, self.rng.randint(1, most))

    def _sample(self, hosts: Mapping[str, object] | set[str], most: int) -> list[str]:
        return self.rng.sample(sorted(hosts), min(most, len(hosts)))

    def _victim_object(self) -> Object | None:
        hosts = self._victims(1)
        return self.loot.objects[hosts[0]] if hosts else None

    def _own_object(self) -> Object | None:
        return self._any(RESOURCES)

    def _own_host(self) -> str:
        self.count += 1
        return f"evil-{self.count}.{DOMAIN}"

    def _elder(self) -> str:
        return f"elder-{self.rng.randrange(ELDERS)}"

    def _labels(self, theirs: Mapping[str, str]) -> dict[str, str]:
        go = {key: theirs[key] for key in GO_LABELS if key in theirs}
        other = {**theirs, f"{PIC_LABELS}stack": "pic.other"}
        return dict(self.rng.choice((theirs, go, other, {})))

    def _put_ingress(
        self, name: str, hosts: Sequence[str], annotations: Mapping[str, str] | None = None
    ) -> None:
        backend = {"service": {"name": "app", "port": {"number": 80}}}
        http = {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}
        rules = [{"host": host, "http": http} if host else {"http": http} for host in hosts]
        metadata = {"name": name, "annotations": dict(annotations or {})}
        spec = {"ingressClassName": PANGOLIN, "rules": rules}
        self._put(INGRESSES, "Ingress", metadata, spec)

    def _put(self, collection: str, kind: str, metadata: Object, spec: Object) -> None:
        """Create an object, or replace its spec and add to its metadata."""
        body, query = _body(collection, kind, metadata, spec), f"fieldManager={MANAGER}"
        if self._send("POST", f"{collection}?{query}", body) == CONFLICT:
            self._send("PATCH", f"{collection}/{metadata['name']}?{query}", body, MERGE)

    def _patch(self, path: str, body: object) -> None:
        self._send("PATCH", f"{path}?fieldManager={MANAGER}", body, MERGE)

    def _any(self, collection: str) -> Object | None:
        items = sorted(self._list(collection), key=lambda raw: str(raw["metadata"]["name"]))
        return self.rng.choice(items) if items else None

    def _list(self, collection: str) -> list[Object]:
        try:
            items: list[Object] = self.api.request("GET", collection)["items"]
        except ControlPlaneError:
            self.answers["no answer"] += 1
            return []
        return items

    def _send(
        self, method: str, path: str, body: object = None, content: str = "application/json"
    ) -> int | None:
        """Send a request, and return its status; None if no answer came."""
        try:
            self.api.request(method, path, body if content != MERGE else json.dumps(body), content)
        except RefusedError as error:
            self.answers["forbidden" if error.status == FORBIDDEN else "refused"] += 1
            return error.status
        except ControlPlaneError:
            self.answers["no answer"] += 1
            return None
        self.answers["done"] += 1
        return 200


def _path(collection: str, raw: Object) -> str:
    return f"{collection}/{raw['metadata']['name']}"


def _body(collection: str, kind: str, metadata: Object, spec: Object) -> Object:
    version = collection.removeprefix("/apis/").partition("/namespaces")[0]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _opened(spec: Object) -> Object:
    """Return the spec of a victim, open to the world and served by the attacker."""
    http = {**spec.get("httpConfig", {}), "sso": False, "blockAccess": False}
    targets = [{"ip": f"app.{HOSTILE}.svc.cluster.local", "port": 80, "method": "http"}]
    return {**spec, "httpConfig": http, "targets": targets}


ACTIONS: list[tuple[int, str, Callable[[Attacker], None]]] = [
    (6, "rehosted", Attacker.rehost),
    (6, "claimed", Attacker.claim),
    (3, "deleted", Attacker.delete),
    (3, "recreated", Attacker.recreate),
    (6, "planted", Attacker.plant),
    (4, "relabelled", Attacker.relabel),
    (3, "rewritten", Attacker.rewrite),
    (2, "removed", Attacker.remove),
    (1, "stuck", Attacker.stick),
    (1, "released", Attacker.release),
    (1, "inflated", Attacker.inflate),
    (1, "deflated", Attacker.deflate),
    (1, "flooded", Attacker.flood),
    (2, "shadowed", Attacker.shadow_tunnel),
    (4, "redirected", Attacker.redirect),
    (2, "trespassed", Attacker.trespass),
]
