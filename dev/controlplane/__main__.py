"""Runs a control plane in the foreground, or kubectl against it.

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
    """Run the chosen command; an expected error prints one message and no traceback."""
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
    parser.add_argument("--record", type=Path, default=RECORD, help="file for the kubeconfig")
    options = parser.parse_args(argv)
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    echo("starting a control plane")
    with ControlPlane(crds=None if options.crds == "none" else options.crds) as plane:
        options.record.parent.mkdir(exist_ok=True)
        write_private(options.record, plane.kubeconfig.read_text())
        try:
            print(f"export KUBECONFIG={shlex.quote(str(options.record))}", flush=True)
            echo(f"{plane.server} serves until Ctrl-C")
            while not stop.wait(1):
                plane.check()
        finally:
            options.record.unlink(missing_ok=True)


def kubectl(argv: list[str]) -> None:
    """Replace this process by kubectl, for $KUBECONFIG or else for the `make cluster` one."""
    if "KUBECONFIG" not in os.environ:
        _check_record()
        os.environ["KUBECONFIG"] = str(RECORD)
        os.environ["KUBECACHEDIR"] = str(RECORD.with_name("kubectl-cache"))
    command = [*toolchain.resolve_controlplane(echo=echo).kubectl, *_without_dashes(argv)]
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted


def _check_record() -> None:
    remedy = "run `make cluster` in another terminal, or set KUBECONFIG"
    if not RECORD.exists():
        raise ControlPlaneError(f"no cluster is running: {remedy}")
    url = urlsplit(yaml.safe_load(RECORD.read_text())["clusters"][0]["cluster"]["server"])
    try:
        socket.create_connection((str(url.hostname), url.port or 443), timeout=5).close()
    except OSError:
        raise ControlPlaneError(
            f"the cluster that `make cluster` started does not answer: {remedy}"
        ) from None


def _without_dashes(argv: list[str]) -> list[str]:
    return argv[1:] if argv[:1] == ["--"] else argv


if __name__ == "__main__":
    main()
