"""Decides which toolchain to use, and reports which one and why."""

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from dev.toolchain import build, ways
from dev.toolchain.context import Context
from dev.toolchain.errors import ToolchainError
from dev.toolchain.model import ControlPlaneBinaries, Echo, Engine, Toolchain
from dev.toolchain.parts import CONTROLPLANE
from dev.toolchain.ways import Way

_FORCE = "PIC_TOOLCHAIN"
_ASSETS = "KUBEBUILDER_ASSETS"


def resolve(echo: Echo = print, context: Context | None = None) -> Toolchain:
    """Return a Pulumi engine and a control plane; build what is missing.

    Raises:
        ToolchainError: A part can be neither found nor built.
    """
    context = context or Context(echo=echo)
    return Toolchain(resolve_engine(context), resolve_controlplane(context=context))


def resolve_engine(context: Context) -> Engine:
    """Return a Pulumi engine by the way that PIC_TOOLCHAIN names, or by the first one that works.

    Raises:
        ToolchainError: No way works; the message has the reason for each.
    """
    match _forced(context):
        case None:
            return _first(context)
        case Way.PATH:
            return _forced_way(context, Way.PATH, lambda: ways.on_path(context))
        case Way.DOWNLOAD:
            return _forced_way(
                context, Way.DOWNLOAD, lambda: ways.downloaded(context) or ways.download(context)
            )
        case Way.MODULES:
            return _forced_way(context, Way.MODULES, lambda: ways.from_modules(context))
        case unknown:
            assert_never(unknown)


def _forced(context: Context) -> Way | None:
    name = context.environ.get(_FORCE)
    if not name:
        return None
    try:
        return Way(name)
    except ValueError as error:
        allowed = ", ".join(way.value for way in Way)
        raise ToolchainError(
            f"{_FORCE} is {name!r}: set it to one of {allowed}, or unset it"
        ) from error


def _forced_way(context: Context, way: Way, find: Callable[[], Engine]) -> Engine:
    try:
        engine = find()
    except ToolchainError as error:
        raise ToolchainError(f"pulumi: {_FORCE}={way.value}, but {error}") from error
    return _report(context, engine, f"{way.value}, as {_FORCE} is set")


def _first(context: Context) -> Engine:
    # Finished downloads and builds come first. A machine that has built once because it cannot
    # download then does not retry the download in every run.
    attempts: tuple[tuple[str, Callable[[Context], Engine | None]], ...] = (
        ("path", ways.on_path),
        ("download", ways.downloaded),
        ("modules", ways.built),
        ("download", ways.download),
        ("modules", ways.from_modules),
    )
    reasons: list[str] = []
    for name, find in attempts:
        try:
            engine = find(context)
        except ToolchainError as error:
            reason = f"{name}: {error}"
            if reason not in reasons:
                context.echo(f"pulumi: skipped {reason}")
                reasons.append(reason)
            continue
        if engine is not None:
            return _report(context, engine, name)
    raise ToolchainError(
        "pulumi: no way to get an engine works\n" + "\n".join(f"  {line}" for line in reasons)
    )


def _report(context: Context, engine: Engine, how: str) -> Engine:
    context.echo(f"pulumi: {engine.bin} (from {how})")
    return engine


def resolve_controlplane(
    echo: Echo = print, context: Context | None = None
) -> ControlPlaneBinaries:
    """Return the commands of a control plane: KUBEBUILDER_ASSETS if set, else our own build.

    Raises:
        ToolchainError: The assets are incomplete, or the build fails.
    """
    context = context or Context(echo=echo)
    if assets := context.environ.get(_ASSETS):
        context.echo(f"control plane: {assets} (from {_ASSETS})")
        return _from_assets(context, Path(assets).absolute())
    binary = build.ensure(context, CONTROLPLANE)
    context.echo(f"control plane: {binary} (from modules, because {_ASSETS} is not set)")
    return ControlPlaneBinaries(
        etcd=(str(binary), "etcd"),
        apiserver=(str(binary), "kube-apiserver"),
        controller_manager=(str(binary), "kube-controller-manager"),
        kubectl=(str(binary), "kubectl"),
    )


def _from_assets(context: Context, assets: Path) -> ControlPlaneBinaries:
    servers = {name: assets / name for name in ("etcd", "kube-apiserver")}
    missing = [name for name, path in servers.items() if not path.exists()]
    asset = assets / "kubectl"
    kubectl = asset if asset.exists() else context.which("kubectl")
    if missing or kubectl is None:
        names = ", ".join([*missing, *([] if kubectl else ["kubectl"])])
        raise ToolchainError(
            f"{_ASSETS} is {assets}, which has no {names}: add what is missing, or unset {_ASSETS}"
        )
    manager = assets / "kube-controller-manager"
    return ControlPlaneBinaries(
        etcd=(str(servers["etcd"]),),
        apiserver=(str(servers["kube-apiserver"]),),
        controller_manager=(str(manager),) if manager.exists() else None,
        kubectl=(str(kubectl),),
    )
