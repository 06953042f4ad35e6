"""A namespace of a real cluster, and a stack of its own that sees nothing else."""

import base64
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from dev.controlplane import ControlPlane
from dev.controlplane.api import APPLY, Api, RefusedError
from dev.pangolin import verified_domain
from dev.toolchain import Toolchain
from dev.workspace import PASSPHRASE, Workspace, workspace
from pic.settings.stack_file import StackFile
from tests.engine.answers import Answer, answer
from tests.support.planted import PLANTED, leaks, secrets_of
from tests.support.waiting import Steady, until

SECONDS = 120
MERGE = "application/merge-patch+json"
APIS = {
    "Namespace": "/api/v1/namespaces",
    "Service": "/api/v1/namespaces/{}/services",
    "Event": "/api/v1/namespaces/{}/events",
    "Ingress": "/apis/networking.k8s.io/v1/namespaces/{}/ingresses",
    "PangolinOrganization": "/apis/tunnel.pangolin.io/v1alpha1/namespaces/{}/pangolinorganizations",
    "PangolinTunnel": "/apis/tunnel.pangolin.io/v1alpha1/namespaces/{}/pangolintunnels",
    "PangolinResource": "/apis/tunnel.pangolin.io/v1alpha1/namespaces/{}/pangolinresources",
}

Object = dict[str, Any]


