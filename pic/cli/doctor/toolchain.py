"""Checks the Pulumi CLI, its Kubernetes plugin, and the Python packages."""

import re
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from pic.core.findings import Finding, failed, passed, run_check, skipped
from pic.run.doctor_context import DoctorContext

Version = tuple[int, int, int]

CLI_MINIMUM = (3, 200, 0)
PLUGIN_MINIMUM, PLUGIN_END = (4, 25, 0), (5, 0, 0)
PLUGIN, SDK = "resource-kubernetes", "pulumi-kubernetes"
REQUIREMENTS = "requirements.txt"

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
# Does not match a pin with a marker: it applies to other systems only.
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;]+)\s*\\?$", re.MULTILINE)


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Yield the findings on the toolchain."""
    yield from run_check("pulumi", lambda: _cli(context))
    yield from run_check("plugin", lambda: _plugin(context))
    yield from run_check("packages", lambda: _packages(context.root / REQUIREMENTS))


def parse_version(text: str) -> Version | None:
    """Read a text that begins with a version such as `v1.2.3`; None if it does not."""
    match = _VERSION.match(text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _as_text(version: Sequence[int]) -> str:
    return ".".join(map(str, version))


def _cli(context: DoctorContext) -> Iterator[Finding]:
    name, remedy = "pulumi", f"install Pulumi {_as_text(CLI_MINIMUM)} or newer"
    if not context.pulumi:
        yield failed(name, "there is no pulumi on PATH", f"{remedy}, or add its folder to PATH")
        return
    result = context.run_pulumi("version")
    version = parse_version(result.stdout.strip())
    if version is None:
        yield failed(name, f"{context.pulumi} does not print its version", remedy)
    elif version < CLI_MINIMUM:
        yield failed(name, f"{_as_text(version)} at {context.pulumi} is too old", remedy)
    else:
        yield passed(name, f"{_as_text(version)} at {context.pulumi}")


def _plugin(context: DoctorContext) -> Iterator[Finding]:
    name, cached, sdk = "plugin", _cached_plugins(context), _installed(SDK)
    version = parse_version(sdk or "")
    if version is None:
        yield failed(name, f"the Python package {SDK} is missing", f"install {REQUIREMENTS}")
    elif not PLUGIN_MINIMUM <= version < PLUGIN_END:
        versions = f">={_as_text(PLUGIN_MINIMUM)},<{_as_text(PLUGIN_END)}"
        yield failed(name, f"pic is not tested with {SDK} {sdk}", f'pip install "{SDK}{versions}"')
    elif version in cached:
        yield passed(name, f"kubernetes {sdk}")
    else:
        versions = ", ".join(map(_as_text, sorted(cached))) or "no version"
        # The engine needs exactly the version of the Python package.
        yield failed(
            name,
            f"kubernetes {sdk} is missing: {_home(context)}/plugins has {versions}",
            f"pulumi plugin install resource kubernetes {sdk}",
        )


def _cached_plugins(context: DoctorContext) -> set[Version]:
    """Return the versions of the plugin that the engine accepts from its cache."""
    versions = set()
    for folder in (_home(context) / "plugins").glob(f"{PLUGIN}-v*"):
        # Pulumi creates this file while it installs a plugin, and deletes it at the end.
        is_partial = folder.with_name(f"{folder.name}.partial").exists()
        if (folder / f"pulumi-{PLUGIN}").is_file() and not is_partial:
            versions.add(parse_version(folder.name.removeprefix(f"{PLUGIN}-")))
    return {version for version in versions if version}


def _home(context: DoctorContext) -> Path:
    home = context.environment.get("PULUMI_HOME")
    return Path(home) if home else Path(context.environment.get("HOME", "")) / ".pulumi"


def _packages(file: Path) -> Iterator[Finding]:
    name, remedy = "packages", f"pip install --require-hashes -r {REQUIREMENTS}"
    if not file.is_file():
        yield skipped(name, f"{REQUIREMENTS} is not in this folder")
        return
    pins = dict(_PIN.findall(file.read_text(encoding="utf-8")))
    installed = {package: _installed(package) for package in pins}
    missing = sorted(package for package, version in installed.items() if version is None)
    different = sorted(
        package for package, version in installed.items() if version not in (None, pins[package])
    )
    if missing:
        yield failed(name, f"missing: {', '.join(missing)}", remedy)
    elif different:
        message = f"{len(pins)} installed, but not in the pinned version: {', '.join(different)}"
        yield passed(name, message, remedy)
    else:
        yield passed(name, f"{len(pins)} installed in their pinned versions")


def _installed(package: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
