"""How an API server is reached: address, authority, credentials; and a pool of connections to it.

Without the Kubernetes client, whose import takes more memory than everything else of a watcher.
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

# As many as ask at once: the readers of a whole reading, or the hooks of a run.
CONNECTIONS = 16
# A peer that is gone without a word is noticed after a minute, also while nothing is sent.
KEEP_ALIVE = [
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
]


@dataclass(frozen=True, slots=True)
class Access:
    """One way to one API server; it holds secrets, and so is never printed.

    Attributes:
        server: The URL, without a slash at its end.
        authority: Certificates as PEM; empty trusts what the system does.
        certificate: Of the client, as PEM; empty where there is none.
        key: That of the certificate.
        verify: The server has to prove who it is.
        server_name: The name it has to prove; empty is that of the URL.
        proxy: The URL of a proxy on the way; empty is none.
        authorization: The header of this name; empty sends none.
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
        """Say where it leads, and no secret."""
        return f"Access({self.server!r})"


def in_cluster(environment: Mapping[str, str], folder: Path) -> Access:
    """Return the way of a pod to its own API server.

    Args:
        environment: Has the server's address.
        folder: Where the service account's files are.

    Raises:
        OSError: A file cannot be read.
        ValueError: A file is empty.
        KeyError: The environment lacks the port.
    """
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment["KUBERNETES_SERVICE_PORT"]
    return Access(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        authority=_content(folder / "ca.crt"),
        proxy=_proxy(host, environment),
        authorization=f"Bearer {_content(folder / 'token').strip()}",
    )


def _content(file: Path) -> str:
    found = file.read_text(encoding="utf-8")
    if not found.strip():
        raise ValueError(f"{file} is empty")
    return found


def _proxy(host: str, environment: Mapping[str, str]) -> str:
    def of(name: str) -> str:
        return environment.get(name.lower()) or environment.get(name) or ""

    passed_by = any(_covers(each.strip(), host) for each in of("NO_PROXY").split(","))
    return "" if passed_by else of("HTTPS_PROXY")


def _covers(pattern: str, host: str) -> bool:
    """Say whether an entry of NO_PROXY is about a host: all, a network, a name or its domain."""
    try:
        return ip_address(host) in ip_network(pattern, strict=False)
    except ValueError:
        name = pattern.lstrip(".")
        return pattern == "*" or (bool(name) and f".{host}".endswith(f".{name}"))


def connection_pool(to: Access, retries: urllib3.Retry) -> urllib3.PoolManager:
    """Return a pool of connections.

    Raises:
        OSError: A certificate or a key is none.
        ValueError: The address of the proxy is none.
    """
    options: dict[str, Any] = {
        "retries": retries,
        "maxsize": CONNECTIONS,
        "ssl_context": _context(to) if to.server.startswith("https:") else None,
        "server_hostname": to.server_name or None,
        "assert_hostname": None if to.verify else False,
        "socket_options": KEEP_ALIVE,
    }
    if to.proxy:
        return urllib3.ProxyManager(to.proxy, **options)
    return urllib3.PoolManager(**options)


def _context(to: Access) -> ssl.SSLContext:
    made = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if to.verify else ssl.CERT_NONE)
    if to.authority:
        made.load_verify_locations(cadata=to.authority)
    else:
        made.load_default_certs()
    if to.certificate:
        # It takes files only, and reads them once.
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f"{to.certificate}\n{to.key}\n")
            file.flush()
            made.load_cert_chain(file.name)
    return made
