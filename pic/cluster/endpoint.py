"""Describes the access to an API server, and makes a pool of connections from it.

This module does not use the Kubernetes client, because the import of the client takes more memory
than everything else in a watcher.
"""

import socket
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import urllib3
from urllib3.util.ssl_ import create_urllib3_context

# As many as the threads that send requests at once: readers of a snapshot, or hooks of a run.
CONNECTIONS = 16
_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
# Detects within a minute that the peer has disappeared, even while no request is in progress. A
# watch may be silent for long, and a load balancer drops idle connections without a reset.
# TCP_NODELAY is the default of urllib3, which these options replace.
KEEP_ALIVE = [
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
]


@dataclass(frozen=True, slots=True)
class Access:
    """The address of one API server and the credentials for it.

    It holds secrets, so its representation shows the server only.

    Attributes:
        server: The URL, without a trailing slash.
        authority: The certificates of trusted authorities as PEM; empty uses those of the system.
        certificate: The client certificate as PEM; empty sends no certificate.
        key: The private key of the client certificate as PEM.
        verify: Whether to verify the certificate of the server.
        server_name: The host name to verify; empty verifies the host of the URL.
        proxy: The URL of an HTTP proxy; empty connects directly.
        authorization: The value of the Authorization header; empty sends no header.
    """

    server: str
    authority: str = ""
    certificate: str = ""
    key: str = ""
    verify: bool = True
    server_name: str = ""
    proxy: str = ""
    authorization: str = ""

    def __repr__(self) -> str:
        """Return the server without any secret."""
        return f"Access({self.server!r})"


def in_pod(environment: Mapping[str, str], folder: Path) -> bool:
    """Say whether this is a pod with a service account, as client-go does.

    Args:
        environment: The variables that Kubernetes sets in every pod.
        folder: The folder with the files of the service account.
    """
    host, port = environment.get(_HOST), environment.get(_PORT)
    return bool(host and port) and (folder / "token").is_file()


def server_of_pod(environment: Mapping[str, str]) -> str:
    """Return the URL of the API server that Kubernetes names in every pod."""
    host, port = environment[_HOST], environment[_PORT]
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def in_cluster(environment: Mapping[str, str], folder: Path) -> Access:
    """Return the access of a pod to the API server of its cluster.

    Args:
        environment: The variables that Kubernetes sets in every pod.
        folder: The folder with the files of the service account.

    Raises:
        OSError: A file cannot be read.
        ValueError: A file is empty, or not text.
    """
    return Access(
        server=server_of_pod(environment),
        authority=_content(folder / "ca.crt"),
        proxy=_proxy(environment[_HOST], environment),
        authorization=f"Bearer {_content(folder / 'token').strip()}",
    )


def _content(file: Path) -> str:
    try:
        content = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not text") from None
    if not content.strip():
        raise ValueError(f"{file} is empty")
    return content


def _proxy(host: str, environment: Mapping[str, str]) -> str:
    def variable(name: str) -> str:
        return environment.get(name.lower()) or environment.get(name) or ""

    bypassed = any(_covers(pattern.strip(), host) for pattern in variable("NO_PROXY").split(","))
    return "" if bypassed else variable("HTTPS_PROXY")


def _covers(pattern: str, host: str) -> bool:
    """Say whether an entry of NO_PROXY covers a host: `*`, a network, or a domain of the host."""
    try:
        return ip_address(host) in ip_network(pattern, strict=False)
    except ValueError:
        name = pattern.lstrip(".")
        return pattern == "*" or (bool(name) and f".{host}".endswith(f".{name}"))


def connection_pool(access: Access, retries: urllib3.Retry) -> urllib3.PoolManager:
    """Return a pool of connections to an API server.

    Raises:
        OSError: A certificate or a key is malformed.
        ValueError: The URL of the proxy is malformed.
    """
    options: dict[str, Any] = {
        "retries": retries,
        "maxsize": CONNECTIONS,
        "ssl_context": _context(access) if access.server.startswith("https:") else None,
        "server_hostname": access.server_name or None,
        # None verifies the name, and False does not.
        "assert_hostname": None if access.verify else False,
        "socket_options": KEEP_ALIVE,
    }
    if access.proxy:
        return urllib3.ProxyManager(access.proxy, **options)
    return urllib3.PoolManager(**options)


def _context(access: Access) -> ssl.SSLContext:
    requirement = ssl.CERT_REQUIRED if access.verify else ssl.CERT_NONE
    context = create_urllib3_context(cert_reqs=requirement)
    if access.authority:
        context.load_verify_locations(cadata=access.authority)
    else:
        context.load_default_certs()
    if access.certificate:
        # The ssl module takes a client certificate only from a file, which it reads once. Only this
        # user can read the file, and it is gone after the block.
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f"{access.certificate}\n{access.key}\n")
            file.flush()
            context.load_cert_chain(file.name)
    return context
