"""Tests which engine and control plane are chosen, and what is reported about the choice."""

from pathlib import Path

import pytest

from dev.toolchain.choice import resolve_controlplane, resolve_engine
from dev.toolchain.context import Context
from dev.toolchain.errors import ToolchainError
from dev.toolchain.model import ControlPlaneBinaries, Engine
from tests.toolchain.conftest import Machine

NO_PULUMI = "pulumi: skipped path: no pulumi on PATH"
NO_NETWORK = "pulumi: skipped download: the download of pulumi failed: no network"


def test_an_engine_on_path_is_used_and_nothing_is_built(machine: Machine) -> None:
    machine.official()
    machine.plugin()

    engine = resolve_engine(machine.context())

    assert engine == Engine(machine.root / "path", machine.root / "home" / ".pulumi")
    assert machine.lines == [f"pulumi: {machine.root}/path (from path)"]


def test_a_symlink_on_path_leads_to_the_language_host_beside_the_real_cli(machine: Machine) -> None:
    machine.official(directory="opt/pulumi")
    machine.plugin()
    (machine.root / "path" / "pulumi").symlink_to(machine.root / "opt" / "pulumi" / "pulumi")

    assert resolve_engine(machine.context()).bin == machine.root / "opt" / "pulumi"


def test_an_unknown_way_is_an_error_that_lists_the_allowed_ones(machine: Machine) -> None:
    machine.environ["PIC_TOOLCHAIN"] = "docker"

    with pytest.raises(ToolchainError) as raised:
        resolve_engine(machine.context())

    assert str(raised.value) == (
        "PIC_TOOLCHAIN is 'docker': set it to one of path, download, modules, or unset it"
    )


@pytest.mark.parametrize(
    ("version", "reported"),
    [("v3.199.0", "version v3.199.0"), ("", "no version"), ("v2.300.1", "version v2.300.1")],
)
def test_a_cli_that_is_too_old_is_not_used(machine: Machine, version: str, reported: str) -> None:
    machine.official(version)
    machine.plugin()
    machine.environ["PIC_TOOLCHAIN"] = "path"

    with pytest.raises(ToolchainError) as raised:
        resolve_engine(machine.context())

    assert str(raised.value) == (
        f"pulumi: PIC_TOOLCHAIN=path, but pulumi on PATH has {reported}, "
        "but 3.200 or newer is needed"
    )


def test_the_error_about_a_missing_plugin_says_how_to_install_it(machine: Machine) -> None:
    machine.official()
    machine.environ["PIC_TOOLCHAIN"] = "path"

    with pytest.raises(ToolchainError) as raised:
        resolve_engine(machine.context())

    assert str(raised.value) == (
        "pulumi: PIC_TOOLCHAIN=path, but no kubernetes plugin 4.25.0 in "
        f"{machine.root}/home/.pulumi: run `pulumi plugin install resource kubernetes 4.25.0`"
    )


def test_a_cli_without_a_language_host_is_not_used(machine: Machine) -> None:
    cli = machine.program("pulumi", "echo v3.274.1")
    machine.environ["PIC_TOOLCHAIN"] = "path"

    with pytest.raises(ToolchainError) as raised:
        resolve_engine(machine.context())

    assert str(raised.value) == (
        f"pulumi: PIC_TOOLCHAIN=path, but no pulumi-language-python next to {cli}"
    )


def test_modules_can_be_forced_despite_a_cli_on_path(machine: Machine) -> None:
    machine.official()
    machine.plugin()
    machine.go()
    machine.environ["PIC_TOOLCHAIN"] = "modules"

    engine = resolve_engine(machine.context())

    assert engine.bin == machine.root / "clone" / ".toolchain" / "bin"
    assert machine.builds() == ["kubernetes-plugin", "pulumi-cli"]
    assert machine.lines[-1] == f"pulumi: {engine.bin} (from modules, as PIC_TOOLCHAIN is set)"


def test_a_finished_download_is_not_repeated(machine: Machine) -> None:
    root = machine.root / "cache" / "download-3.274.1-4.25.0"
    plugin = root / "home" / "plugins" / "resource-kubernetes-v4.25.0"
    fetch = f"mkdir -p {plugin}; touch {plugin}/pulumi-resource-kubernetes"
    machine.program("cli", fetch, "web")
    machine.program(
        "python",
        f'mkdir -p "$2/bin"; for name in pulumi pulumi-language-python; do\n'
        f'  cp {machine.root}/web/cli "$2/bin/$name"\ndone; echo >> {machine.root}/fetches',
    )

    first, second = resolve_engine(machine.context()), resolve_engine(machine.context())

    assert first == second == Engine(root / "bin", root / "home")
    assert (machine.root / "fetches").read_text() == "\n"


