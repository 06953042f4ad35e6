"""How a program ends that starts a cluster of its own: a demo, or a measurement."""

import os
import signal
import sys
from collections.abc import Callable

REFUSED, FAILED, STOPPED = 2, 1, 130

Trouble = tuple[type[Exception], ...]


def main(name: str, run: Callable[[], None], trouble: Trouble) -> int:
    """Run a program to its end and return the exit code; what it fails with is one line.

    Args:
        name: Of the program, in a word.
        run: Removes all that it has started, also where it is stopped.
        trouble: What may be expected to go wrong.
    """
    if "KUBECONFIG" in os.environ:
        print(
            f"{name}: KUBECONFIG is set, and the {name} never touches a cluster it did not start:"
            " run it with KUBECONFIG unset",
            file=sys.stderr,
        )
        return REFUSED
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:
        print(f"\n{name}: stopped; nothing is left behind", file=sys.stderr)
        return STOPPED
    except trouble as error:
        print(f"\n{name}: {error}", file=sys.stderr)
        return FAILED
    return 0
