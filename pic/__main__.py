"""Runs the command line as `python -m pic`."""

import gc
import sys

# A run is short, and most of its objects live until the end: a collection finds no garbage. At the
# end of the process alone it would take a tenth of a second. `pic watch` turns it on again.
gc.disable()

from pic.cli.main import main  # noqa: E402 - the imports make many objects

code = main()
gc.freeze()
sys.exit(code)
