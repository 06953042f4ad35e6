"""Lists the command line flags of the three servers."""

from collections.abc import Mapping
from pathlib import Path

Flags = Mapping[str, object]


def etcd(home: Path, client_port: int, peer_port: int) -> Flags:
    """Return the flags of a single etcd member without durability: its data is temporary."""
    client, peer = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    return {
        "data-dir": home / "etcd",
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"default={peer}",
        "socket-reuse-port": "true",
        "unsafe-no-fsync": "true",
        "log-level": "error",
    }


def apiserver(home: Path, port: int, etcd_port: int) -> Flags:
    """Return the flags of the API server: RBAC and TLS, but no service account admission.

    Nothing here runs pods, so the admission plugin would only get in the way.
    """
    return {
        "etcd-servers": f"http://127.0.0.1:{etcd_port}",
        "bind-address": "127.0.0.1",
        "secure-port": port,
        "permit-port-sharing": "true",
        "cert-dir": home / "certs",
        # Without these two flags it needs a default route, which a sandbox may not have.
        "advertise-address": "127.0.0.1",
        "endpoint-reconciler-type": "none",
        "authorization-mode": "RBAC",
        "token-auth-file": home / "tokens.csv",
        "service-account-key-file": home / "sa.key",
        "service-account-signing-key-file": home / "sa.key",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-cluster-ip-range": "10.0.0.0/16",
        "disable-admission-plugins": "ServiceAccount",
    }


def controller_manager(kubeconfig: Path) -> Flags:
    """Return the flags of the controller manager, with only the controllers that pic needs.

    They collect garbage, delete namespaces, and create service accounts and the role `view`.
    """
    controllers = ("garbage-collector", "namespace", "serviceaccount", "clusterrole-aggregation")
    return {
        "kubeconfig": kubeconfig,
        "controllers": ",".join(f"{name}-controller" for name in controllers),
        "leader-elect": "false",
        "secure-port": 0,
        "kube-api-qps": 500,
        "kube-api-burst": 1000,
    }
