"""Checks the Pulumi CLI, its Kubernetes plugin, and the Python packages."""

import re
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from pic.core.findings import (
    Finding,
    failed,
    passed,
    run_check,
    skipped,
)
from pic.run.doctor_context import DoctorContext

Version = tuple[int, int, int]

CLI_MINIMUM = (3, 200, 0)
PLUGIN_MINIMUM, PLUGIN_END = (4, 25, 0), (5, 0, 0)
PLUGIN, SDK = "resource-kubernetes", "pulumi-kubernetes"
REQUIREMENTS = "requirements.txt"

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
# A pin with a marker is for other systems.
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;]+)\s*\\?$", re.MULTILINE)


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Yield what is there of the toolchain."""
    yield from run_check("pulumi", lambda: _cli(context))
    yield from run_check("plugin", lambda: _plugin(context))
    yield from run_check("packages", lambda: _packages(context.root / REQUIREMENTS))


def version(text: str) -> Version | None:
    """Read `v1.2.3`, whatever follows; None where it is something else."""
    found = _VERSION.match(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _written(found: Sequence[int]) -> str:
    return ".".join(map(str, found))


def _cli(context: DoctorContext) -> Iterator[Finding]:
    name, remedy = "pulumi", f"install Pulumi {_written(CLI_MINIMUM)} or newer"
    if not context.pulumi:
        yield failed(name, "there is no pulumi on PATH", f"{remedy}, or put its folder on PATH")
        return
    answer = context.ask("version")
    found = version(answer.stdout.strip())
    if found is None:
        yield failed(name, f"{context.pulumi} does not tell its version", remedy)
    elif found < CLI_MINIMUM:
        yield failed(name, f"{_written(found)} at {context.pulumi} is too old", remedy)
    else:
        yield passed(name, f"{_written(found)} at {context.pulumi}")


def _plugin(context: DoctorContext) -> Iterator[Finding]:
    name, there = "plugin", _plugins(context)
    wanted = _installed(SDK)
    asked = version(wanted or "")
    if asked is None:
        yield failed(name, f"the Python package {SDK} is missing", "install the requirements")
    elif not PLUGIN_MINIMUM <= asked < PLUGIN_END:
        spread = f">={_written(PLUGIN_MINIMUM)},<{_written(PLUGIN_END)}"
        yield failed(name, f"{SDK} {wanted} is not tried", f'pip install "{SDK}{spread}"')
    elif asked in there:
        yield passed(name, f"kubernetes {wanted}")
    else:
        found = ", ".join(map(_written, sorted(there))) or "none"
        # The engine looks for exactly the version of the Python package.
        yield failed(
            name,
            f"kubernetes {wanted} is asked for, and there is {found} in {_home(context)}/plugins",
            f"pulumi plugin install resource kubernetes {wanted}",
        )


def _plugins(context: DoctorContext) -> set[Version]:
    """Return the plugin's versions that the engine would take from its cache."""
    found = set()
    for folder in (_home(context) / "plugins").glob(f"{PLUGIN}-v*"):
        partial = folder.with_name(f"{folder.name}.partial").exists()
        if (folder / f"pulumi-{PLUGIN}").is_file() and not partial:
            found.add(version(folder.name.removeprefix(f"{PLUGIN}-")))
    return {each for each in found if each}


def _home(context: DoctorContext) -> Path:
    given = context.environment.get("PULUMI_HOME")
    return Path(given) if given else Path(context.environment.get("HOME", "")) / ".pulumi"


def _packages(file: Path) -> Iterator[Finding]:
    name, remedy = "packages", f"pip install --require-hashes -r {REQUIREMENTS}"
    if not file.is_file():
        yield skipped(name, f"there is no {REQUIREMENTS} here")
        return
    pins = dict(_PIN.findall(file.read_text(encoding="utf-8")))
    there = {package: _installed(package) for package in pins}
    missing = sorted(package for package, found in there.items() if found is None)
    other = sorted(
        package for package, found in there.items() if found not in (None, pins[package])
    )
    if missing:
        yield failed(name, f"missing: {', '.join(missing)}", remedy)
    elif other:
        yield passed(name, f"{len(pins)} installed; not as pinned: {', '.join(other)}", remedy)
    else:
        yield passed(name, f"{len(pins)} installed as pinned")


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
