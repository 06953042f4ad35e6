"""Serves a fake Kubernetes API with canned answers on the loopback, and records its requests."""

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import yaml

from pic.cluster import listing
from pic.cluster.listing import CORE, CRD, IDENTITY, NETWORKING, PANGOLIN
from pic.core.names import (
    BUCKET_LABEL,
    NAME_LABEL,
    STACK_ID_LABEL,
    STACK_LABEL,
    labels,
    register_name,
)
from pic.core.register import Register
from pic.planning import registering
from pic.snapshot import pangolin, register
from tests.support import memories
from tests.support.planted import TOKEN

CLUSTER = "11111111-2222-3333-4444-555555555555"
# What the stack of a test needs, so that no notice is about its register or its id.
REGISTER_NAMESPACE, STACK_ID = "pic", "0a0a0a0a"
REMEMBERING = {
    "registerNamespace": REGISTER_NAMESPACE,
    "stackId": STACK_ID,
    "tunnelNamespaces": ".",
}
REGISTER = f"{CORE}/namespaces/{REGISTER_NAMESPACE}/configmaps"
KINDS = {
    f"{NETWORKING}/ingresses": "IngressList",
    f"{NETWORKING}/ingressclasses": "IngressClassList",
    f"{CORE}/services": "ServiceList",
    f"{CORE}/namespaces": "NamespaceList",
    f"{PANGOLIN}/pangolintunnels": "PangolinTunnelList",
    f"{PANGOLIN}/pangolinorganizations": "PangolinOrganizationList",
    f"{PANGOLIN}/pangolinresources": "PangolinResourceList",
    REGISTER: "ConfigMapList",
}
CRD_FILE = Path(__file__).parents[2] / "dev" / "crds" / "targets" / "pangolinresources.yaml"


@dataclass(frozen=True)
class Answer:
    """One answer of the API server.

    Attributes:
        body: Bytes are sent as they are, anything else as JSON.
        delay: Seconds before the answer.
        cut: Whether the connection breaks in the middle of the body.
    """

    body: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False

    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Request:
    """One request that the API server received."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


NAMESPACE = re.compile(f"{CORE}/namespaces/([^/]+)")


class Api:
    """A fake API server. A path without answers returns 404."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.requests: list[Request] = []
        self.port = 0

    @property
    def server(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def set_answers(self, path: str, *answers: Answer) -> None:
        """Set the answers of a path: one after the other, then the last one again and again."""
        self.answers[path] = list(answers)

    def refuse(self, path: str, status: int, message: str) -> None:
        self.set_answers(path, Answer({"kind": "Status", "message": message}, status))

    def set_objects(self, path: str, *objects: Mapping[str, object]) -> None:
        """Set the objects of a collection."""
        self.set_answers(path, Answer({"kind": KINDS[path], "metadata": {}, "items": objects}))

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        answers = self.answers.get(request.path.partition("?")[0])
        if not answers:
            # A namespace exists unless a test says otherwise.
            if match := NAMESPACE.fullmatch(request.path):
                return Answer({"kind": "Namespace", "metadata": {"name": match[1]}})
            return Answer({"kind": "Status", "message": "not found"}, 404)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def kubeconfig(self, path: Path) -> str:
        """Write a kubeconfig for this server, and return its path."""
        path.write_text(yaml.safe_dump(kubeconfig(self.server)))
        return str(path)


def kubeconfig(server: str, *contexts: str) -> dict[str, Any]:
    """Return a kubeconfig with these contexts, or with `here`; the first is the current one."""
    names = contexts or ("here",)
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": names[0],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in names],
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise the body of each answer waits until the client has acknowledged its head.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        request = Request(self.command, self.path, dict(self.headers), self.rfile.read(length))
        answer = cast("_Server", self.server).api.answer(request)
        time.sleep(answer.delay)
        data = answer.data()
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if answer.cut else data)
        self.close_connection = answer.cut

    do_POST = do_PATCH = do_GET  # noqa: N815 - names of the library

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - a name of the library
        pass


