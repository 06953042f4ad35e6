"""Prepares a measurement: a control plane with Ingresses, pic's project, and the naive one."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench import commands
from bench.errors import BenchError
from bench.running import Runner, run
from dev.controlplane import ControlPlane
from dev.controlplane.processes import Deadline
from dev.pangolin import verified_domain
from dev.toolchain import Toolchain
from dev.workspace import ROOT, Workspace, workspace
from pic.settings.stack_file import StackFile

NAMESPACE, DOMAIN = "bench", "example.com"
NAIVE = ROOT / "bench" / "naive"
RESOURCES = f"/apis/tunnel.pangolin.io/v1alpha1/namespaces/{NAMESPACE}/pangolinresources"
EVENTS = f"/api/v1/namespaces/{NAMESPACE}/events"
ENOUGH_SECONDS = 120

Object = dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """Holds what one number of hosts is measured with.

    Attributes:
        hosts: The number of hosts.
        plane: The control plane.
        project: A project of this checkout, with a stack bound to the control plane.
        naive: The project of the naive program, which is empty until `set_naive`.
        runner: Runs commands against the control plane.
    """

    hosts: int
    plane: ControlPlane
    project: Workspace
    naive: Workspace
    runner: Runner

    @property
    def objects(self) -> Path:
        """The file with the objects that pic deploys."""
        return self.project.path / "objects.json"

    def save_objects(self) -> None:
        """Write the live objects into a file, without the fields that the API server adds."""
        items = [_declared(live) for live in self.live()]
        self.objects.write_text(json.dumps(_list(items)))

    def set_naive(self) -> None:
        """Create the naive project and its empty stack, with the same objects."""
        self.naive.state.mkdir(parents=True)
        for name in ("Pulumi.yaml", "__main__.py"):
            shutil.copy(NAIVE / name, self.naive.path)
        (self.naive.path / ".venv").symlink_to(ROOT / ".venv")
        self.write_naive(change=0)
        commands.make_stack(self.naive)

    def write_naive(self, *, change: int) -> None:
        """Write the objects of the naive program; a change other than 0 modifies one of them."""
        items = json.loads(self.objects.read_text())["items"]
        for item in items:
            # All of them control the Pulumi plugin, and a naive program would not have them. An
            # empty map would cause an update in every run, and the naive program would look worse
            # than it is.
            del item["metadata"]["annotations"]
        if change:
            items[0]["spec"]["targets"][0]["path"] = f"/changed-{change}"
        (self.naive.path / "objects.json").write_text(json.dumps(_list(items)))

    def drop_naive(self) -> None:
        """Remove the naive project."""
        shutil.rmtree(self.naive.path)

    def wipe(self) -> None:
        """Remove every object and the whole state, without the engine."""
        for path in (RESOURCES, EVENTS):
            self.plane.kubectl("delete", "--raw", path)
        Deadline(ENOUGH_SECONDS).until(lambda: not self.live(), "deletion of all objects")
        self.lose_state()

    def lose_state(self) -> None:
        """Remove the whole state."""
        shutil.rmtree(self.project.state)
        self.project.state.mkdir()

    def set_events(self, *, on: bool) -> None:
        """Turn Events on or off for the stack."""
        StackFile(self.project.path, commands.STACK).merge({"events": on})

    def change_ingress(self, path: str) -> None:
        """Give the first Ingress another path."""
        patch = [{"op": "replace", "path": "/spec/rules/0/http/paths/0/path", "value": path}]
        words = ("ingress", "app-0", "--namespace", NAMESPACE, "--type=json")
        self.plane.kubectl("patch", *words, "--patch", json.dumps(patch))

    def live(self) -> list[Object]:
        """Return the live objects."""
        items: list[Object] = json.loads(self.plane.kubectl("get", "--raw", RESOURCES))["items"]
        return items

    def identities(self) -> dict[str, tuple[str, int]]:
        """Return the uid and the generation of each live object, by its name."""
        metadata = (live["metadata"] for live in self.live())
        return {item["name"]: (item["uid"], item["generation"]) for item in metadata}

    def expect(self, count: int) -> None:
        """Check the number of live objects.

        Raises:
            BenchError: The number differs, so the measured command did not do its work.
        """
        if (live := len(self.live())) != count:
            raise BenchError(f"{live} objects are live, but {count} are expected")

    def expect_moved(self, count: int, before: Mapping[str, object]) -> None:
        """Check how many objects have changed.

        Raises:
            BenchError: The number differs, so the measured command did not do its work.
        """
        if (changed := moved(before, self.identities())) != count:
            raise BenchError(f"{changed} objects have changed, but {count} are expected")


@contextmanager
def open_stage(tools: Toolchain, hosts: int) -> Iterator[Stage]:
    """Start a control plane and create Ingresses; everything ends with the block."""
    with (
        ControlPlane(crds="targets", binaries=tools.controlplane) as plane,
        workspace(tools, plane.kubeconfig) as project,
    ):
        naive = replace(project, path=project.path / "naive")
        fill(plane, hosts)
        namespaces = ("--register-namespace", "kube-system", "--tunnel-namespace", NAMESPACE)
        project.pic("init", "--stack", commands.STACK, *namespaces)
        # This fills kubectl's cache of the API, so that the first timed command finds it too.
        run(project, commands.kubectl(project, "get", "pangolinresources", "--all-namespaces"))
        yield Stage(hosts, plane, project, naive, Runner(plane))


def fill(plane: ControlPlane, hosts: int) -> None:
    """Create Ingresses with one host each, and a tunnel that is ready."""
    items = [*dependencies(), *map(ingress, range(hosts))]
    plane.kubectl("apply", "--server-side", "--filename=-", input=json.dumps(_list(items)))
    plane.kubectl(
        *("apply", "--server-side", "--subresource=status", "--filename=-"),
        input=json.dumps(_list([*statuses()])),
    )


def dependencies() -> Iterator[Object]:
    """Yield the objects that the Ingresses need."""
    key = {"name": "api", "key": "token"}
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    yield _object("v1", "Service", "web", {"spec": {"ports": [{"port": 80}]}})
    organization = {"apiEndpoint": "https://pangolin.example/api/v1", "apiKeyRef": key}
    yield _pangolin("PangolinOrganization", "home", {"spec": organization})
    yield _pangolin("PangolinTunnel", "default", {"spec": {"organizationRef": {"name": "home"}}})


def statuses() -> Iterator[Object]:
    """Yield the status that the operator would write."""
    domain = verified_domain(DOMAIN)
    ready = {"status": "Ready"}
    yield _pangolin("PangolinOrganization", "home", {"status": {**ready, "domains": [domain]}})
    yield _pangolin("PangolinTunnel", "default", {"status": ready})


def ingress(number: int) -> Object:
    """Return an Ingress with one host."""
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    rule = {"host": f"app-{number}.{DOMAIN}", "http": {"paths": [path]}}
    spec = {"ingressClassName": "pangolin", "rules": [rule]}
    return _object("networking.k8s.io/v1", "Ingress", f"app-{number}", {"spec": spec})


def moved(before: Mapping[str, object], after: Mapping[str, object]) -> int:
    """Count the objects that were added, removed or changed."""
    return sum(before.get(name) != after.get(name) for name in before.keys() | after.keys())


def _pangolin(kind: str, name: str, rest: Mapping[str, object]) -> Object:
    return _object("tunnel.pangolin.io/v1alpha1", kind, name, rest)


def _object(version: str, kind: str, name: str, rest: Mapping[str, object]) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}


def _declared(live: Object) -> Object:
    keys = ("name", "namespace", "labels", "annotations", "ownerReferences")
    metadata = {key: live["metadata"][key] for key in keys if key in live["metadata"]}
    kind = {key: live[key] for key in ("apiVersion", "kind")}
    return {**kind, "metadata": metadata, "spec": live["spec"]}


def _list(items: list[Object]) -> Object:
    return {"apiVersion": "v1", "kind": "List", "items": items}
