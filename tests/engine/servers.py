"""State backends of the real kind on 127.0.0.1: a PostgreSQL, and a server that speaks S3."""

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
    """Where a stack's state is, and the credentials for it.

    Attributes:
        url: What PULUMI_BACKEND_URL is set to.
        credentials: Environment variables; they are in no URL.
    """

    url: str
    credentials: Mapping[str, str]


@contextmanager
def bucket() -> Iterator[Backend]:
    """Serve one empty bucket."""
    if not MOTO.exists():
        pytest.skip("no server for S3: `make servers` installs it")
    with tempfile.TemporaryDirectory(prefix="pic-s3-") as folder:
        log = Path(folder) / "log"
        command = [str(MOTO), "--host", "127.0.0.1", "--port", "0"]
        with _running(command, log, signal.SIGTERM):
            found = until_match(r"Running on http://(127\.0\.0\.1:\d+)", log)
            request = urllib.request.Request(f"http://{found}/{BUCKET}", method="PUT")
            urllib.request.urlopen(request).close()  # noqa: S310
            yield Backend(
                f"s3://{BUCKET}/deep/down?endpoint={found}"
                "&s3ForcePathStyle=true&disableSSL=true&region=us-east-1"
                "&response_checksum_validation=when_required",
                {
                    "AWS_ACCESS_KEY_ID": "anybody",
                    "AWS_SECRET_ACCESS_KEY": "anything",
                    "AWS_SESSION_TOKEN": "",
                    "AWS_PROFILE": "",
                    "AWS_CONFIG_FILE": os.devnull,
                    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
                    "AWS_EC2_METADATA_DISABLED": "true",
                },
            )


@contextmanager
def database() -> Iterator[Backend]:
    """Serve one empty database, to whoever has the password."""
    programs = _postgres_programs()
    with tempfile.TemporaryDirectory(prefix="pic-postgres-") as name:
        folder, password = Path(name), secrets.token_hex(16)
        (folder / "password").write_text(password)
        _give(folder)
        command = [
            *_as_anybody(),
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
        *_as_anybody(),
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
    """Wait for a line in a log, and return what the pattern's group matches."""
    until(lambda: log.exists() and re.search(pattern, log.read_text()), f"{pattern} in {log}")
    found = re.search(pattern, log.read_text())
    assert found
    return found[1]


@contextmanager
def _running(
    command: Sequence[str], log: Path, stop: signal.Signals, pid_file: Path | None = None
) -> Iterator[None]:
    """Run a server that ends with the block, or with this process, whatever ends that."""
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
    """Find the folder of PostgreSQL's programs; Debian keeps them off PATH."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "postgres").exists() and (folder / "initdb").exists():
            return folder
    pytest.skip("no PostgreSQL server: apt-get install postgresql")


def _anybody() -> pwd.struct_passwd:
    """A user that is not root, as whom PostgreSQL agrees to run."""
    names = {each.pw_name: each for each in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _as_anybody() -> list[str]:
    if os.getuid() != 0:
        return []
    user = _anybody()
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]


def _give(folder: Path) -> None:
    if os.getuid() == 0:
        for path in (folder, *folder.iterdir()):
            os.chown(path, _anybody().pw_uid, _anybody().pw_gid)


def _no_libpq() -> dict[str, str]:
    """Nothing of the user's own databases."""
    return {name: "" for name in os.environ if name.startswith("PG")}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