def test_a_partial_plugin_is_not_used(machine: Machine) -> None:
    machine.official()
    directory = machine.plugin().parent
    directory.with_name(f"{directory.name}.partial").touch()
    machine.environ["PIC_TOOLCHAIN"] = "path"

    with pytest.raises(ToolchainError, match=r"no kubernetes plugin 4\.25\.0"):
        resolve_engine(machine.context())


def test_a_download_without_its_plugin_is_not_used(machine: Machine) -> None:
    machine.program("cli", "echo no release >&2; exit 1", "web")
    machine.program("python", f'mkdir -p "$2/bin"; cp {machine.root}/web/cli "$2/bin/pulumi"')
    machine.environ["PIC_TOOLCHAIN"] = "download"

    for _ in range(2):
        with pytest.raises(ToolchainError) as raised:
            resolve_engine(machine.context())
        assert str(raised.value) == (
            "pulumi: PIC_TOOLCHAIN=download, but "
            "the download of kubernetes plugin failed: no release"
        )


def test_after_a_failed_download_the_modules_are_built(machine: Machine) -> None:
    machine.program("python", "echo no network >&2; exit 1")
    machine.go()

    engine = resolve_engine(machine.context())

    assert [line for line in machine.lines if line.startswith("pulumi: ")] == [
        NO_PULUMI,
        NO_NETWORK,
        "pulumi: building with go1.26.8 (this takes minutes if the Go caches are empty)",
        "pulumi: built in 0 s, 0 MB",
        f"pulumi: {engine.bin} (from modules)",
    ]


def test_an_earlier_build_is_used_without_another_download_attempt(machine: Machine) -> None:
    machine.program("python", f"echo >> {machine.root}/tries; echo no network >&2; exit 1")
    machine.go()
    resolve_engine(machine.context())
    machine.lines.clear()

    engine = resolve_engine(machine.context())

    assert machine.lines == [NO_PULUMI, f"pulumi: {engine.bin} (from modules)"]
    assert (machine.root / "tries").read_text() == "\n"


def test_the_error_when_no_way_works_has_the_reason_for_each(machine: Machine) -> None:
    machine.program("python", "echo no network >&2; exit 1")

    with pytest.raises(ToolchainError) as raised:
        resolve_engine(machine.context())

    assert str(raised.value) == (
        "pulumi: no way to get an engine works\n"
        "  path: no pulumi on PATH\n"
        "  modules: no go on PATH, but pulumi-resource-kubernetes needs Go 1.26.6 or newer: "
        "put a newer Go first on PATH, or use the official pulumi (PIC_TOOLCHAIN=path)\n"
        "  download: the download of pulumi failed: no network"
    )


def test_envtest_binaries_are_used_directly(machine: Machine) -> None:
    for name in ("etcd", "kube-apiserver", "kubectl"):
        machine.program(name, "", "assets")
    assets = machine.environ["KUBEBUILDER_ASSETS"] = str(machine.root / "assets")

    assert resolve_controlplane(context=machine.context()) == ControlPlaneBinaries(
        etcd=(f"{assets}/etcd",),
        apiserver=(f"{assets}/kube-apiserver",),
        controller_manager=None,
        kubectl=(f"{assets}/kubectl",),
    )
    assert machine.lines == [f"control plane: {assets} (from KUBEBUILDER_ASSETS)"]


def test_incomplete_envtest_binaries_are_an_error_that_names_the_missing_ones(
    machine: Machine,
) -> None:
    machine.program("etcd", "", "assets")
    assets = machine.environ["KUBEBUILDER_ASSETS"] = str(machine.root / "assets")

    with pytest.raises(ToolchainError) as raised:
        resolve_controlplane(context=machine.context())

    assert str(raised.value) == (
        f"KUBEBUILDER_ASSETS is {assets}, which has no kube-apiserver, kubectl: "
        "add what is missing, or unset KUBEBUILDER_ASSETS"
    )


def test_without_envtest_binaries_one_built_binary_serves_as_every_part(machine: Machine) -> None:
    machine.go()

    binaries = resolve_controlplane(context=machine.context())

    (binary,) = (machine.root / "cache").glob("controlplane-*/controlplane")
    assert machine.lines[-1] == (
        f"control plane: {binary} (from modules, because KUBEBUILDER_ASSETS is not set)"
    )
    assert binaries == ControlPlaneBinaries(
        etcd=(str(binary), "etcd"),
        apiserver=(str(binary), "kube-apiserver"),
        controller_manager=(str(binary), "kube-controller-manager"),
        kubectl=(str(binary), "kubectl"),
    )


@pytest.mark.parametrize(
    ("environ", "cache"),
    [
        ({"HOME": "/home/me"}, "/home/me/.cache/pic"),
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "/var/me"}, "/var/me/pic"),
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "/var/me", "PIC_CACHE": "/big"}, "/big"),
    ],
    ids=["default", "XDG_CACHE_HOME", "PIC_CACHE"],
)
def test_environment_variables_choose_the_cache(environ: dict[str, str], cache: str) -> None:
    assert Context(environ=environ).cache == Path(cache)
