"""Merges kubeconfig files as client-go does, and pins one context of them.

A run reads the files once. Whatever it starts gets the pinned context instead of the files, so a
switch of the current context does not lead the engine to another cluster than the guard has read.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from pic.core import yaml_text
from pic.core.errors import ClusterError
from pic.core.json_values import MalformedError, Raw, mapping, sequence, text
from pic.core.yaml_text import YamlError

REMEDY = "Set KUBECONFIG, or pic:context to one of its contexts"
# The keys of a cluster and of a user that hold a path, relative to the file.
_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_CLUSTER, _USER = "cluster", "user"


@dataclass(frozen=True, slots=True)
class Pinned:
    """One context of a kubeconfig, with absolute paths.

    It holds secrets, so its representation shows the context only.

    Attributes:
        context: The name of the context.
        cluster: The cluster of the context, as kubeconfig files describe it.
        user: The user of the context; empty sends no credentials.
    """

    context: str
    cluster: Raw = field(repr=False)
    user: Raw = field(repr=False)

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return text(self.cluster.get("server"))

    def as_text(self, other_names: Collection[str] = ()) -> str:
        """Return a kubeconfig with this context alone.

        Args:
            other_names: Further names of the context, such as those in the state of a stack.
        """
        names = [self.context, *sorted(set(other_names) - {self.context})]
        context = {"cluster": _CLUSTER, "user": _USER}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": self.context,
            "contexts": [{"name": name, "context": dict(context)} for name in names],
            "clusters": [{"name": _CLUSTER, "cluster": dict(self.cluster)}],
            "users": [{"name": _USER, "user": dict(self.user)}],
        }
        return yaml.safe_dump(content, sort_keys=False)


def no_access_error(reason: str) -> ClusterError:
    """Return the error for a configuration that leads to no cluster."""
    return ClusterError(f"cannot connect to the cluster: {reason.rstrip('.')}. {REMEDY}")


def pin(files: Sequence[Path], context: str) -> Pinned | None:
    """Return one context of the files; None if no file has a current context.

    Args:
        files: The files in the order of KUBECONFIG. The first one that has a name wins, and a file
            that does not exist is left out.
        context: The name of the context; empty selects the current context.

    Raises:
        ClusterError: A file cannot be read, or the context leads to no server.
    """
    merged = _Merged()
    for file in files:
        merged.add(file)
    name = context or merged.current
    if not name:
        return None
    places = ", ".join(map(str, files))
    if name not in merged.contexts:
        raise no_access_error(f"there is no context {name!r} in {places}")
    chosen = merged.contexts[name]
    cluster = merged.clusters.get(text(chosen.get("cluster")), {})
    if not text(cluster.get("server")):
        raise no_access_error(f"the cluster of context {name!r} has no server in {places}")
    user = merged.users.get(text(chosen.get("user")), {})
    return Pinned(name, cluster, _with_origin(user, files))


@dataclass
class _Merged:
    """The contexts, clusters and users of all files, by name; the first of each name counts."""

    current: str = ""
    contexts: dict[str, Raw] = field(default_factory=dict)
    clusters: dict[str, Raw] = field(default_factory=dict)
    users: dict[str, Raw] = field(default_factory=dict)

    def add(self, file: Path) -> None:
        try:
            content = mapping(yaml_text.read(file), "it")
            self._merge(content, file.absolute().parent)
        except FileNotFoundError:
            return
        except OSError as error:
            raise no_access_error(f"{file} cannot be read: {error.strerror}") from error
        except (YamlError, MalformedError) as error:
            raise no_access_error(f"{file} is no kubeconfig: {error}") from error

    def _merge(self, content: Raw, folder: Path) -> None:
        self.current = self.current or text(content.get("current-context"))
        for key, part, known in (
            ("contexts", "context", self.contexts),
            ("clusters", "cluster", self.clusters),
            ("users", "user", self.users),
        ):
            for name, value in _named(content, key, part):
                known.setdefault(name, _absolute(value, folder))


def _named(content: Raw, key: str, part: str) -> Iterator[tuple[str, Raw]]:
    for item in sequence(content.get(key), key):
        entry = mapping(item, f"an entry of {key}")
        yield text(entry.get("name")), mapping(entry.get(part), f"{part} in {key}")


def _absolute(value: Raw, folder: Path) -> Raw:
    """Return a cluster or a user with absolute paths."""
    paths = {key: str(folder / text(value[key])) for key in _PATHS if value.get(key)}
    plugin = mapping(value.get("exec"), "exec")
    command = text(plugin.get("command"))
    # A command without a slash is looked for on PATH.
    if os.sep in command:
        return {**value, **paths, "exec": {**plugin, "command": str(folder / command)}}
    return {**value, **paths}


def _with_origin(user: Raw, files: Sequence[Path]) -> Raw:
    """Return a user whose exec plugin finds the kubeconfig of the run, as kubectl would start it.

    Some plugins look for their cache or their login beside the kubeconfig.
    """
    plugin = mapping(user.get("exec"), "exec")
    if not plugin:
        return user
    variables = sequence(plugin.get("env"), "env")
    names = {text(entry.get("name")) for entry in variables if isinstance(entry, Mapping)}
    if "KUBECONFIG" in names:
        return user
    paths = os.pathsep.join(str(file.absolute()) for file in files)
    origin = {"name": "KUBECONFIG", "value": paths}
    return {**user, "exec": {**plugin, "env": [*variables, origin]}}
