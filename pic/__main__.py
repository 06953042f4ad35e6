"""python -m pic."""

import gc
import sys

# A run is short and what it makes stays to its end: looking for garbage finds none. At the end that
# alone would take a tenth of a second.
gc.disable()

from pic.cli.main import main  # noqa: E402 - a good part of it is made by the imports

code = main()
gc.freeze()
sys.exit(code)
