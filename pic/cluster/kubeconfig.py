"""Reads a kubeconfig with the official client, here or in a process of its own.

    python -m pic.kubeconfig PATHS CONTEXT

prints an Access as JSON, or why there is none and exits with 1. It holds secrets, and goes through
a pipe only. So a process that lives long does without the memory that the client takes.
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

# The client would take KUBECONFIG as it was when it was imported.
DEFAULT_PATH = "~/.kube/config"
REMEDY = "Set KUBECONFIG, or pic:context to one of its contexts"
# What the client makes of a kubeconfig that is missing, incomplete or of the wrong shape.
_MISFITS = (ValueError, KeyError, TypeError, AttributeError)


def load_configuration(paths: str, context: str) -> "client.Configuration":
    """Return what a context of a kubeconfig says.

    Args:
        paths: Files, as in KUBECONFIG; empty is the usual place.
        context: Its name; empty is the current one.

    Raises:
        ClusterError: There is no usable one.
    """
    # It takes a fifth of a second and 20 MB, which a pod does without.
    from kubernetes import client, config  # noqa: PLC0415

    made = client.Configuration()
    try:
        config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=paths or DEFAULT_PATH,
            context=context or _current_context(paths),
            client_configuration=made,
            persist_config=False,
        )
    except (config.ConfigException, yaml.YAMLError, OSError, *_MISFITS) as error:
        raise no_access_error(str(error)) from error
    return made


def no_access_error(why: str) -> ClusterError:
    """Return the error for a cluster that no way leads to."""
    return ClusterError(f"no way to the cluster: {why}. {REMEDY}")


def _current_context(paths: str) -> str | None:
    """Return the context of the first file that names one, as kubectl and the engine do.

    The client takes the last one, which may be another cluster.
    """
    files = [Path(each).expanduser() for each in paths.split(os.pathsep) if each]
    found = [yaml.safe_load(each.read_text(encoding="utf-8")) for each in files if each.exists()]
    named = (each["current-context"] for each in found if each and each.get("current-context"))
    return next(named, None)


def to_access(found: "client.Configuration") -> Access:
    """Return a configuration as values.

    Raises:
        OSError: A file that it names cannot be read.
    """
    from kubernetes.client import rest  # noqa: PLC0415 - as above

    token = found.auth_settings().get("BearerToken")
    passed_by = rest.should_bypass_proxies(found.host, found.no_proxy or "")
    return Access(
        server=found.host,
        authority=_content(found.ssl_ca_cert),
        certificate=_content(found.cert_file),
        key=_content(found.key_file),
        verify=found.verify_ssl,
        server_name=found.tls_server_name or "",
        proxy="" if passed_by else found.proxy or "",
        authorization=(token["value"] or "") if token else "",
    )


def _content(file: str | None) -> str:
    return Path(file).read_text(encoding="utf-8") if file else ""


def read_in_subprocess(paths: str, context: str, environment: Mapping[str, str]) -> Access:
    """Return what `configuration` finds, found by a process of its own.

    Raises:
        ClusterError: There is no usable one.
    """
    command = [sys.executable, "-m", __name__, paths, context]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=dict(environment),
    )
    if done.returncode == 0:
        return Access(**json.loads(done.stdout))
    raise ClusterError(done.stderr.strip() or no_access_error(f"exit code {done.returncode}"))


def main(paths: str, context: str) -> str:
    """Return what is printed, or exit with why there is nothing to print."""
    try:
        return json.dumps(asdict(to_access(load_configuration(paths, context))))
    except (ClusterError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.stdout.write(main(*sys.argv[1:]))
