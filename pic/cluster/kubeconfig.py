"""Reads the credentials of a pinned context with the official client.

    python -m pic.cluster.kubeconfig < KUBECONFIG

prints an Access as JSON, or prints an error and exits with 1. Both contain secrets, so they only
ever go through a pipe. A watcher uses this command, because the client would take 20 MB of its
memory for as long as it runs.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pic.cluster.endpoint import Access
from pic.cluster.pinned import Pinned, no_access_error
from pic.core import yaml_text
from pic.core.errors import ClusterError

if TYPE_CHECKING:
    from kubernetes import client

# What the client raises for a value of the wrong form; its text may contain the value.
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError)


def read(pinned: Pinned) -> Access:
    """Return the access that a pinned context describes.

    Raises:
        ClusterError: The context is unusable.
    """
    return _read(pinned.as_text())


def _read(text: str) -> Access:
    # The import takes a fifth of a second and 20 MB, and a pod does not need it.
    from kubernetes import client, config  # noqa: PLC0415

    configuration = client.Configuration()
    try:
        config.load_kube_config_from_dict(  # type: ignore[no-untyped-call]
            yaml_text.parse(text),
            client_configuration=configuration,
            persist_config=False,  # a renewed token must not change the user's file
        )
        return _to_access(configuration)
    except config.ConfigException as error:
        raise no_access_error(str(error)) from error
    except OSError as error:
        raise no_access_error(f"{error.filename} cannot be read: {error.strerror}") from error
    except _MALFORMED:
        problem = "the cluster or the user of the context has a value of the wrong form"
        raise no_access_error(problem) from None


def _to_access(configuration: "client.Configuration") -> Access:
    from kubernetes.client import rest  # noqa: PLC0415 - as in _read

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
        # A token that an editor has written into a file ends with a newline.
        authorization=(token["value"] or "").strip() if token else "",
    )


def _content(file: str | None) -> str:
    return Path(file).read_text(encoding="utf-8") if file else ""


def read_in_subprocess(pinned: Pinned, environment: Mapping[str, str]) -> Access:
    """Return the access that `read` returns, read by a process of its own.

    Raises:
        ClusterError: The context is unusable.
    """
    result = subprocess.run(
        [sys.executable, "-m", __name__],
        input=pinned.as_text(),
        capture_output=True,
        text=True,
        check=False,
        env=dict(environment),
    )
    if result.returncode == 0:
        return Access(**json.loads(result.stdout))
    raise ClusterError(result.stderr.strip() or no_access_error(f"exit code {result.returncode}"))


def main(text: str) -> str:
    """Return the access of a kubeconfig as JSON, or exit with the error."""
    try:
        return json.dumps(asdict(_read(text)))
    except ClusterError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.stdout.write(main(sys.stdin.read()))
