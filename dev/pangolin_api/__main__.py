"""Runs the simulator in the foreground.

python -m dev.pangolin_api [--version 1.15|1.18|1.22] [--tls] [--slow]
"""

import argparse
import os
import shlex
import signal
from threading import Event

from dev.controlplane.echo import echo
from dev.pangolin_api import MEASURED, V1_15, V1_18, V1_22, Moment, Pangolin
from dev.pangolin_api.server import ORG

_VERSIONS = {f"{major}.{minor}": (major, minor) for major, minor in (V1_15, V1_18, V1_22)}


def main() -> None:
    """Run until Ctrl-C; print each write and what the proxy serves after it."""
    parser = argparse.ArgumentParser(prog="python -m dev.pangolin_api")
    parser.add_argument("--version", choices=sorted(_VERSIONS), default="1.18")
    parser.add_argument("--tls", action="store_true", help="serve HTTPS, for 127.0.0.1")
    parser.add_argument("--slow", action="store_true", help="take as long as a real Pangolin")
    options = parser.parse_args()
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    pangolin = Pangolin(
        version=_VERSIONS[options.version],
        tls=options.tls,
        pace=MEASURED if options.slow else 0.0,
        watch=_show,
    )
    key = os.environ.get("PANGOLIN_API_KEY")
    if key:
        pangolin.key = key
        pangolin.allow(key, ORG)
    with pangolin:
        _print_access(pangolin)
        while pangolin.alive and not ended.wait(0.2):
            pass


def _print_access(pangolin: Pangolin) -> None:
    variables = {
        "PANGOLIN_URL": pangolin.url,
        "PANGOLIN_ORG": ORG,
        "PANGOLIN_API_KEY": pangolin.key,
    }
    if pangolin.ca is not None:
        variables["PANGOLIN_CA"] = str(pangolin.ca)
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}", flush=True)
    echo(
        f"{pangolin.url} serves until Ctrl-C: organisation {ORG}, base domain example.com, site"
        " Home. Each write prints the routes that Pangolin's proxy then has"
    )


def _show(moment: Moment) -> None:
    if moment.after.method == "GET":
        return
    routes = [f"{route.rule} {route.access} {' '.join(route.backends)}" for route in moment.routes]
    echo("\n    ".join([f"{moment.after} {moment.after.status}", *(routes or ["no routes"])]))


if __name__ == "__main__":
    main()
