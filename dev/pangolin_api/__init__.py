"""Simulates Pangolin's Integration API for tests and demos, with the routes that it publishes.

The API is as measured on 1.18.4, its oddities included. `Pangolin.routes` says what its proxy would
serve, and `Pangolin.reach` who could reach a host now.
"""

from dev.pangolin_api.faults import Fault
from dev.pangolin_api.routes import Route, Visitor
from dev.pangolin_api.schema import V1_15, V1_18, V1_22
from dev.pangolin_api.server import MEASURED, LogEntry, Moment, Pangolin

__all__ = [
    "MEASURED",
    "V1_15",
    "V1_18",
    "V1_22",
    "Fault",
    "LogEntry",
    "Moment",
    "Pangolin",
    "Route",
    "Visitor",
]
