"""Generates certificates as Pi-hole does: an authority, and a leaf for `pi.hole` only."""

import shutil
import ssl
import subprocess
from pathlib import Path

from dev.pihole.errors import PiHoleError

NAME = "pi.hole"
DAYS = 47
_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def make(folder: Path) -> Path:
    """Generate an authority and a leaf, in `ca.crt` and `server.pem`.

    Returns:
        The certificate of the authority.

    Raises:
        PiHoleError: The program openssl is missing or failed.
    """
    ca, ca_key, leaf = folder / "ca.crt", folder / "ca.key", folder / "server.pem"
    subject = ["-subj", f"/CN={NAME}", "-days", str(DAYS)]
    _openssl("req", "-x509", *_KEY, *subject, "-keyout", str(ca_key), "-out", str(ca))
    signed = ["-CA", str(ca), "-CAkey", str(ca_key), "-addext", f"subjectAltName=DNS:{NAME}"]
    key, crt = folder / "server.key", folder / "server.crt"
    leaf_of = ["-addext", "basicConstraints=critical,CA:FALSE", *signed]
    _openssl("req", "-x509", *_KEY, *subject, *leaf_of, "-keyout", str(key), "-out", str(crt))
    leaf.touch(mode=0o600)
    leaf.write_text(key.read_text() + crt.read_text())
    return ca


def context(folder: Path) -> ssl.SSLContext:
    """Return the TLS context of a server with the leaf that `make` generated."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "server.pem")
    return server


def _openssl(*arguments: str) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise PiHoleError("TLS needs the program openssl, which is not on PATH")
    result = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
    if result.returncode != 0:
        raise PiHoleError(f"openssl {arguments[0]} failed: {result.stderr.strip()}")
