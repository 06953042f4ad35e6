"""Tests builds from modules: each happens once and atomically, or fails with a message."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from dev.toolchain import build, parts, versions
from dev.toolchain.errors import ToolchainError
from dev.toolchain.parts import CONTROLPLANE, KUBERNETES_PLUGIN, PULUMI_CLI
from tests.support.waiting import end, is_gone, pid_in, until
from tests.toolchain.conftest import Machine

NEXT_STEP = "put a newer Go first on PATH, or use the official pulumi (PIC_TOOLCHAIN=path)"


def files_in(cache: Path) -> list[str]:
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file())


def start(machine: Machine) -> subprocess.Popen[str]:
    """Start `make toolchain` for the control plane only, with the Go of this machine."""
    return subprocess.Popen(
        [sys.executable, "-m", "dev.toolchain", "--controlplane"],
        env=machine.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_second_call_builds_nothing(machine: Machine) -> None:
    machine.go()

    first = build.ensure(machine.context(), CONTROLPLANE)
    second = build.ensure(machine.context(), CONTROLPLANE)

    assert first == second
    assert first.read_text() == "built\n"
    assert machine.builds() == ["controlplane"]
    assert machine.lines == [
        "controlplane: building with go1.26.8 (this takes minutes if the Go caches are empty)",
        "controlplane: built in 0 s, 0 MB",
    ]


def test_a_second_clone_builds_nothing(machine: Machine) -> None:
    machine.go()
    machine.clone("another")

    first = build.ensure(machine.context("clone"), CONTROLPLANE)
    second = build.ensure(machine.context("another"), CONTROLPLANE)

    assert first == second
    assert machine.builds() == ["controlplane"]


@pytest.mark.parametrize(
    "sources",
    [{"go.mod": "module controlplane\n\ngo 1.26.7\n"}, {"go.sum": "x h1:y\n"}, {"main.go": "//\n"}],
    ids=["go.mod", "go.sum", "main.go"],
)
def test_changed_sources_cause_another_build(machine: Machine, sources: dict[str, str]) -> None:
    machine.go()
    machine.clone("another", sources)

    first = build.ensure(machine.context("clone"), CONTROLPLANE)
    second = build.ensure(machine.context("another"), CONTROLPLANE)

    assert first != second
    assert machine.builds() == ["controlplane", "controlplane"]


def test_another_go_version_causes_another_build(machine: Machine) -> None:
    machine.go()
    first = build.ensure(machine.context(), CONTROLPLANE)
    machine.go("go1.27.0")

    assert build.ensure(machine.context(), CONTROLPLANE) != first


def test_a_missing_go_is_an_error_with_the_next_step(machine: Machine) -> None:
    process = start(machine)
    printed, errors = process.communicate(timeout=60)

    assert (process.returncode, printed, errors) == (
        1,
        "",
        f"toolchain: no go on PATH, but controlplane needs Go 1.26.0 or newer: {NEXT_STEP}\n",
    )


@pytest.mark.parametrize("version", ["go1.21.13", "go1.26.5", "devel +0123456"])
def test_a_go_that_is_too_old_is_an_error_with_the_next_step(
    machine: Machine, version: str
) -> None:
    machine.go(version)

    with pytest.raises(ToolchainError) as raised:
        build.ensure(machine.context(), PULUMI_CLI)

    assert (
        str(raised.value) == f"pulumi needs Go 1.26.6 or newer, but PATH has {version}: {NEXT_STEP}"
    )


def test_a_go_that_refuses_the_module_is_an_error_with_the_next_step(machine: Machine) -> None:
    machine.program("go", "echo 'go: go.mod requires go >= 1.26.6' >&2; exit 1")

    with pytest.raises(ToolchainError) as raised:
        build.ensure(machine.context(), PULUMI_CLI)

    assert str(raised.value) == (
        "pulumi needs Go 1.26.6 or newer, but PATH has go: go.mod requires go >= 1.26.6: "
        f"{NEXT_STEP}"
    )


def test_too_little_disk_space_is_an_error_before_anything_is_built(machine: Machine) -> None:
    machine.go()
    machine.free = 5_900_000_000

    with pytest.raises(ToolchainError) as raised:
        build.ensure(machine.context(), CONTROLPLANE)

    assert str(raised.value) == (
        f"only 5.9 GB are free at {machine.root}/cache, but a build needs 6 GB: "
        "free some space, or point PIC_CACHE, GOCACHE and GOMODCACHE to a larger disk"
    )
    assert machine.builds() == []


def test_disk_space_does_not_matter_if_nothing_has_to_be_built(machine: Machine) -> None:
    machine.go()
    built = build.ensure(machine.context(), CONTROLPLANE)
    machine.free = 0

    assert build.ensure(machine.context(), CONTROLPLANE) == built


def test_a_failed_build_shows_the_end_of_its_output_and_leaves_nothing(machine: Machine) -> None:
    machine.go(build='echo half > "$2"; seq 1 30; echo main.go:3: undefined: x >&2; exit 1')

    with pytest.raises(ToolchainError) as raised:
        build.ensure(machine.context(), CONTROLPLANE)

    assert str(raised.value).splitlines() == [
        "controlplane: go build failed",
        *map(str, range(12, 31)),
        "main.go:3: undefined: x",
    ]
    assert [name.rpartition("/")[2] for name in files_in(machine.root / "cache")] == [".lock"]


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [
        (signal.SIGINT, 130, "toolchain: interrupted; unfinished files are removed\n"),
        (signal.SIGTERM, 143, ""),
    ],
)
def test_an_interrupted_build_leaves_nothing(
    machine: Machine, number: signal.Signals, code: int, message: str
) -> None:
    machine.go(build=f'echo half > "$2"; echo $$ > {machine.root}/pid; sleep 600')
    process = start(machine)
    go = pid_in(machine.root / "pid")

    process.send_signal(number)
    _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (code, message)
    assert is_gone(go)
    assert [name.rpartition("/")[2] for name in files_in(machine.root / "cache")] == [".lock"]


def test_the_next_build_removes_the_leftovers_of_a_killed_one(machine: Machine) -> None:
    machine.go(build=f'echo half > "$2"; echo $$ > {machine.root}/pid; exec sleep 600')
    process = start(machine)
    go = pid_in(machine.root / "pid")
    process.kill()
    process.communicate(timeout=60)
    end(go)
    (half,) = (machine.root / "cache").rglob(".half-controlplane")

    machine.go()
    retry = start(machine)
    retry.communicate(timeout=60)

    assert retry.returncode == 0
    assert files_in(half.parent) == [".lock", "controlplane"]


def test_concurrent_requests_share_one_build(machine: Machine) -> None:
    machine.go(build=f'echo $$ > {machine.root}/pid; read go < {machine.root}/gate; echo ok > "$2"')
    os.mkfifo(machine.root / "gate")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(build.ensure, machine.context(), CONTROLPLANE)
        pid_in(machine.root / "pid")
        second = pool.submit(build.ensure, machine.context(), CONTROLPLANE)
        waiting = "controlplane: waiting for another process that is making it"
        until(lambda: waiting in machine.lines, "the second build waits")
        (machine.root / "gate").write_text("go\n")

    assert first.result() == second.result()
    assert machine.builds() == ["controlplane"]


def test_progress_is_shown_while_a_build_runs(machine: Machine) -> None:
    machine.go(build=f'read go < {machine.root}/gate; echo ok > "$2"')
    os.mkfifo(machine.root / "gate")
    context = machine.context()
    with ThreadPoolExecutor(1) as pool:
        built = pool.submit(build.ensure, replace(context, line_every=0.01), CONTROLPLANE)
        until(lambda: "controlplane: building: 0 s" in machine.lines, "a progress line")
        (machine.root / "gate").write_text("go\n")
    assert built.result().read_text() == "ok\n"


@pytest.mark.parametrize("part", [PULUMI_CLI, KUBERNETES_PLUGIN, CONTROLPLANE])
def test_every_part_is_a_module_with_pinned_checksums(part: parts.Part) -> None:
    directory = part.directory(Path(parts.__file__).parent)

    assert {"go.mod", "go.sum"} <= {path.name for path in directory.iterdir()}
    assert (directory / "go.mod").read_text().startswith(f"module {part.module}\n")


def test_the_plugin_has_the_version_that_the_installed_sdk_requests() -> None:
    assert metadata.version("pulumi-kubernetes") == versions.KUBERNETES_PLUGIN


def test_a_cache_that_cannot_be_written_is_an_error_of_one_line(machine: Machine) -> None:
    machine.go()
    (machine.root / "cache").write_text("a file")

    process = start(machine)
    printed, errors = process.communicate(timeout=60)

    assert (process.returncode, printed) == (1, "")
    assert errors.startswith("toolchain: [Errno ")
    assert errors.count("\n") == 1


def test_the_versions_are_those_in_the_modules() -> None:
    modules = Path(parts.__file__).parent

    assert "/pulumi/pkg/v3 v3.274.1\n" in (modules / "pulumi-cli" / "go.mod").read_text()
    assert "k8s.io/kubernetes v1.36.3\n" in (modules / "controlplane" / "go.mod").read_text()
    assert [part.flags[-1] for part in (PULUMI_CLI, KUBERNETES_PLUGIN, CONTROLPLANE)] == [
        "-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.274.1",
        "-s -w -X github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version=4.25.0",
        (
            "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3"
            " -X k8s.io/component-base/version.gitMajor=1"
            " -X k8s.io/component-base/version.gitMinor=36"
            " -X k8s.io/client-go/pkg/version.gitVersion=v1.36.3"
        ),
    ]