def api_of(plane: ControlPlane) -> Api:
    """Speak to a control plane as its admin."""
    cluster = yaml.safe_load(plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    return Api(urlsplit(plane.server).port or 443, plane.token("admin"), authority)


@dataclass(frozen=True)
class Cluster:
    """Objects of one control plane, made, changed and looked at."""

    api: Api

    def apply(
        self,
        kind: str,
        namespace: str,
        name: str,
        spec: Object | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> Object:
        """Make an object, or replace what an earlier call made."""
        version = "networking.k8s.io/v1" if kind == "Ingress" else "v1"
        if kind.startswith("Pangolin"):
            version = "tunnel.pangolin.io/v1alpha1"
        metadata = {"name": name, "annotations": dict(annotations or {})}
        whole = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec or {}}
        path = f"{APIS[kind].format(namespace)}/{name}?fieldManager=test&force=true"
        return self.api.request("PATCH", path, json.dumps(whole), APPLY)

    def patch(self, kind: str, namespace: str, name: str, body: object, sub: str = "") -> Object:
        path = f"{APIS[kind].format(namespace)}/{name}{sub}"
        return self.api.request("PATCH", path, body, MERGE)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self.api.request("DELETE", f"{APIS[kind].format(namespace)}/{name}")

    def has(self, kind: str, namespace: str, name: str) -> bool:
        return self.api.has(f"{APIS[kind].format(namespace)}/{name}")

    def all(self, kind: str, namespace: str) -> list[Object]:
        found: list[Object] = self.api.request("GET", APIS[kind].format(namespace))["items"]
        return found

    @property
    def id(self) -> str:
        uid: str = self.api.request("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
        return uid


class Said(NamedTuple):
    """What a run of pic ended with and said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Stage:
    """Where one test plays.

    Attributes:
        name: Of the namespace and of the stack; hosts end with it and `.example`.
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
    def state_file(self) -> Path:
        """What the engine remembers."""
        return self.workspace.state / ".pulumi" / "stacks" / "pic" / f"{self.name}.json"

    @property
    def remembered(self) -> list[str]:
        """The hosts that the engine remembers."""
        found = json.loads(self.state_file.read_text())["checkpoint"]["latest"].get("resources", ())
        kind = "tunnel.pangolin.io/v1alpha1:PangolinResource"
        return sorted(it["urn"].rpartition("::")[2] for it in found if kind in it["type"])

    def host(self, word: str) -> str:
        return f"{word}.{self.name}.example"

    def settings(self, **values: object) -> None:
        """Write settings into the stack file."""
        StackFile(self.workspace.path, self.name).merge(values)

    def add_namespace(self) -> str:
        """Make a namespace with a Service `app`, whose Ingresses the stack sees."""
        name = f"{self.name}-{len(self.namespaces)}" if self.namespaces else self.name
        self.cluster.apply("Namespace", "", name)
        ports = [{"port": 80, "name": "http"}, {"port": 81, "name": "other"}]
        self.cluster.apply("Service", name, "app", spec={"ports": ports})
        self.namespaces.append(name)
        self.settings(namespaces=self.namespaces)
        return name

    def add_tunnel(self) -> None:
        """Make an organisation with a verified domain and its tunnel, both ready."""
        organization: Object = {
            "apiEndpoint": "https://pangolin.example/api/v1",
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
        """Make or replace an Ingress with a host for each word."""
        port = {"number": 80}
        ways = [
            {
                "path": path,
                "pathType": "Prefix",
                "backend": {"service": {"name": "app", "port": port}},
            }
            for path in paths
        ]
        rules = [{"host": self.host(word), "http": {"paths": ways}} for word in words]
        spec = {"ingressClassName": class_name, "rules": rules}
        return self.cluster.apply("Ingress", namespace or self.name, name, spec, annotations)

    def await_service(self) -> None:
        """Wait until an API server that was started again serves objects of every kind."""
        until(self._serves, "the API server serves PangolinResources")

    def _serves(self) -> bool:
        try:
            self.objects()
        except RefusedError:
            return False
        return True

    def delete_ingress(self, name: str, *, collected: bool = True) -> None:
        """Delete an Ingress, and wait until Kubernetes has collected what it owned."""
        owned = [
            it["metadata"]["name"] for it in self.objects() if collected and _owner(it) == name
        ]
        self.cluster.delete("Ingress", self.name, name)
        for each in owned:
            until(
                lambda each=each: not self.cluster.has("PangolinResource", self.name, each),  # type: ignore[misc]
                f"{each} is collected",
            )

    def objects(self, namespace: str = "") -> list[Object]:
        """Return the live PangolinResources."""
        return self.cluster.all("PangolinResource", namespace or self.name)

    def object(self, word: str, namespace: str = "") -> Object:
        """Return the one live object of a host."""
        found = [it for it in self.objects(namespace) if it["spec"]["name"] == self.host(word)]
        assert len(found) == 1, found
        return found[0]

    def identities(self, namespace: str = "") -> dict[str, tuple[str, int]]:
        """Return uid and generation of every live object, by host."""
        return {
            it["spec"]["name"]: (it["metadata"]["uid"], it["metadata"]["generation"])
            for it in self.objects(namespace)
        }

    def settled(self) -> dict[str, tuple[str, int]]:
        """Return the same, once the API server is done with requests whose clients are dead."""
        steady = Steady(self.identities)
        until(steady, "nothing is written any more")
        return steady.last

    def events(self) -> list[tuple[str, str, str]]:
        """Return the Events of pic as type, reason and message."""
        return sorted((it["type"], it["reason"], it["message"]) for it in self.event_objects())

    def event_objects(self) -> list[Object]:
        """Return the Events of pic; the API server makes some of its own."""
        found = self.cluster.all("Event", self.name)
        return [it for it in found if it["source"].get("component") == "pic"]

    @contextmanager
    def denied(self, word: str) -> Iterator[None]:
        """Let the API server refuse objects of a host."""
        group, name = "/apis/admissionregistration.k8s.io/v1", f"deny-{self.name}"
        rule = {
            "apiGroups": ["tunnel.pangolin.io"],
            "apiVersions": ["*"],
            "operations": ["CREATE"],
            "resources": ["pangolinresources"],
        }
        here = {"matchLabels": {"kubernetes.io/metadata.name": self.name}}
        policy = {
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": here},
            "validations": [
                {
                    "expression": f"object.spec.name != '{self.host(word)}'",
                    "message": f"no {word} hosts here",
                }
            ],
        }
        binding = {"policyName": name, "validationActions": ["Deny"]}
        made = (
            ("ValidatingAdmissionPolicy", "validatingadmissionpolicies", policy),
            ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", binding),
        )
        for kind, plural, spec in made:
            body = {
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": kind,
                "metadata": {"name": name},
                "spec": spec,
            }
            self.cluster.api.request("POST", f"{group}/{plural}", body)
        try:
            until(lambda: self._is_denied(word), "the policy is in force")
            yield
        finally:
            for _, plural, _ in made:
                self.cluster.api.request("DELETE", f"{group}/{plural}/{name}")
            until(lambda: not self._is_denied(word), "the policy is gone")

    def _is_denied(self, word: str) -> bool:
        body = {
            "apiVersion": "tunnel.pangolin.io/v1alpha1",
            "kind": "PangolinResource",
            "metadata": {"name": "probe"},
            "spec": {"name": self.host(word)},
        }
        path = f"{APIS['PangolinResource'].format(self.name)}?dryRun=All"
        try:
            self.cluster.api.request("POST", path, body)
        except RefusedError as error:
            return f"no {word} hosts here" in str(error)
        return False

    def lose_state(self) -> None:
        """Delete what the engine remembers, as if the bucket were gone."""
        self.state_file.unlink()
        self.workspace.pulumi("stack", "init", self.name, "--no-select")

    def up(self, **env: str) -> Answer:
        return self.pulumi("up", "--yes", "--skip-preview", **env)

    def preview(self, **env: str) -> Answer:
        return self.pulumi("preview", PULUMI_ENABLE_STREAMING_JSON_PREVIEW="true", **env)

    def pic(self, *arguments: str, **env: str) -> Said:
        """Run pic and return its exit code and what it says."""
        command = (str(self.workspace.python), "-m", "pic", *arguments, "--stack", self.name)
        with self.workspace.start(*command, stderr=-1, env=env) as process:
            printed, errors = process.communicate(timeout=SECONDS)
        self._look_through(printed + errors, env)
        return Said(process.returncode, printed, errors)

    def pulumi(self, *arguments: str, **env: str) -> Answer:
        """Run the engine and return what it says in its events."""
        command = self.workspace.pulumi_command(*arguments, "--json")
        with self.workspace.start(*command, stderr=-1, env=env) as process:
            printed, errors = process.communicate(timeout=SECONDS)
        self._look_through(printed + errors, env)
        return answer(process.returncode, printed, errors)

    def _look_through(self, text: str, env: Mapping[str, str]) -> None:
        """Fail where something is printed that nobody may see."""
        secret = (*PLANTED, *secrets_of({**self.workspace.extra, **env}))
        assert leaks(text, secret) == []


# An empty stack as the engine makes it, by path: deriving its key takes the engine half a second.
_EMPTY: dict[str, str] = {}
_NAME, _SALT = "NAME", "encryptionsalt: "


def _found(project: Workspace, name: str) -> None:
    """Make an empty stack, as `pulumi stack init` does, which the first time is asked to."""
    folder, settings = project.state / ".pulumi", project.path / "stacks" / f"Pulumi.{name}.yaml"
    if project.environment()["PULUMI_CONFIG_PASSPHRASE"] != PASSPHRASE:
        project.pulumi("stack", "init", name, "--no-select")
        return
    if not _EMPTY:
        project.pulumi("stack", "init", name, "--no-select")
        for path in (folder / "meta.yaml", folder / "stacks" / "pic" / f"{name}.json"):
            where = str(path.relative_to(folder)).replace(name, _NAME)
            _EMPTY[where] = path.read_text().replace(name, _NAME)
        lines = settings.read_text().splitlines()
        _EMPTY[_SALT] = next(each for each in lines if each.startswith(_SALT))
        return
    for where in _EMPTY.keys() - {_SALT}:
        path = folder / where.replace(_NAME, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_EMPTY[where].replace(_NAME, name))
    with settings.open("a") as file:
        file.write(f"{_EMPTY[_SALT]}\n")


def _owner(live: Object) -> str:
    name: str = live["metadata"]["ownerReferences"][0]["name"]
    return name


@contextmanager
def set_stage(
    plane: ControlPlane, tools: Toolchain, kubeconfig: Path | None = None, /, **extra: str
) -> Iterator[Stage]:
    """Set a stage with one namespace, a tunnel that is ready, and an empty stack.

    Its commands find the control plane by a kubeconfig, usually its own; extra is environment.
    """
    name = f"t{secrets.token_hex(4)}"
    with workspace(tools, kubeconfig or plane.kubeconfig, PULUMI_STACK=name, **extra) as project:
        made = Stage(plane, Cluster(api_of(plane)), project, name)
        made.settings(clusterId=made.cluster.id, tunnelNamespace=name)
        made.add_namespace()
        made.add_tunnel()
        _found(project, name)
        yield made
