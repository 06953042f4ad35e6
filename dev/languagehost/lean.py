"""Let the protocol's modules be imported without the SDK around them, which takes far longer.

Only for a process that runs no Pulumi program: in it, `import pulumi` gives an empty package.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def skip_the_sdk() -> None:
    """Put packages that only lead to `pulumi.runtime.proto` where the SDK's would be loaded.

    Raises:
        ImportError: when the SDK is not installed.
    """
    spec = find_spec("pulumi")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the Pulumi SDK is not installed for this Python")
    root = Path(spec.submodule_search_locations[0])
    for name, directory in (("pulumi", root), ("pulumi.runtime", root / "runtime")):
        sys.modules[name] = package = ModuleType(name)
        package.__path__ = [str(directory)]
