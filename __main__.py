"""Runs the program under `pulumi up`."""

from pic.engine.program import run

run()