class _Server(ThreadingHTTPServer):
    api: Api


@contextmanager
def serving() -> Iterator[Api]:
    """Serve an empty cluster with the current generation of the CRD."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.api = api = Api()
    api.port = server.server_port
    api.set_answers(IDENTITY, Answer({"kind": "Namespace", "metadata": {"uid": CLUSTER}}))
    api.set_answers(CRD, Answer(yaml.safe_load(CRD_FILE.read_text())))
    for path in KINDS:
        api.set_objects(path)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ingress(name: str, *hosts: str, namespace: str = "prod", **annotations: str) -> dict[str, Any]:
    """Return an Ingress with one rule for each host; `_` in the name of an annotation means `-`."""
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    prefix = "pangolin.ingress.k8s.io/"
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{namespace}-{name}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {
                f"{prefix}{key.replace('_', '-')}": value for key, value in annotations.items()
            },
        },
        "spec": {
            "ingressClassName": "pangolin",
            "rules": [{"host": host, "http": {"paths": [path]}} for host in hosts],
        },
    }


def service(namespace: str = "prod") -> dict[str, Any]:
    return {
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"ports": [{"port": 80}]},
    }


def tunnel(namespace: str = "prod", name: str = "default") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "status": {"status": "Ready"}}


def live_object(host: str, namespace: str = "prod", name: str = "") -> dict[str, Any]:
    """Return a live PangolinResource of ours, as the Ingress `web` asks for it."""
    subdomain, _, domain = host.partition(".")
    return {
        "metadata": {
            "namespace": namespace,
            "name": name or f"pic-{host}",
            "labels": labels("pic.prod", namespace, "web", f"uid-{namespace}-web", STACK_ID),
        },
        "spec": {"name": host, "httpConfig": {"domainName": domain, "subdomain": subdomain}},
    }


def fill_cluster(
    api: Api, ingresses: Sequence[Mapping[str, object]], *live: Mapping[str, object]
) -> None:
    """Fill the cluster with Ingresses, live objects, and the Services and tunnels that they need.

    The namespaces are prod and team. Both accept Events. The register has the live objects.
    """
    for namespace in ("prod", "team"):
        api.set_answers(f"{CORE}/namespaces/{namespace}/events", Answer({}))
    api.set_objects(f"{NETWORKING}/ingresses", *ingresses)
    api.set_objects(f"{CORE}/services", service("prod"), service("team"))
    api.set_objects(f"{PANGOLIN}/pangolintunnels", tunnel("prod"), tunnel("team"))
    api.set_objects(f"{PANGOLIN}/pangolinresources", *live)
    api.set_objects(REGISTER, *config_maps(*live))


def config_maps(*live: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return the ConfigMaps of a stack that has made these objects."""
    objects = [pangolin.live_resource(body) for body in live]
    remembered = memories.register(
        (
            replace(
                registering.entry_of_live(it), source=f"Ingress/{it.labels[NAME_LABEL]}", serial=1
            )
            for it in objects
            # Only objects of this stack, and no others.
            if it.labels.get(STACK_ID_LABEL) == STACK_ID
        ),
        stack_id=STACK_ID,
        cluster_id=CLUSTER,
    )
    return config_maps_of(remembered)


def config_maps_of(content: Register) -> list[dict[str, Any]]:
    """Return the ConfigMaps of a register."""
    return [
        {
            "metadata": {
                "namespace": REGISTER_NAMESPACE,
                "name": register_name("prod", digit),
                "labels": {STACK_LABEL: "pic.prod", BUCKET_LABEL: digit},
            },
            "data": data,
        }
        for digit, data in register.data(content).items()
    ]


# The fake server answers at once, or fails on purpose.
SHORT_TIMEOUTS = listing.Timeouts(connect=1.0, read=0.1, retry_after=0, backoff=0.0)
