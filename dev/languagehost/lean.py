"""Lets a process import the gRPC modules of the Pulumi SDK without the slow rest of it.

This is only for a process that runs no Pulumi program: `import pulumi` yields an empty package.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def skip_the_sdk() -> None:
    """Register empty packages, so that `pulumi.runtime.proto` loads without its parents.

    Raises:
        ImportError: The SDK is not installed.
    """
    spec = find_spec("pulumi")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the Pulumi SDK is not installed for this Python")
    root = Path(spec.submodule_search_locations[0])
    for name, directory in (("pulumi", root), ("pulumi.runtime", root / "runtime")):
        sys.modules[name] = package = ModuleType(name)
        package.__path__ = [str(directory)]
