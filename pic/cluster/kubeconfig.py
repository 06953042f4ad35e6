"""Reads a kubeconfig with the official client, in this process or in one of its own.

    python -m pic.cluster.kubeconfig PATHS CONTEXT

prints an Access as JSON, or prints an error and exits with 1. The JSON contains secrets, so it only
ever goes through a pipe. A watcher uses this command, because the client would take 20 MB of its
memory for as long as it runs.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from pic.cluster.endpoint import Access
from pic.core.errors import ClusterError

if TYPE_CHECKING:
    from kubernetes import client

# Passed explicitly, because the client keeps the value that KUBECONFIG had when it was imported.
DEFAULT_PATH = "~/.kube/config"
REMEDY = "Set KUBECONFIG, or pic:context to one of its contexts"
# What the client raises for a kubeconfig that is incomplete or has the wrong shape.
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError)


def load_configuration(paths: str, context: str) -> "client.Configuration":
    """Return the configuration of one context of a kubeconfig.

    Args:
        paths: One or more files, separated as in KUBECONFIG; empty reads `~/.kube/config`.
        context: The name of the context; empty selects the current context.

    Raises:
        ClusterError: The kubeconfig or the context is missing or unusable.
    """
    # The import takes a fifth of a second and 20 MB, and a pod does not need it.
    from kubernetes import client, config  # noqa: PLC0415

    configuration = client.Configuration()
    try:
        config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=paths or DEFAULT_PATH,
            context=context or _current_context(paths),
            client_configuration=configuration,
            persist_config=False,  # a renewed token must not change the user's file
        )
    except (config.ConfigException, yaml.YAMLError, OSError, *_MALFORMED) as error:
        raise no_access_error(str(error)) from error
    return configuration


def no_access_error(reason: str) -> ClusterError:
    """Return the error for a configuration that leads to no cluster."""
    return ClusterError(f"cannot connect to the cluster: {reason.rstrip('.')}. {REMEDY}")


def _current_context(paths: str) -> str | None:
    """Return the current context of the first file that has one, as kubectl and Pulumi do.

    The Python client uses the last file instead, which may lead to another cluster.
    """
    files = [Path(path).expanduser() for path in paths.split(os.pathsep) if path]
    parsed = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files if file.exists()]
    contexts = (config.get("current-context") for config in parsed if config)
    return next(filter(None, contexts), None)


def to_access(configuration: "client.Configuration") -> Access:
    """Return the access that a configuration of the client describes.

    Raises:
        OSError: A file that the configuration names cannot be read.
    """
    from kubernetes.client import rest  # noqa: PLC0415 - as in load_configuration

    token = configuration.auth_settings().get("BearerToken")
    bypassed = rest.should_bypass_proxies(configuration.host, configuration.no_proxy or "")
    return Access(
        server=configuration.host,
        authority=_content(configuration.ssl_ca_cert),
        certificate=_content(configuration.cert_file),
        key=_content(configuration.key_file),
        verify=configuration.verify_ssl,
        server_name=configuration.tls_server_name or "",
        proxy="" if bypassed else configuration.proxy or "",
        authorization=(token["value"] or "") if token else "",
    )


def _content(file: str | None) -> str:
    return Path(file).read_text(encoding="utf-8") if file else ""


def read_in_subprocess(paths: str, context: str, environment: Mapping[str, str]) -> Access:
    """Return the access that `load_configuration` finds, read by a process of its own.

    Raises:
        ClusterError: The kubeconfig or the context is missing or unusable.
    """
    command = [sys.executable, "-m", __name__, paths, context]
    result = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=dict(environment),
    )
    if result.returncode == 0:
        return Access(**json.loads(result.stdout))
    raise ClusterError(result.stderr.strip() or no_access_error(f"exit code {result.returncode}"))


def main(paths: str, context: str) -> str:
    """Return the access as JSON, or exit with the error."""
    try:
        return json.dumps(asdict(to_access(load_configuration(paths, context))))
    except (ClusterError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.stdout.write(main(*sys.argv[1:]))
