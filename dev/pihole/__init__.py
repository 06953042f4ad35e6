"""Simulates a Pi-hole v6 for tests and demos: the API as measured on FTL 6.4.1, a real dnsmasq."""

from dev.pihole.dns import dnsmasq
from dev.pihole.errors import PiHoleError
from dev.pihole.faults import Fault
from dev.pihole.local import OnDuplicate
from dev.pihole.pace import MEASURED, QUICK, Clock, Pace
from dev.pihole.server import LogEntry, Overlap, PiHole

__all__ = [
    "MEASURED",
    "QUICK",
    "Clock",
    "Fault",
    "LogEntry",
    "OnDuplicate",
    "Overlap",
    "Pace",
    "PiHole",
    "PiHoleError",
    "dnsmasq",
]
