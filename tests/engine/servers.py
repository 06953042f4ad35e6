"""Starts state backends on 127.0.0.1: PostgreSQL, and a server with the API of S3."""

import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from dev.workspace import ROOT, SUPERVISOR
from tests.support.waiting import until

MOTO = ROOT / ".toolchain" / "moto" / "bin" / "moto_server"
BUCKET = "states"
DATABASE = "states"


@dataclass(frozen=True)
class Backend:
    """Names the place of the state of a stack, and its credentials.

    Attributes:
        url: The value of PULUMI_BACKEND_URL, without credentials.
        credentials: The environment variables with the credentials.
    """

    url: str
    credentials: Mapping[str, str]


@contextmanager
def bucket() -> Iterator[Backend]:
    """Serve one empty bucket."""
    if not MOTO.exists():
        pytest.skip("no S3 server: run `make servers` to install it")
    with tempfile.TemporaryDirectory(prefix="pic-s3-") as folder:
        log = Path(folder) / "log"
        command = [str(MOTO), "--host", "127.0.0.1", "--port", "0"]
        with _running(command, log, signal.SIGTERM):
            address = until_match(r"Running on http://(127\.0\.0\.1:\d+)", log)
            request = urllib.request.Request(f"http://{address}/{BUCKET}", method="PUT")
            urllib.request.urlopen(request).close()  # noqa: S310
            yield Backend(
                f"s3://{BUCKET}/deep/down?endpoint={address}"
                "&s3ForcePathStyle=true&disableSSL=true&region=us-east-1"
                "&response_checksum_validation=when_required",
                {
                    "AWS_ACCESS_KEY_ID": "any-user",
                    "AWS_SECRET_ACCESS_KEY": "any-secret",
                    "AWS_SESSION_TOKEN": "",
                    "AWS_PROFILE": "",
                    "AWS_CONFIG_FILE": os.devnull,
                    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
                    "AWS_EC2_METADATA_DISABLED": "true",
                },
            )


@contextmanager
def database() -> Iterator[Backend]:
    """Serve one empty database that needs a password."""
    programs = _postgres_programs()
    with tempfile.TemporaryDirectory(prefix="pic-postgres-") as name:
        folder, password = Path(name), secrets.token_hex(16)
        (folder / "password").write_text(password)
        _give(folder)
        command = [
            *_as_unprivileged_user(),
            *(str(programs / "initdb"), "--pgdata", str(folder / "data"), "--username", "pulumi"),
            *("--pwfile", str(folder / "password"), "--auth", "scram-sha-256", "--no-sync"),
            *("--encoding", "UTF8", "--no-locale"),
        ]
        made = subprocess.run(command, check=False, capture_output=True, cwd=folder)
        assert made.returncode == 0, made.stderr.decode()
        yield from _serve(programs, folder, password)


def _serve(programs: Path, folder: Path, password: str) -> Iterator[Backend]:
    port = _free_port()
    command = [
        *_as_unprivileged_user(),
        *(str(programs / "postgres"), "-D", str(folder / "data"), "-p", str(port)),
        *("-h", "127.0.0.1", "-k", str(folder), "-F"),
    ]
    # SIGINT: a fast shutdown, which frees the shared memory.
    with _running(command, folder / "log", signal.SIGINT, folder / "data" / "postmaster.pid"):
        until_match(r"(ready to accept connections)", folder / "log")
        credentials = {**_no_libpq(), "PGPASSWORD": password}
        address = ["--host", "127.0.0.1", "--port", str(port), "--username", "pulumi"]
        subprocess.run(
            [str(programs / "createdb"), *address, DATABASE],
            check=True,
            env={**os.environ, **credentials},
        )
        url = f"postgres://pulumi@127.0.0.1:{port}/{DATABASE}?sslmode=disable"
        yield Backend(url, credentials)


def until_match(pattern: str, log: Path) -> str:
    """Wait for a line in a log, and return the first group of the pattern."""
    until(lambda: log.exists() and re.search(pattern, log.read_text()), f"{pattern} in {log}")
    match = re.search(pattern, log.read_text())
    assert match
    return match[1]


@contextmanager
def _running(
    command: Sequence[str], log: Path, stop: signal.Signals, pid_file: Path | None = None
) -> Iterator[None]:
    """Run a server that ends with the block, or with this process, even if SIGKILL ends it."""
    supervisor = [sys.executable, "-I", "-S", str(SUPERVISOR), str(os.getpid())]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*supervisor, *command],
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    with process:
        try:
            yield
        finally:
            if pid_file and pid_file.exists():
                os.kill(int(pid_file.read_text().split()[0]), stop)
                process.wait(timeout=30)
            process.terminate()


def _postgres_programs() -> Path:
    """Find the folder of the PostgreSQL programs, which Debian does not put on PATH."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "postgres").exists() and (folder / "initdb").exists():
            return folder
    pytest.skip("no PostgreSQL server: run apt-get install postgresql")


def _unprivileged_user() -> pwd.struct_passwd:
    """Return a user other than root, because PostgreSQL does not run as root."""
    names = {user.pw_name: user for user in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _as_unprivileged_user() -> list[str]:
    if os.getuid() != 0:
        return []
    user = _unprivileged_user()
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]


def _give(folder: Path) -> None:
    if os.getuid() == 0:
        for path in (folder, *folder.iterdir()):
            os.chown(path, _unprivileged_user().pw_uid, _unprivileged_user().pw_gid)


def _no_libpq() -> dict[str, str]:
    """Return an environment without the variables of the user's own databases."""
    return {name: "" for name in os.environ if name.startswith("PG")}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
