"""The command line: its verbs, and what becomes of their errors."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

from pic.errors import PicError
from pic.verbs import destroy, diff, doctor, drift, init, plan, preview, snapshot, status, up

VERBS = (plan, snapshot, diff, preview, up, drift, destroy, status, init, doctor)

EPILOG = """\
exit codes: 0 done · 1 unexpected · 2 settings or usage · 3 refused by the guard ·
4 the stack is locked by a live run · 5 cluster, engine or backend unreachable or incomplete ·
6 some resources failed · 7 --expect-no-changes and there are changes"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="pic",
        description="Exposes Kubernetes Ingresses through Pangolin as a reviewed Pulumi diff.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in VERBS:
        verb.add(verbs)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; expected errors are one clear message."""
    options = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An arrow that the terminal's encoding lacks is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        result: int = options.run(options, os.environ)
        sys.stdout.flush()
    except PicError as error:
        print(f"pic: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return result
