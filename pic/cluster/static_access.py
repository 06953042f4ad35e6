"""Reads the credentials that a kubeconfig holds itself, without the official client.

Most contexts have a certificate or a token, and nothing that has to be run. Then a run needs no
official client, whose import takes a third of a second and 20 MB. `kubeconfig` reads all others.
"""

import base64
from collections.abc import Mapping
from pathlib import Path

from pic.cluster.endpoint import Access
from pic.cluster.pinned import Pinned
from pic.core.json_values import MalformedError, Raw

# A context with any other key is a matter of the official client.
_CLUSTER_KEYS = frozenset(
    {
        "server",
        "certificate-authority",
        "certificate-authority-data",
        "insecure-skip-tls-verify",
        "tls-server-name",
        "extensions",  # only notes of the program that wrote the file
    }
)
_USER_KEYS = frozenset(
    {
        "client-certificate",
        "client-certificate-data",
        "client-key",
        "client-key-data",
        "token",
        "tokenFile",
    }
)


def read(pinned: Pinned, environment: Mapping[str, str]) -> Access | None:
    """Return the access that a pinned context describes, as the official client would.

    It returns None if the context needs the client, or if a value is unusable: then the client
    says why. That the values are the same is a test.

    Args:
        pinned: The context.
        environment: May name proxies, which are a matter of the client.
    """
    if not (pinned.cluster.keys() <= _CLUSTER_KEYS and pinned.user.keys() <= _USER_KEYS):
        return None
    if any(name.lower().endswith("_proxy") and value for name, value in environment.items()):
        return None
    try:
        return _access(pinned.cluster, pinned.user)
    except (OSError, ValueError):
        return None


def _access(cluster: Raw, user: Raw) -> Access | None:
    insecure = cluster.get("insecure-skip-tls-verify", False)
    if not isinstance(insecure, bool):
        return None
    server, token = _text(cluster.get("server")).rstrip("/"), _token(user)
    encrypted = server.startswith("https")
    return Access(
        server=server,
        authority=_content(cluster, "certificate-authority") if encrypted else "",
        certificate=_content(user, "client-certificate") if encrypted else "",
        key=_content(user, "client-key") if encrypted else "",
        verify=not insecure,
        server_name=_text(cluster.get("tls-server-name")),
        # A token that an editor has written into a file ends with a newline.
        authorization=f"Bearer {token}".strip() if token else "",
    )


def _content(values: Raw, key: str) -> str:
    """Return what a value contains or what its file contains. The value itself comes first."""
    if f"{key}-data" in values:
        return base64.standard_b64decode(_text(values[f"{key}-data"])).decode()
    return _file(values, key)


def _token(user: Raw) -> str:
    return _text(user["token"]) if "token" in user else _file(user, "tokenFile")


def _file(values: Raw, key: str) -> str:
    path = _text(values.get(key))
    return Path(path).read_text(encoding="utf-8") if path else ""


def _text(value: object) -> str:
    if not isinstance(value, str | None):
        raise MalformedError("a value is no text")
    return value or ""
