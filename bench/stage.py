"""A control plane with Ingresses, a project whose stack sees them, and the naive project."""

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
from dev.pangolin import verified
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
    """Where one number of hosts is measured.

    Attributes:
        project: Of this checkout, with a stack bound to the control plane.
        naive: The naive program's project, which is empty until `set_naive`.
    """

    hosts: int
    plane: ControlPlane
    project: Workspace
    naive: Workspace
    runner: Runner

    @property
    def objects(self) -> Path:
        """The file of the objects that this project makes."""
        return self.project.path / "objects.json"

    def save_objects(self) -> None:
        """Write what lives, without what the API server adds, into the file of the objects."""
        kept = [_declared(each) for each in self.live()]
        self.objects.write_text(json.dumps(_list(kept)))

    def set_naive(self) -> None:
        """Make the naive project and its empty stack, over the same objects."""
        self.naive.state.mkdir(parents=True)
        for name in ("Pulumi.yaml", "__main__.py"):
            shutil.copy(NAIVE / name, self.naive.path)
        (self.naive.path / ".venv").symlink_to(ROOT / ".venv")
        self.write_naive(change=0)
        commands.make_stack(self.naive)

    def write_naive(self, *, change: int) -> None:
        """Write the objects of the naive program; a change of 1 and more changes one of them."""
        items = json.loads(self.objects.read_text())["items"]
        for each in items:
            # All are advice to the Pulumi plugin, which a naive program does not give. An empty
            # map would be an update in every run, which would make it look worse than it is.
            del each["metadata"]["annotations"]
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
        Deadline(ENOUGH_SECONDS).until(lambda: not self.live(), "end of the objects")
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
        """Return the objects that live."""
        found: list[Object] = json.loads(self.plane.kubectl("get", "--raw", RESOURCES))["items"]
        return found

    def identities(self) -> dict[str, tuple[str, int]]:
        """Return uid and generation of each object that lives, by its name."""
        metadata = (each["metadata"] for each in self.live())
        return {each["name"]: (each["uid"], each["generation"]) for each in metadata}

    def expect(self, count: int) -> None:
        """Check how many objects live.

        Raises:
            BenchError: There are others: what was measured did not do its work.
        """
        if (found := len(self.live())) != count:
            raise BenchError(f"{found} objects live where {count} should")

    def expect_moved(self, count: int, before: Mapping[str, object]) -> None:
        """Check how many objects are others than before, as `expect` does."""
        if (found := moved(before, self.identities())) != count:
            raise BenchError(f"{found} objects changed where {count} should")


@contextmanager
def stage(tools: Toolchain, hosts: int) -> Iterator[Stage]:
    """Start a control plane and fill it with Ingresses; end all of it with the block."""
    with (
        ControlPlane(crds="targets", binaries=tools.controlplane) as plane,
        workspace(tools, plane.kubeconfig) as project,
    ):
        naive = replace(project, path=project.path / "naive")
        fill(plane, hosts)
        project.pic("init", "--stack", commands.STACK)
        # So that the first command that is timed finds kubectl's cache of the API as others do.
        run(project, commands.kubectl(project, "get", "pangolinresources", "--all-namespaces"))
        yield Stage(hosts, plane, project, naive, Runner(plane))


def fill(plane: ControlPlane, hosts: int) -> None:
    """Make Ingresses with a host each, and a tunnel that is ready for them."""
    made = [*surroundings(), *map(ingress, range(hosts))]
    plane.kubectl("apply", "--server-side", "--filename=-", input=json.dumps(_list(made)))
    plane.kubectl(
        *("apply", "--server-side", "--subresource=status", "--filename=-"),
        input=json.dumps(_list([*statuses()])),
    )


def surroundings() -> Iterator[Object]:
    """Yield what the Ingresses need around them."""
    key = {"name": "api", "key": "token"}
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    yield _object("v1", "Service", "web", {"spec": {"ports": [{"port": 80}]}})
    organization = {"apiEndpoint": "https://pangolin.example/api/v1", "apiKeyRef": key}
    yield _pangolin("PangolinOrganization", "home", {"spec": organization})
    yield _pangolin("PangolinTunnel", "default", {"spec": {"organizationRef": {"name": "home"}}})


def statuses() -> Iterator[Object]:
    """Yield what the operator would report."""
    domain = verified(DOMAIN)
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
    """Count what is not the same, or not there, before and after."""
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
