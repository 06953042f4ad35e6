"""Tests the layout of the parts: what the engine and other programs see of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dev.toolchain import layout
from dev.toolchain.__main__ import exports
from dev.toolchain.choice import resolve_engine
from dev.toolchain.context import Context
from dev.toolchain.model import ControlPlaneBinaries, Engine, Toolchain
from tests.toolchain.conftest import Machine


def test_every_part_is_where_the_engine_looks_for_it(machine: Machine) -> None:
    machine.go(build='echo "$2" > "$2"; chmod 755 "$2"')
    machine.environ["PIC_TOOLCHAIN"] = "modules"

    engine = resolve_engine(machine.context())

    plugin = engine.home / "plugins" / "resource-kubernetes-v4.25.0" / "pulumi-resource-kubernetes"
    assert sorted(path.name for path in engine.bin.iterdir()) == [
        "pulumi",
        "pulumi-language-python",
    ]
    for executable in (*engine.bin.iterdir(), plugin):
        assert executable.is_file()
        assert not executable.is_symlink()
        assert os.access(executable, os.X_OK)


def test_the_cli_writes_no_log_for_each_run(machine: Machine) -> None:
    machine.go()
    machine.environ["PIC_TOOLCHAIN"] = "modules"
    logs = resolve_engine(machine.context()).home / "logs"
    logs.unlink()
    (logs / "of a run").mkdir(parents=True)

    resolve_engine(machine.context())

    assert logs.is_file()


def test_two_clones_share_the_home_but_not_the_language_host(machine: Machine) -> None:
    machine.go()
    machine.clone("another")
    machine.environ["PIC_TOOLCHAIN"] = "modules"

    first = resolve_engine(machine.context("clone"))
    second = resolve_engine(machine.context("another"))

    assert first.home == second.home
    assert first.bin != second.bin
    assert (first.bin / "pulumi").samefile(second.bin / "pulumi")


def test_the_language_host_starts_with_the_interpreter_that_wrote_its_script(
    tmp_path: Path,
) -> None:
    checkout, python = tmp_path / "it's a checkout", tmp_path / "its python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    script = tmp_path / "pulumi-language-python"
    layout.write_host(Context(checkout=checkout, python=str(python)), script)

    process = subprocess.run([script, "127.0.0.1:1"], capture_output=True, text=True, check=True)

    program = checkout / "dev" / "languagehost" / "__main__.py"
    assert process.stdout.splitlines() == [
        "-P",
        str(program),
        "--parent",
        str(os.getpid()),
        "127.0.0.1:1",
    ]


def test_an_environment_variable_names_another_interpreter_for_the_language_host(
    tmp_path: Path,
) -> None:
    script = tmp_path / "pulumi-language-python"
    layout.write_host(Context(checkout=tmp_path, python="/nowhere/python"), script)

    process = subprocess.run(
        [script], env={"PIC_LANGUAGE_HOST_PYTHON": "/bin/echo"}, capture_output=True, check=True
    )

    assert process.stdout.startswith(b"-P ")


def test_a_file_that_cannot_be_linked_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    source, target = tmp_path / "source", tmp_path / "other" / "target"
    source.write_text("content")
    source.chmod(0o755)

    layout.link_or_copy(source, target)
    first = target.stat()
    layout.link_or_copy(source, target)

    assert target.read_text() == "content"
    assert os.access(target, os.X_OK)
    assert target.stat().st_ino == first.st_ino, "the same file is not copied again"
    assert list(target.parent.iterdir()) == [target]


def test_a_newer_build_replaces_an_older_one(tmp_path: Path) -> None:
    old, new, target = tmp_path / "old", tmp_path / "new", tmp_path / "target"
    old.write_text("old")
    new.write_text("newer")

    layout.link_or_copy(old, target)
    layout.link_or_copy(new, target)

    assert (old.read_text(), target.read_text()) == ("old", "newer")


def test_the_environment_puts_the_toolchain_first_and_keeps_the_engine_offline() -> None:
    binaries = ControlPlaneBinaries(("etcd",), ("kube-apiserver",), None, ("kubectl",))
    tools = Toolchain(Engine(Path("/tools/bin"), Path("/tools/home")), binaries)

    assert tools.pulumi == Path("/tools/bin/pulumi")
    assert tools.environment({"PATH": "/usr/bin"}) == {
        "PATH": "/tools/bin:/usr/bin",
        "PULUMI_HOME": "/tools/home",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "GOGC": "800",
    }


def test_the_environment_is_printed_as_shell_commands() -> None:
    assert exports({"PATH": "/tools/bin:/usr/bin", "GOGC": "a b"}) == (
        "export PATH=/tools/bin:/usr/bin\nexport GOGC='a b'"
    )


@pytest.mark.engine
def test_only_the_environment_goes_to_standard_output() -> None:
    command = [sys.executable, "-m", "dev.toolchain", "--export"]
    process = subprocess.run(command, check=True, capture_output=True, text=True)

    assert process.stderr != ""
    assert [line for line in process.stdout.splitlines() if not line.startswith("export ")] == []
