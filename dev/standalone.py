"""Runs a program that starts its own cluster, a demo or a measurement, and ends it cleanly."""

import os
import signal
import sys
from collections.abc import Callable, Mapping

REFUSED, FAILED, STOPPED = 2, 1, 130

Errors = tuple[type[Exception], ...]


def main(
    name: str,
    run: Callable[[], None],
    expected: Errors,
    environment: Mapping[str, str] = os.environ,
) -> int:
    """Run a program and return its exit code; an expected error prints one line.

    Args:
        name: Names the program in its messages, in one word.
        run: The program. It must remove all that it has started, also when it is interrupted.
        expected: The errors that are printed without a traceback.
        environment: Must not contain KUBECONFIG.
    """
    if "KUBECONFIG" in environment:
        print(
            f"{name}: KUBECONFIG is set, but the {name} only uses a cluster that it starts itself;"
            " unset KUBECONFIG and run it again",
            file=sys.stderr,
        )
        return REFUSED
    # SIGTERM and SIGHUP then unwind the stack like Ctrl-C, so that `run` can clean up.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted; everything that it started is removed", file=sys.stderr)
        return STOPPED
    except expected as error:
        print(f"\n{name}: {error}", file=sys.stderr)
        return FAILED
    return 0
