"""Starts the language host: `__main__.py [--parent PID] ENGINE`, by path, from any directory."""
# ruff: noqa: E402 - the order matters: signals first, then paths, then the slow imports

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # an early Ctrl-C ends it without a traceback

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from dev.languagehost.lean import skip_the_sdk

skip_the_sdk()

from dev.languagehost.server import main

main()
