"""Imports what a pass of the engine needs while pic still reads the backend."""

import importlib
import threading


def import_ahead() -> None:
    """Start to import what a pass of the engine needs, while pic reads the backend."""
    # One thread imports both: two threads could deadlock in modules that import each other.
    threading.Thread(target=_import, args=("pic.engine.inline", "pic.engine.automation")).start()


def _import(*names: str) -> None:
    for name in names:
        importlib.import_module(name)
