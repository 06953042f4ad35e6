"""Decide which toolchain to use, and say which and why."""

from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from dev.toolchain import build, ways
from dev.toolchain.errors import ToolchainError
from dev.toolchain.model import ControlPlaneBinaries, Echo, Engine, Toolchain
from dev.toolchain.parts import CONTROLPLANE
from dev.toolchain.surroundings import Surroundings
from dev.toolchain.ways import Way

_FORCE = "PIC_TOOLCHAIN"
_ASSETS = "KUBEBUILDER_ASSETS"


def resolve(echo: Echo = print, around: Surroundings | None = None) -> Toolchain:
    """Give a Pulumi engine and a control plane, built when need be.

    Raises:
        ToolchainError: when a part can be neither found nor made.
    """
    around = around or Surroundings(echo=echo)
    return Toolchain(resolve_engine(around), resolve_controlplane(around=around))


def resolve_engine(around: Surroundings) -> Engine:
    """Give a Pulumi engine the way PIC_TOOLCHAIN says, or the first way that works.

    Raises:
        ToolchainError: when no way works; the message has the reason of each.
    """
    match _forced(around):
        case None:
            return _first(around)
        case Way.PATH:
            return _forced_way(around, Way.PATH, lambda: ways.on_path(around))
        case Way.DOWNLOAD:
            return _forced_way(
                around, Way.DOWNLOAD, lambda: ways.downloaded(around) or ways.download(around)
            )
        case Way.MODULES:
            return _forced_way(around, Way.MODULES, lambda: ways.from_modules(around))
        case unknown:
            assert_never(unknown)


def _forced(around: Surroundings) -> Way | None:
    named = around.environ.get(_FORCE)
    if not named:
        return None
    try:
        return Way(named)
    except ValueError as error:
        known = ", ".join(way.value for way in Way)
        raise ToolchainError(
            f"{_FORCE} is {named!r}: it can be one of {known}, or unset"
        ) from error


def _forced_way(around: Surroundings, way: Way, go: Callable[[], Engine]) -> Engine:
    try:
        engine = go()
    except ToolchainError as error:
        raise ToolchainError(f"pulumi: {_FORCE}={way.value}, but {error}") from error
    return _told(around, engine, f"{way.value}, as {_FORCE} says")


def _first(around: Surroundings) -> Engine:
    # What is there comes before what takes a download or a build, so that a machine that has
    # built once, because it cannot download, does not try to download again in every run.
    tries: tuple[tuple[str, Callable[[Surroundings], Engine | None]], ...] = (
        ("path", ways.on_path),
        ("download", ways.downloaded),
        ("modules", ways.built),
        ("download", ways.download),
        ("modules", ways.from_modules),
    )
    reasons: list[str] = []
    for name, go in tries:
        try:
            engine = go(around)
        except ToolchainError as error:
            reason = f"{name}: {error}"
            if reason not in reasons:
                around.echo(f"pulumi: not by {reason}")
                reasons.append(reason)
            continue
        if engine is not None:
            return _told(around, engine, name)
    raise ToolchainError(
        "pulumi: no way to an engine\n" + "\n".join(f"  {line}" for line in reasons)
    )


def _told(around: Surroundings, engine: Engine, how: str) -> Engine:
    around.echo(f"pulumi: {engine.bin} (by {how})")
    return engine


def resolve_controlplane(
    echo: Echo = print, around: Surroundings | None = None
) -> ControlPlaneBinaries:
    """Give the commands of a control plane: KUBEBUILDER_ASSETS when set, else our own build.

    Raises:
        ToolchainError: when the assets are incomplete, or the build is not possible.
    """
    around = around or Surroundings(echo=echo)
    if assets := around.environ.get(_ASSETS):
        around.echo(f"control plane: {assets} (by {_ASSETS})")
        return _from_assets(around, Path(assets).absolute())
    binary = build.ensure(around, CONTROLPLANE)
    around.echo(f"control plane: {binary} (by modules: {_ASSETS} is not set)")
    return ControlPlaneBinaries(
        etcd=(str(binary), "etcd"),
        apiserver=(str(binary), "kube-apiserver"),
        controller_manager=(str(binary), "kube-controller-manager"),
        kubectl=(str(binary), "kubectl"),
    )


def _from_assets(around: Surroundings, assets: Path) -> ControlPlaneBinaries:
    there = {name: assets / name for name in ("etcd", "kube-apiserver") if (assets / name).exists()}
    missing = sorted({"etcd", "kube-apiserver"} - there.keys())
    own = assets / "kubectl"
    kubectl = own if own.exists() else around.which("kubectl")
    if missing or kubectl is None:
        names = ", ".join([*missing, *([] if kubectl else ["kubectl"])])
        raise ToolchainError(
            f"{_ASSETS} is {assets}, which has no {names}: complete it, or unset it"
        )
    manager = assets / "kube-controller-manager"
    return ControlPlaneBinaries(
        etcd=(str(there["etcd"]),),
        apiserver=(str(there["kube-apiserver"]),),
        controller_manager=(str(manager),) if manager.exists() else None,
        kubectl=(str(kubectl),),
    )
