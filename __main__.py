"""Runs the program under `pulumi up`."""

from pic.program import run

run()
