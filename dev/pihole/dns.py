"""Serves DNS from the lines of `dns.hosts`, with a real dnsmasq."""

import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from shutil import which

import dns.exception
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype

from dev.controlplane.processes import Child, Spawner, kill
from dev.pihole.errors import PiHoleError

UNPACKED = Path(__file__).parents[2] / ".toolchain" / "dnsmasq" / "dnsmasq"
FILE = "custom.list"
ADDRESS = "127.0.0.1"
ATTEMPTS = 5
START_SECONDS = 20.0


def dnsmasq() -> Path | None:
    """Return the dnsmasq that `make servers` unpacked, else the one on PATH, else None."""
    if UNPACKED.exists():
        return UNPACKED
    program = which("dnsmasq", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    return Path(program) if program else None


class Resolver:
    """One dnsmasq, which picks up new lines by itself.

    Attributes:
        port: For UDP and TCP; 0 before the first start.
    """

    def __init__(self, work: Path, options: Sequence[str] = ()) -> None:
        program = dnsmasq()
        if program is None:
            raise PiHoleError("DNS needs dnsmasq: run `make servers` to get it")
        self._program = program
        self._work = work
        self._options = options
        self._names = work / "hosts"
        self._names.mkdir(exist_ok=True)
        self._spawner = Spawner()
        self._child: Child | None = None
        self.port = 0

    @property
    def pid(self) -> int:
        """The pid of dnsmasq."""
        if self._child is None:
            raise PiHoleError("the resolver is dead")
        return self._child.pid

    def start(self, lines: Sequence[str]) -> None:
        """Serve these lines; a second start keeps the port.

        Raises:
            PiHoleError: dnsmasq does not start or does not answer.
        """
        self.serve(lines)
        for _ in range(ATTEMPTS):
            self.port = self.port or _free_port()
            self._child = self._spawner.start("dnsmasq", self._command(), self._work / "dns.log")
            if self._answers(self._child):
                return
            complaint = self._child.last_output()
            self.stop()
            self.port = 0
        raise PiHoleError(f"dnsmasq does not answer:\n{complaint}")

    def serve(self, lines: Sequence[str]) -> None:
        """Replace the hosts file in one step; dnsmasq reads it within about a millisecond."""
        new = self._work / f".{FILE}"
        new.write_text("".join(f"{line}\n" for line in lines))
        new.replace(self._names / FILE)

    def ask(self, name: str, kind: str, seconds: float) -> list[str]:
        """Query the records of one kind; see `PiHole.ask`."""
        if self._child is None:
            raise PiHoleError("the resolver is dead")
        question = dns.message.make_query(name, kind)
        try:
            answer = dns.query.udp(question, ADDRESS, port=self.port, timeout=seconds)
        except dns.exception.Timeout:
            raise PiHoleError(f"no answer for {name} within {seconds:g} s") from None
        if answer.rcode() not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
            raise PiHoleError(f"{dns.rcode.to_text(answer.rcode())} for {name}")
        wanted = dns.rdatatype.from_text(kind)
        return sorted(
            str(data) for rrset in answer.answer if rrset.rdtype == wanted for data in rrset
        )

    def stop(self) -> None:
        """Kill dnsmasq."""
        child, self._child = self._child, None
        if child is not None:
            kill(child)

    def close(self) -> None:
        """Kill dnsmasq for good."""
        self.stop()
        self._spawner.close()

    def _command(self) -> list[str]:
        return [
            str(self._program),
            # Keeps the user and stays in the foreground: a change of user would reset the signal
            # that ends dnsmasq with its parent.
            "--no-daemon",
            "--conf-file=/dev/null",
            "--no-resolv",
            "--no-hosts",
            "--local=/#/",  # unknown names do not exist, because there is no upstream
            f"--port={self.port}",
            f"--listen-address={ADDRESS}",
            "--bind-interfaces",
            f"--hostsdir={self._names}",
            *self._options,
        ]

    def _answers(self, child: Child) -> bool:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and not child.ended:
            try:
                self.ask("localhost", "A", 0.05)
            except PiHoleError:
                continue
            return not child.ended
        return False


def _free_port() -> int:
    """Return a port that is free for UDP and TCP, until another process takes it."""
    while True:
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            tcp.bind((ADDRESS, 0))
            number: int = tcp.getsockname()[1]
            try:
                udp.bind((ADDRESS, number))
            except OSError:
                continue
            return number
