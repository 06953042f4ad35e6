"""Run a control plane in the foreground, or kubectl against it.

python -m dev.controlplane [--crds targets|target|none]
python -m dev.controlplane kubectl -- get ingress -A
"""

import argparse
import os
import shlex
import signal
import socket
import sys
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import yaml

from dev import toolchain
from dev.controlplane.access import write_private
from dev.controlplane.echo import echo
from dev.controlplane.errors import ControlPlaneError
from dev.controlplane.plane import ControlPlane

RECORD = Path(__file__).parents[2] / ".toolchain" / "kubeconfig"


def main() -> None:
    """Dispatch; an expected error is one message, without a traceback."""
    try:
        if sys.argv[1:2] == ["kubectl"]:
            kubectl(sys.argv[2:])
        else:
            run(sys.argv[1:])
    except (ControlPlaneError, toolchain.ToolchainError) as error:
        sys.exit(str(error))


def run(argv: list[str]) -> None:
    """Run until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m dev.controlplane")
    parser.add_argument("--crds", choices=["targets", "target", "none"], default="targets")
    parser.add_argument("--record", type=Path, default=RECORD, help="where its kubeconfig goes")
    wanted = parser.parse_args(argv)
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    echo("starting a control plane")
    with ControlPlane(crds=None if wanted.crds == "none" else wanted.crds) as plane:
        wanted.record.parent.mkdir(exist_ok=True)
        write_private(wanted.record, plane.kubeconfig.read_text())
        try:
            print(f"export KUBECONFIG={shlex.quote(str(wanted.record))}", flush=True)
            echo(f"{plane.server} serves until Ctrl-C")
            while not ended.wait(1):
                plane.check()
        finally:
            wanted.record.unlink(missing_ok=True)


def kubectl(argv: list[str]) -> None:
    """Become kubectl, for $KUBECONFIG or else for the cluster that runs in the foreground."""
    if "KUBECONFIG" not in os.environ:
        _check_record()
        os.environ["KUBECONFIG"] = str(RECORD)
        os.environ["KUBECACHEDIR"] = str(RECORD.with_name("kubectl-cache"))
    command = [*toolchain.resolve_controlplane(echo=echo).kubectl, *_without_dashes(argv)]
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


def _check_record() -> None:
    remedy = "run `make cluster` in another terminal, or set KUBECONFIG"
    if not RECORD.exists():
        raise ControlPlaneError(f"there is no cluster: {remedy}")
    url = urlsplit(yaml.safe_load(RECORD.read_text())["clusters"][0]["cluster"]["server"])
    try:
        socket.create_connection((str(url.hostname), url.port or 443), timeout=5).close()
    except OSError:
        raise ControlPlaneError(
            f"the cluster that `make cluster` started is gone: {remedy}"
        ) from None


def _without_dashes(argv: list[str]) -> list[str]:
    return argv[1:] if argv[:1] == ["--"] else argv


if __name__ == "__main__":
    main()
