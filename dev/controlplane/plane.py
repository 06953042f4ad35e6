"""Starts a real etcd, kube-apiserver and kube-controller-manager for development and tests."""

import base64
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Self

from dev import toolchain
from dev.controlplane import access, flags
from dev.controlplane import crds as definitions
from dev.controlplane.api import Api
from dev.controlplane.echo import echo
from dev.controlplane.errors import ControlPlaneError
from dev.controlplane.ports import ReservedPort
from dev.controlplane.processes import Child, Deadline, Spawner, kill
from dev.controlplane.workdir import WorkDir

START_SECONDS = 60.0
DEFAULT_USERS: Mapping[str, Sequence[str]] = MappingProxyType(
    {"nobody": (), "alice": ("team-a",), "bob": ("team-b",)}
)


class ControlPlane:
    """Runs a control plane on free ports of 127.0.0.1 for as long as the `with` block lasts.

    RBAC and TLS are on, and the garbage collector runs. There are no nodes and no service account
    admission. No part outlives this process, even if SIGKILL ends it. Binaries without a controller
    manager work too, but then nothing collects garbage.
    """

    def __init__(
        self,
        *,
        crds: definitions.Generation | None = "targets",
        users: Mapping[str, Sequence[str]] = DEFAULT_USERS,
        binaries: toolchain.ControlPlaneBinaries | None = None,
    ) -> None:
        self._generation = crds
        self._users = access.Users({access.ADMIN: (access.ADMIN_GROUP,), **users})
        self._binaries = binaries
        self._resources = ExitStack()
        self._children: dict[str, Child] = {}

    def __enter__(self) -> Self:
        try:
            self._prepare()
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    @property
    def server(self) -> str:
        """The URL of the API server; it stays the same across restarts."""
        return f"https://127.0.0.1:{self._port.number}"

    @property
    def kubeconfig(self) -> Path:
        """The admin's kubeconfig."""
        return self.kubeconfig_for(access.ADMIN)

    @property
    def pids(self) -> dict[str, int]:
        """The process ids of the running parts, by name."""
        return {name: child.pid for name, child in self._children.items()}

    def token(self, user: str, groups: Sequence[str] = ()) -> str:
        """Return a bearer token of a user in `users`, or of a service account.

        A service account is written `system:serviceaccount:NAMESPACE:NAME`. It is created if it
        does not exist, and its token is valid for a day.
        """
        if user.startswith(access.SERVICE_ACCOUNT):
            namespace, name = user.removeprefix(access.SERVICE_ACCOUNT).split(":")
            return self._service_account_token(namespace, name)
        return self._users.token(user, groups)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Write a kubeconfig with such a token; the file lives as long as the control plane."""
        text = access.KUBECONFIG.format(
            user=user,
            token=self.token(user, groups),
            server=self.server,
            authority=base64.b64encode(self._authority().encode()).decode(),
        )
        return access.write_private(
            self._dir / f"{re.sub('[^a-z0-9-]', '-', user)}.kubeconfig", text
        )

    def kubectl(self, *args: str, input: str | None = None) -> str:  # noqa: A002 - the name that subprocess uses
        """Run kubectl as the admin and return what it prints.

        Raises:
            ControlPlaneError: kubectl failed; the text is what it printed.
        """
        done = subprocess.run(
            [*self._tools().kubectl, *args],
            input=input,
            capture_output=True,
            text=True,
            check=False,
            env={
                **os.environ,
                "KUBECONFIG": str(self.kubeconfig),
                # The default cache may hold the API of an earlier server on this port.
                "KUBECACHEDIR": str(self._dir / "kubectl"),
            },
        )
        if done.returncode:
            raise ControlPlaneError(f"kubectl {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, path: Path) -> str:
        """Apply a manifest file, or every manifest in a directory."""
        return self.kubectl("apply", "--server-side", "--filename", str(path))

    def install_crds(self, generation: definitions.Generation = "targets") -> None:
        """Install the definitions, or replace them with those of another generation."""
        installed = definitions.are_discovered(self._api())
        definitions.install(self._api(), generation, Deadline(START_SECONDS))
        if not installed:
            self._restart_controller_manager()

    def stop_apiserver(self) -> None:
        """Kill the API server; its port refuses connections and stays reserved."""
        kill(self._children.pop("kube-apiserver"))

    def start_apiserver(self) -> None:
        """Start the API server again, on the same port and the same etcd."""
        self._start_apiserver()
        self._await_ready()
        self._restart_controller_manager()

    def stop_etcd(self) -> None:
        """Kill etcd: the API server keeps running, but cannot read or write anything."""
        kill(self._children.pop("etcd"))

    def start_etcd(self) -> None:
        """Start etcd again with its old data, and wait until the API server is ready."""
        self._start_etcd()
        self._await_ready()

    def check(self) -> None:
        """Check that every part still runs.

        Raises:
            ControlPlaneError: A part has ended.
        """
        for child in self._children.values():
            if child.ended:
                raise ControlPlaneError(f"{child.name} ended:\n{child.last_output()}")

    def _prepare(self) -> None:
        workdir = WorkDir()
        self._resources.callback(workdir.remove)
        self._dir = workdir.path
        self._port, self._etcd_port, self._peer_port = (self._reserve() for _ in range(3))
        self._spawner = Spawner()
        self._resources.callback(self._spawner.close)
        access.write_private(self._dir / "tokens.csv", self._users.csv())
        access.write_private(self._dir / "sa.key", access.signing_key())

    def _reserve(self) -> ReservedPort:
        port = ReservedPort()
        self._resources.callback(port.release)
        return port

    def _start(self) -> None:
        self._start_etcd()
        self._start_apiserver()
        self._await_ready()
        if self._generation:
            # Before the controller manager: its garbage collector discovers kinds every 30 s.
            definitions.install(self._api(), self._generation, Deadline(START_SECONDS))
        self._restart_controller_manager()

    def _stop(self) -> None:
        kill(*self._children.values())
        self._children.clear()
        self._resources.close()

    def _start_etcd(self) -> None:
        options = flags.etcd(self._dir, self._etcd_port.number, self._peer_port.number)
        self._spawn("etcd", self._tools().etcd, options)

    def _start_apiserver(self) -> None:
        options = flags.apiserver(self._dir, self._port.number, self._etcd_port.number)
        self._spawn("kube-apiserver", self._tools().apiserver, options)

    def _restart_controller_manager(self) -> None:
        command = self._tools().controller_manager
        if command is None:
            return
        if old := self._children.pop("kube-controller-manager", None):
            kill(old)
        self._spawn("kube-controller-manager", command, flags.controller_manager(self.kubeconfig))

    def _spawn(self, name: str, command: Sequence[str], options: flags.Flags) -> None:
        argv = [*command, *(f"--{flag}={value}" for flag, value in options.items())]
        self._children[name] = self._spawner.start(name, argv, self._dir / f"{name}.log")

    def _await_ready(self) -> None:
        deadline = Deadline(START_SECONDS)
        watched = tuple(self._children.values())
        # The API server writes the key after the certificate.
        deadline.until((self._dir / "certs" / "apiserver.key").exists, "certificate", watched)
        api = self._api()
        deadline.until(api.is_ready, "API server that is ready", watched)
        deadline.until(lambda: _has_namespaces(api), "namespaces default and kube-system", watched)

    def _service_account_token(self, namespace: str, name: str) -> str:
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        if not self._api().has(f"{accounts}/{name}"):
            self._api().request("POST", accounts, {"metadata": {"name": name}})
        request = {"spec": {"expirationSeconds": 86_400}}
        answer = self._api().request("POST", f"{accounts}/{name}/token", request)
        token: str = answer["status"]["token"]
        return token

    def _tools(self) -> toolchain.ControlPlaneBinaries:
        self._binaries = self._binaries or toolchain.resolve_controlplane(echo=echo)
        return self._binaries

    def _authority(self) -> str:
        return access.authority_of((self._dir / "certs" / "apiserver.crt").read_text())

    def _api(self) -> Api:
        return Api(self._port.number, self.token(access.ADMIN), self._authority())


def _has_namespaces(api: Api) -> bool:
    return all(api.has(f"/api/v1/namespaces/{name}") for name in ("default", "kube-system"))
