"""Implements the three ways to get a Pulumi engine; each reports what it lacks."""

import os
import re
import subprocess
from enum import Enum
from pathlib import Path

from dev.toolchain import build, commands, layout, versions
from dev.toolchain.context import Context
from dev.toolchain.errors import ToolchainError
from dev.toolchain.lock import one_at_a_time
from dev.toolchain.model import Engine, has_plugin
from dev.toolchain.parts import KUBERNETES_PLUGIN, PULUMI_CLI
from dev.toolchain.progress import Progress

_DOWNLOAD_LIMIT = 600.0  # seconds per download; without a connection it fails much sooner
_INSTALL = Path(__file__).with_name("install.py")
_LANGUAGE_HOST = "pulumi-language-python"
_PLUGIN_INSTALL = ("plugin", "install", "resource", "kubernetes", versions.KUBERNETES_PLUGIN)
_COMPLETE = ".complete"


class Way(Enum):
    """Names where an engine comes from, in the order of preference."""

    PATH = "path"
    DOWNLOAD = "download"
    MODULES = "modules"


def on_path(context: Context) -> Engine:
    """Use the CLI on PATH with the plugin in the user's own PULUMI_HOME.

    Raises:
        ToolchainError: The CLI or the plugin is missing or too old.
    """
    cli = context.which("pulumi")
    if cli is None:
        raise ToolchainError("no pulumi on PATH")
    version = _version(context, cli)
    if _numbers(version) < versions.PULUMI_MINIMUM:
        minimum = ".".join(map(str, versions.PULUMI_MINIMUM))
        raise ToolchainError(
            f"pulumi on PATH has {f'version {version}' if version else 'no version'}, "
            f"but {minimum} or newer is needed"
        )
    bin_ = _with_language_host(cli)
    if not has_plugin(context.pulumi_home):
        raise ToolchainError(
            f"no kubernetes plugin {versions.KUBERNETES_PLUGIN} in {context.pulumi_home}: "
            f"run `pulumi {' '.join(_PLUGIN_INSTALL)}`"
        )
    return Engine(bin_, context.pulumi_home)


def _version(context: Context, cli: Path) -> str:
    try:
        answer = subprocess.run(
            [cli, "version"],
            env={**context.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolchainError(f"{cli} does not answer: {error}") from error
    return answer.stdout.strip()


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"v?(\d+)\.(\d+)", version)
    return tuple(map(int, match.groups())) if match else (0,)


def _with_language_host(cli: Path) -> Path:
    """Find the directory of the language host: that of the CLI, or of the file it links to."""
    for directory in (cli.parent, cli.resolve().parent):
        if os.access(directory / _LANGUAGE_HOST, os.X_OK):
            return directory
    raise ToolchainError(f"no {_LANGUAGE_HOST} next to {cli}")


def downloaded(context: Context) -> Engine | None:
    """Return the engine that an earlier download has completed, if any."""
    root = _root(context)
    return Engine(root / "bin", root / "home") if (root / _COMPLETE).exists() else None


def download(context: Context) -> Engine:
    """Download the official CLI and plugin into the cache.

    Raises:
        ToolchainError: A download fails.
    """
    root = _root(context)
    with one_at_a_time(root, "download", context.echo):
        if not (root / _COMPLETE).exists():
            _download(context, "pulumi", [context.python, _INSTALL, root, versions.PULUMI])
            _download(context, "kubernetes plugin", [root / "bin" / "pulumi", *_PLUGIN_INSTALL])
            _with_language_host(root / "bin" / "pulumi")
            (root / _COMPLETE).touch()
    return Engine(root / "bin", root / "home")


def _download(context: Context, what: str, command: list[str | Path]) -> None:
    root = _root(context)
    environ = {
        **context.environ,
        "PULUMI_HOME": str(root / "home"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    progress = Progress(f"{what}: downloading", context.echo, context.line_every)
    result = commands.run(command, env=environ, cwd=root, progress=progress, limit=_DOWNLOAD_LIMIT)
    if result.code:
        reason = result.tail.rpartition("\n")[2] or f"exit code {result.code}"
        raise ToolchainError(f"the download of {what} failed: {reason}")


def _root(context: Context) -> Path:
    return context.cache / f"download-{versions.PULUMI}-{versions.KUBERNETES_PLUGIN}"


def built(context: Context) -> Engine | None:
    """Return the engine that an earlier build has left in the cache, if any.

    Raises:
        ToolchainError: Go is missing or too old; its version is part of the name of the build.
    """
    plugin, cli = build.cached(context, KUBERNETES_PLUGIN), build.cached(context, PULUMI_CLI)
    return layout.lay_out(context, cli, plugin) if cli and plugin else None


def from_modules(context: Context) -> Engine:
    """Build the CLI and the plugin from their Go modules.

    Raises:
        ToolchainError: Go is missing or too old, the disk is too full, or a build fails.
    """
    plugin = build.ensure(context, KUBERNETES_PLUGIN)
    return layout.lay_out(context, build.ensure(context, PULUMI_CLI), plugin)
