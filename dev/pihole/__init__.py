"""A Pi-hole v6 for tests and demos: its API as measured on FTL 6.4.1, DNS by a real dnsmasq."""

from dev.pihole.dns import dnsmasq
from dev.pihole.errors import PiHoleError
from dev.pihole.faults import Fault
from dev.pihole.local import OnDuplicate
from dev.pihole.pace import MEASURED, QUICK, Clock, Pace
from dev.pihole.server import Logged, Overlap, PiHole

__all__ = [
    "MEASURED",
    "QUICK",
    "Clock",
    "Fault",
    "Logged",
    "OnDuplicate",
    "Overlap",
    "Pace",
    "PiHole",
    "PiHoleError",
    "dnsmasq",
]
