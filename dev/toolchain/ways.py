"""The three ways to a Pulumi engine. Each says what is missing when it cannot be gone."""

import os
import re
import subprocess
from enum import Enum
from pathlib import Path

from dev.toolchain import build, commands, layout, versions
from dev.toolchain.errors import ToolchainError
from dev.toolchain.lock import one_at_a_time
from dev.toolchain.model import Engine, has_plugin
from dev.toolchain.parts import KUBERNETES_PLUGIN, PULUMI_CLI
from dev.toolchain.progress import Progress
from dev.toolchain.surroundings import Surroundings

_DOWNLOAD_LIMIT = 600.0  # seconds for each of the two downloads; no connection fails much sooner
_INSTALL = Path(__file__).with_name("install.py")
_LANGUAGE_HOST = "pulumi-language-python"
_PLUGIN_INSTALL = ("plugin", "install", "resource", "kubernetes", versions.KUBERNETES_PLUGIN)
_COMPLETE = ".complete"


class Way(Enum):
    """Where an engine comes from, in the order in which they are tried."""

    PATH = "path"
    DOWNLOAD = "download"
    MODULES = "modules"


def on_path(around: Surroundings) -> Engine:
    """Use the CLI on PATH with the plugin in the user's own PULUMI_HOME.

    Raises:
        ToolchainError: when one of the two is missing or too old.
    """
    cli = around.which("pulumi")
    if cli is None:
        raise ToolchainError("no pulumi on PATH")
    version = _version(around, cli)
    if _numbers(version) < versions.PULUMI_MINIMUM:
        minimum = ".".join(map(str, versions.PULUMI_MINIMUM))
        raise ToolchainError(
            f"pulumi on PATH is {version or 'without a version'}, {minimum} is needed"
        )
    bin_ = _with_language_host(cli)
    if not has_plugin(around.pulumi_home):
        raise ToolchainError(
            f"no kubernetes plugin {versions.KUBERNETES_PLUGIN} in {around.pulumi_home}: "
            f"run `pulumi {' '.join(_PLUGIN_INSTALL)}`"
        )
    return Engine(bin_, around.pulumi_home)


def _version(around: Surroundings, cli: Path) -> str:
    try:
        answer = subprocess.run(
            [cli, "version"],
            env={**around.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolchainError(f"{cli} does not answer: {error}") from error
    return answer.stdout.strip()


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"v?(\d+)\.(\d+)", version)
    return tuple(map(int, found.groups())) if found else (0,)


def _with_language_host(cli: Path) -> Path:
    """Find the directory that holds the language host: where the CLI is, or where it points."""
    for directory in (cli.parent, cli.resolve().parent):
        if os.access(directory / _LANGUAGE_HOST, os.X_OK):
            return directory
    raise ToolchainError(f"no {_LANGUAGE_HOST} beside {cli}")


def downloaded(around: Surroundings) -> Engine | None:
    """Find what an earlier download left in the cache, whole."""
    root = _root(around)
    return Engine(root / "bin", root / "home") if (root / _COMPLETE).exists() else None


def download(around: Surroundings) -> Engine:
    """Fetch the official CLI and plugin into the cache.

    Raises:
        ToolchainError: when they cannot be fetched.
    """
    root = _root(around)
    with one_at_a_time(root, "download", around.echo):
        if not (root / _COMPLETE).exists():
            _fetch(around, "pulumi", [around.python, _INSTALL, root, versions.PULUMI])
            _fetch(around, "kubernetes plugin", [root / "bin" / "pulumi", *_PLUGIN_INSTALL])
            _with_language_host(root / "bin" / "pulumi")
            (root / _COMPLETE).touch()
    return Engine(root / "bin", root / "home")


def _fetch(around: Surroundings, what: str, command: list[str | Path]) -> None:
    root = _root(around)
    environ = {
        **around.environ,
        "PULUMI_HOME": str(root / "home"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    progress = Progress(f"{what}: downloading", around.echo, around.line_every)
    ended = commands.run(command, env=environ, cwd=root, progress=progress, limit=_DOWNLOAD_LIMIT)
    if ended.code:
        said = ended.tail.rpartition("\n")[2] or f"exit code {ended.code}"
        raise ToolchainError(f"the download of {what} failed: {said}")


def _root(around: Surroundings) -> Path:
    return around.cache / f"download-{versions.PULUMI}-{versions.KUBERNETES_PLUGIN}"


def built(around: Surroundings) -> Engine | None:
    """Find what an earlier build left in the cache.

    Raises:
        ToolchainError: when there is no Go to name the build by.
    """
    plugin, cli = build.cached(around, KUBERNETES_PLUGIN), build.cached(around, PULUMI_CLI)
    return layout.lay_out(around, cli, plugin) if cli and plugin else None


def from_modules(around: Surroundings) -> Engine:
    """Build the CLI and the plugin from their Go modules.

    Raises:
        ToolchainError: when Go is missing or too old, the disk too full, or a build fails.
    """
    plugin = build.ensure(around, KUBERNETES_PLUGIN)
    return layout.lay_out(around, build.ensure(around, PULUMI_CLI), plugin)
