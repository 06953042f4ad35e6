"""Generates the certificate of a server on 127.0.0.1."""

import ssl
import subprocess
from pathlib import Path


def make(folder: Path) -> Path:
    """Generate a certificate that is its own authority, in `server.crt` and `server.key`."""
    key, certificate = folder / "server.key", folder / "server.crt"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    name = ["-subj", "/CN=pangolin", "-days", "30", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(
        ["openssl", "req", "-x509", *curve, *name, *files], check=True, capture_output=True
    )
    return certificate


def context(folder: Path) -> ssl.SSLContext:
    """Return the TLS context of a server with the certificate that `make` generated."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "server.crt", folder / "server.key")
    return server
