"""Prepares a namespace of a real cluster, and a stack that sees only this namespace."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dev.controlplane import ControlPlane
from dev.controlplane.api import APPLY, Api, RefusedError
from dev.pangolin import verified_domain
from dev.toolchain import Toolchain
from dev.workspace import PASSPHRASE, Workspace, workspace
from pic.core import private_folder
from pic.engine.backend import place, run_records
from pic.engine.backend.run_records import RunRecord
from pic.settings.stack_file import StackFile
from tests.engine.answers import Answer, answer
from tests.support.admin_api import api_of
from tests.support.planted import PLANTED, leaks, secrets_of
from tests.support.waiting import Steady, until

SECONDS = 120
MERGE = "application/merge-patch+json"
APIS = {
    "Namespace": "/api/v1/namespaces",
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "Service": "/api/v1/namespaces/{}/services",
    "Event": "/api/v1/namespaces/{}/events",
    "Ingress": "/apis/networking.k8s.io/v1/namespaces/{}/ingresses",
    "PangolinOrganization": "/apis/tunnel.pangolin.io/v1alpha1/namespaces/{}/pangolinorganizations",
    "PangolinTunnel": "/apis/tunnel.pangolin.io/v1alpha1/namespaces/{}/pangolintunnels",
    "PangolinResource": "/apis/tunnel.pangolin.io/v1alpha1/namespaces/{}/pangolinresources",
}

Object = dict[str, Any]


@dataclass(frozen=True)
class Cluster:
    """Creates, changes and reads objects of one control plane."""

    api: Api

    def apply(
        self,
        kind: str,
        namespace: str,
        name: str,
        spec: Object | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> Object:
        """Create an object, or replace what an earlier call has created."""
        version = "networking.k8s.io/v1" if kind == "Ingress" else "v1"
        if kind.startswith("Pangolin"):
            version = "tunnel.pangolin.io/v1alpha1"
        metadata = {"name": name, "annotations": dict(annotations or {})}
        body = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec or {}}
        path = f"{APIS[kind].format(namespace)}/{name}?fieldManager=test&force=true"
        return self.api.request("PATCH", path, json.dumps(body), APPLY)

    def patch(self, kind: str, namespace: str, name: str, body: object, sub: str = "") -> Object:
        path = f"{APIS[kind].format(namespace)}/{name}{sub}"
        return self.api.request("PATCH", path, body, MERGE)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self.api.request("DELETE", f"{APIS[kind].format(namespace)}/{name}")

    def has(self, kind: str, namespace: str, name: str) -> bool:
        return self.api.has(f"{APIS[kind].format(namespace)}/{name}")

    def all(self, kind: str, namespace: str) -> list[Object]:
        items: list[Object] = self.api.request("GET", APIS[kind].format(namespace))["items"]
        return items

    @property
    def id(self) -> str:
        uid: str = self.api.request("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
        return uid


class PicRun(NamedTuple):
    """Holds the exit code and the output of a run of pic."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Stage:
    """Holds the cluster, the project and the stack of one test.

    Attributes:
        name: The name of the namespace and of the stack; hosts end with it and `.example`.
    """

    plane: ControlPlane
    cluster: Cluster
    workspace: Workspace
    name: str
    namespaces: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The value of the stack label."""
        return f"pic.{self.name}"

    @property
    def stack_id(self) -> str:
        """The id of the stack."""
        return str(StackFile(self.workspace.path, self.name).settings()["stackId"])

    @property
    def state_file(self) -> Path:
        """The file with the state of the stack."""
        return self.workspace.state / ".pulumi" / "stacks" / "pic" / f"{self.name}.json"

    @property
    def remembered(self) -> list[str]:
        """The hosts in the state of the stack."""
        state = json.loads(self.state_file.read_text())["checkpoint"]["latest"]
        kind = "tunnel.pangolin.io/v1alpha1:PangolinResource"
        return sorted(
            resource["urn"].rpartition("::")[2]
            for resource in state.get("resources", ())
            if kind in resource["type"]
        )

    @property
    def locks(self) -> Path:
        """The folder with the locks of the stack."""
        return self.workspace.state / ".pulumi" / "locks" / "organization" / "pic" / self.name

    @property
    def run_records(self) -> tuple[RunRecord, ...]:
        """The records of the runs of the stack on this machine."""
        url = self.workspace.environment()["PULUMI_BACKEND_URL"]
        return run_records.read(private_folder.path(), place.key(url, self.name))

    def host(self, word: str) -> str:
        return f"{word}.{self.name}.example"

    def settings(self, **values: object) -> None:
        """Write settings into the stack file."""
        StackFile(self.workspace.path, self.name).merge(values)

    def add_namespace(self) -> str:
        """Create a namespace with a Service `app`; the stack sees its Ingresses."""
        name = f"{self.name}-{len(self.namespaces)}" if self.namespaces else self.name
        self.cluster.apply("Namespace", "", name)
        ports = [{"port": 80, "name": "http"}, {"port": 81, "name": "other"}]
        self.cluster.apply("Service", name, "app", spec={"ports": ports})
        self.namespaces.append(name)
        self.settings(namespaces=self.namespaces)
        return name

    def add_tunnel(self) -> None:
        """Create an organization with a verified domain, and its tunnel; both are ready."""
        organization: Object = {
            "apiEndpoint": "https://api.pangolin.example",
            "apiKeyRef": {"name": "api", "key": "token"},
        }
        domain = verified_domain(f"{self.name}.example")
        ready = {"status": {"status": "Ready"}}
        spec = {"organizationRef": {"name": "home"}}
        self.cluster.apply("PangolinOrganization", self.name, "home", spec=organization)
        self.cluster.patch(
            *("PangolinOrganization", self.name, "home"),
            {"status": {**ready["status"], "domains": [domain]}},
            "/status",
        )
        self.cluster.apply("PangolinTunnel", self.name, "default", spec=spec)
        self.cluster.patch("PangolinTunnel", self.name, "default", ready, "/status")

    def ingress(
        self,
        name: str,
        *words: str,
        namespace: str = "",
        paths: Sequence[str] = ("/",),
        annotations: Mapping[str, str] | None = None,
        class_name: str = "pangolin",
    ) -> Object:
        """Create or replace an Ingress with a host for each word."""
        port = {"number": 80}
        http_paths = [
            {
                "path": path,
                "pathType": "Prefix",
                "backend": {"service": {"name": "app", "port": port}},
            }
            for path in paths
        ]
        rules = [{"host": self.host(word), "http": {"paths": http_paths}} for word in words]
        spec = {"ingressClassName": class_name, "rules": rules}
        return self.cluster.apply("Ingress", namespace or self.name, name, spec, annotations)

    def await_service(self) -> None:
        """Wait until a restarted API server serves objects of every kind."""
        until(self._serves, "the API server serves PangolinResources")

    def _serves(self) -> bool:
        try:
            self.objects()
        except RefusedError:
            return False
        return True

    def delete_ingress(self, name: str, *, collected: bool = True) -> None:
        """Delete an Ingress, and wait until Kubernetes has deleted the objects that it owned."""
        owned = [
            live["metadata"]["name"]
            for live in self.objects()
            if collected and _owner(live) == name
        ]
        self.cluster.delete("Ingress", self.name, name)
        for key in owned:
            until(
                lambda key=key: not self.cluster.has("PangolinResource", self.name, key),  # type: ignore[misc]
                f"{key} is deleted",
            )

    def objects(self, namespace: str = "") -> list[Object]:
        """Return the live PangolinResources."""
        return self.cluster.all("PangolinResource", namespace or self.name)

    def object(self, word: str, namespace: str = "") -> Object:
        """Return the only live object of a host."""
        host = self.host(word)
        matches = [live for live in self.objects(namespace) if live["spec"]["name"] == host]
        assert len(matches) == 1, matches
        return matches[0]

    def object_named(self, name: str) -> Object:
        """Return the live object with a name."""
        return next(live for live in self.objects() if live["metadata"]["name"] == name)

    def identities(self, namespace: str = "") -> dict[str, tuple[str, int]]:
        """Return the uid and the generation of every live object, by host."""
        return {
            live["spec"]["name"]: (live["metadata"]["uid"], live["metadata"]["generation"])
            for live in self.objects(namespace)
        }

    def settled(self) -> dict[str, tuple[str, int]]:
        """Return the identities when the API server has finished the requests of killed clients."""
        steady = Steady(self.identities)
        until(steady, "no object changes any more")
        return steady.last

    def events(self) -> list[tuple[str, str, str]]:
        """Return the Events of pic as type, reason and message."""
        events = self.event_objects()
        return sorted((event["type"], event["reason"], event["message"]) for event in events)

    def event_objects(self) -> list[Object]:
        """Return the Events of pic, without those of other components."""
        events = self.cluster.all("Event", self.name)
        return [event for event in events if event["source"].get("component") == "pic"]

    def lose_state(self) -> None:
        """Delete the state and create an empty stack, as after the loss of the bucket."""
        self.state_file.unlink()
        self.workspace.pulumi("stack", "init", self.name, "--no-select")

    def up(self, **env: str) -> Answer:
        return self.pulumi("up", "--yes", "--skip-preview", **env)

    def preview(self, **env: str) -> Answer:
        return self.pulumi("preview", PULUMI_ENABLE_STREAMING_JSON_PREVIEW="true", **env)

    def pic(self, *arguments: str, **env: str) -> PicRun:
        """Run pic and return its exit code and its output."""
        command = (str(self.workspace.python), "-m", "pic", *arguments, "--stack", self.name)
        with self.workspace.start(*command, stderr=-1, env=env) as process:
            printed, errors = process.communicate(timeout=SECONDS)
        self._check_secrets(printed + errors, env)
        return PicRun(process.returncode, printed, errors)

    def pulumi(self, *arguments: str, **env: str) -> Answer:
        """Run the engine and return what its events report."""
        command = self.workspace.pulumi_command(*arguments, "--json")
        with self.workspace.start(*command, stderr=-1, env=env) as process:
            printed, errors = process.communicate(timeout=SECONDS)
        self._check_secrets(printed + errors, env)
        return answer(process.returncode, printed, errors)

    def _check_secrets(self, text: str, env: Mapping[str, str]) -> None:
        """Fail if the output contains a secret."""
        values = (*PLANTED, *secrets_of({**self.workspace.extra, **env}))
        assert leaks(text, values) == []


# The files of an empty stack, by path. The engine needs half a second to derive the key of a new
# stack, so later stacks copy the files of the first one.
_EMPTY: dict[str, str] = {}
_NAME, _SALT = "NAME", "encryptionsalt: "


def _create_stack(project: Workspace, name: str) -> None:
    """Create an empty stack; only the first one takes `pulumi stack init`."""
    folder, settings = project.state / ".pulumi", project.path / "stacks" / f"Pulumi.{name}.yaml"
    if project.environment()["PULUMI_CONFIG_PASSPHRASE"] != PASSPHRASE:
        project.pulumi("stack", "init", name, "--no-select")
        return
    if not _EMPTY:
        project.pulumi("stack", "init", name, "--no-select")
        for path in (folder / "meta.yaml", folder / "stacks" / "pic" / f"{name}.json"):
            key = str(path.relative_to(folder)).replace(name, _NAME)
            _EMPTY[key] = path.read_text().replace(name, _NAME)
        lines = settings.read_text().splitlines()
        _EMPTY[_SALT] = next(line for line in lines if line.startswith(_SALT))
        return
    for key in _EMPTY.keys() - {_SALT}:
        path = folder / key.replace(_NAME, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_EMPTY[key].replace(_NAME, name))
    with settings.open("a") as file:
        file.write(f"{_EMPTY[_SALT]}\n")


def _owner(live: Object) -> str:
    name: str = live["metadata"]["ownerReferences"][0]["name"]
    return name


@contextmanager
def open_stage(
    plane: ControlPlane, tools: Toolchain, kubeconfig: Path | None = None, /, **extra: str
) -> Iterator[Stage]:
    """Prepare a stage with one namespace, a ready tunnel and an empty stack.

    Args:
        plane: The control plane.
        tools: The engine.
        kubeconfig: The kubeconfig of the commands, if it is not that of the control plane.
        extra: Environment variables for every command.
    """
    name = f"t{secrets.token_hex(4)}"
    with workspace(tools, kubeconfig or plane.kubeconfig, PULUMI_STACK=name, **extra) as project:
        stage = Stage(plane, Cluster(api_of(plane)), project, name)
        stage.settings(
            clusterId=stage.cluster.id,
            tunnelNamespace=name,
            registerNamespace=name,
            stackId=secrets.token_hex(8),
            # All tests share a cluster, which has far more objects than an operator could find.
            operatorLimit=0,
        )
        stage.add_namespace()
        stage.add_tunnel()
        _create_stack(project, name)
        yield stage
