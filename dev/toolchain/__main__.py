"""Finds, downloads or builds the toolchain, and prints where it is."""

import argparse
import shlex
import sys
from collections.abc import Mapping

from dev import toolchain


def exports(environment: Mapping[str, str]) -> str:
    """Return an environment as shell commands."""
    lines = (f"export {key}={shlex.quote(value)}" for key, value in environment.items())
    return "\n".join(lines)


def _print_error(line: str) -> None:
    """Print to standard error, because standard output is for the shell."""
    print(line, file=sys.stderr)


def main() -> int:
    """Resolve everything; an expected error prints only its message."""
    parser = argparse.ArgumentParser(prog="python -m dev.toolchain", description=__doc__)
    parser.add_argument(
        "--controlplane", action="store_true", help="resolve only the control plane"
    )
    parser.add_argument(
        "--export", action="store_true", help="print the engine's environment as shell commands"
    )
    options = parser.parse_args()
    try:
        if options.controlplane:
            toolchain.resolve_controlplane()
        else:
            tools = toolchain.resolve(echo=_print_error if options.export else print)
            if options.export:
                print(exports(tools.environment()))
    except (toolchain.ToolchainError, OSError) as error:  # such as a cache that cannot be written
        print(f"toolchain: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("toolchain: interrupted; unfinished files are removed", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
