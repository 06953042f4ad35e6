"""Runs a Pi-hole in the foreground, or fetches the dnsmasq for its DNS.

python -m dev.pihole [--api v6|dns-local] [--tls] [--slow] [LINE…]
python -m dev.pihole fetch
"""

import argparse
import os
import secrets
import shlex
import signal
import sys
from threading import Event

from dev.controlplane import ControlPlaneError
from dev.controlplane.echo import echo
from dev.pihole import MEASURED, QUICK, PiHole, PiHoleError, dnsmasq
from dev.pihole.fetch import fetch


def main() -> None:
    """Run the command; print an expected error as one message without a traceback."""
    if sys.argv[1:] == ["fetch"]:
        fetch()
        return
    try:
        run(sys.argv[1:])
    except (PiHoleError, ControlPlaneError) as error:
        sys.exit(str(error))


def run(argv: list[str]) -> None:
    """Run until Ctrl-C, or until parallel requests kill the simulator."""
    parser = argparse.ArgumentParser(prog="python -m dev.pihole")
    parser.add_argument("--api", choices=["v6", "dns-local"], default="v6")
    parser.add_argument("--tls", action="store_true", help="serve HTTPS, for the name pi.hole")
    parser.add_argument("--slow", action="store_true", help="take as long as a real Pi-hole")
    parser.add_argument("lines", nargs="*", help='records, as "192.168.9.1 a.lan"')
    options = parser.parse_args(argv)
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    with PiHole(
        password=os.environ.get("PIHOLE_PASSWORD") or secrets.token_urlsafe(12),
        api=options.api,
        tls=options.tls,
        records=options.lines,
        pace=MEASURED if options.slow else QUICK,
        dns=dnsmasq() is not None,
    ) as pihole:
        _print_access(pihole)
        while pihole.alive and not ended.wait(0.2):
            pass
        if pihole.deaths:
            raise PiHoleError(f"Pi-hole died, as a real one may: {pihole.deaths[0]}")


def _print_access(pihole: PiHole) -> None:
    variables = {"PIHOLE_URL": pihole.url, "PIHOLE_PASSWORD": pihole.password}
    if pihole.ca is not None:
        variables["PIHOLE_CA"] = str(pihole.ca)
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}", flush=True)
    dns = "no DNS: run `make servers` to get dnsmasq"
    if pihole.dns:
        dns = f"DNS on port {pihole.dns_port} (dig @127.0.0.1 -p {pihole.dns_port} NAME)"
    echo(f"{pihole.url} serves until Ctrl-C; {dns}")


if __name__ == "__main__":
    main()
