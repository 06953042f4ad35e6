"""Finds the cluster of a run, once, in the order of client-go.

The kubeconfig files of KUBECONFIG come first, or else the one in the home directory, and at last
the service account of a pod. pic:kubeconfig replaces KUBECONFIG, and pic:context selects a context.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pic.cluster import endpoint, kubeconfig, static_access
from pic.cluster.endpoint import Access
from pic.cluster.pinned import Pinned, no_access_error, pin
from pic.core.errors import ClusterError
from pic.settings.parse import Settings

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
IN_CLUSTER = "in-cluster"  # the name of the context that stands for a service account
# An HTTP library quotes a header that it refuses, so a token must never get that far.
_HEADER = re.compile(r"[ -~]*")


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """The cluster of a run, and how to read the credentials for it.

    Attributes:
        pinned: Leads to this cluster only.
        read: Reads the credentials of a pinned context.
        latest: Reads the same context from its source again; None if it is not there any more.
    """

    pinned: Pinned
    read: Callable[[Pinned], Access]
    latest: Callable[[], Pinned | None]

    def first(self) -> Access:
        """Return the credentials that the context had when the run began.

        Raises:
            ClusterError: They cannot be read.
        """
        return _checked(self.read(self.pinned))

    def renewed(self) -> Access:
        """Return the credentials that the context has now, for the same cluster.

        Raises:
            ClusterError: They cannot be read.
        """
        latest = self.latest()
        # A context of this name may lead to another cluster by now, which has other credentials.
        unchanged = latest is not None and latest.cluster == self.pinned.cluster
        return _checked(self.read(latest if latest and unchanged else self.pinned))

    def check_unchanged(self, now: "ClusterAccess") -> None:
        """Check that the kubeconfig still leads to this cluster.

        Raises:
            ClusterError: It leads to another one.
        """
        if now.pinned.cluster != self.pinned.cluster:
            raise ClusterError(
                f"the kubeconfig led to {self.pinned.server} when this run began, and now leads to"
                f" {now.pinned.server}: this run stops and deletes nothing. Set pic:context, or use"
                " pic up, which keeps to one cluster"
            )


def _checked(access: Access) -> Access:
    if not _HEADER.fullmatch(access.authorization):
        raise no_access_error("the token has a character that a header cannot contain")
    return access


def resolve(
    settings: Settings,
    environment: Mapping[str, str],
    *,
    in_subprocess: bool = False,
    service_account: Path = SERVICE_ACCOUNT,
) -> ClusterAccess:
    """Return the access to the cluster that kubectl would use.

    Args:
        settings: Name the kubeconfig and the context.
        environment: Holds KUBECONFIG and HOME, or the address of the API server in a pod.
        in_subprocess: Read credentials in a process of its own, which saves this one 20 MB.
        service_account: The folder with the files of a pod's service account.

    Raises:
        ClusterError: The configuration is missing or unusable.
    """
    files = kubeconfig_files(settings, environment)
    if pinned := pin(files, settings.context):

        def read(current: Pinned) -> Access:
            if static := static_access.read(current, environment):
                return static
            if in_subprocess:
                return kubeconfig.read_in_subprocess(current, environment)
            return kubeconfig.read(current)

        return ClusterAccess(pinned, read, lambda: pin(files, pinned.context))
    if settings.kubeconfig or not endpoint.in_pod(environment, service_account):
        raise no_access_error(_missing(files))
    return _of_pod(environment, service_account)


def kubeconfig_files(settings: Settings, environment: Mapping[str, str]) -> Sequence[Path]:
    """Return the kubeconfig files of a run, which need not exist."""
    if settings.kubeconfig:
        # Unlike KUBECONFIG, a setting gets no shell that would replace the tilde.
        return [Path(path).expanduser() for path in _split(settings.kubeconfig)]
    if paths := environment.get("KUBECONFIG"):
        return [Path(path) for path in _split(paths)]
    return [home_file(environment)]


def home_file(environment: Mapping[str, str]) -> Path:
    """Return the kubeconfig in the home directory, which need not exist."""
    return Path(environment.get("HOME", "")) / ".kube" / "config"


def plugin_problems(
    settings: Settings, environment: Mapping[str, str], service_account: Path = SERVICE_ACCOUNT
) -> list[str]:
    """Return why the engine's Kubernetes plugin could reach another cluster than this process.

    This concerns an engine that pic has not started, so that it has the environment of the user.

    Args:
        settings: Name the kubeconfig and the context.
        environment: The environment of the engine.
        service_account: The folder with the files of a pod's service account.
    """
    ambient = kubeconfig_files(replace(settings, kubeconfig=""), environment)
    if settings.kubeconfig and kubeconfig_files(settings, environment) != ambient:
        return [
            "the engine's Kubernetes plugin does not know pic:kubeconfig: run with"
            f" KUBECONFIG={settings.kubeconfig}, or use pic up"
        ]
    home = home_file(environment)
    chosen = settings.context or environment.get("KUBECONFIG")
    if chosen or not home.exists() or not endpoint.in_pod(environment, service_account):
        return []
    return [
        f"this pod has a service account and {home}, which may lead to different clusters: run with"
        f" KUBECONFIG={home}, remove that file, or use pic up"
    ]


def _split(paths: str) -> list[str]:
    return [path for path in paths.split(os.pathsep) if path]


def _missing(files: Sequence[Path]) -> str:
    places = ", ".join(map(str, files))
    if not any(file.exists() for file in files):
        return f"there is no kubeconfig at {places}"
    return f"there is no current context in {places}"


def _of_pod(environment: Mapping[str, str], folder: Path) -> ClusterAccess:
    def read(_: Pinned) -> Access:
        try:
            return endpoint.in_cluster(environment, folder)
        except (OSError, ValueError) as error:
            raise no_access_error(str(error)) from error

    # Kubernetes renews the token in its file, so the file is named and not its content.
    cluster = {
        "server": endpoint.server_of_pod(environment),
        "certificate-authority": str(folder / "ca.crt"),
    }
    user = {"tokenFile": str(folder / "token")}
    return ClusterAccess(Pinned(IN_CLUSTER, cluster, user), read, lambda: None)
