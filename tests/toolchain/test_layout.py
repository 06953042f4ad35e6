"""How the parts lie once they are there: what the engine and the programs around it see."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dev.toolchain import layout
from dev.toolchain.__main__ import exports
from dev.toolchain.choice import resolve_engine
from dev.toolchain.model import ControlPlaneBinaries, Engine, Toolchain
from dev.toolchain.surroundings import Surroundings
from tests.toolchain.conftest import Machine


def test_the_engine_finds_every_part_where_it_looks(machine: Machine) -> None:
    machine.go(build='echo "$2" > "$2"; chmod 755 "$2"')
    machine.environ["PIC_TOOLCHAIN"] = "modules"

    engine = resolve_engine(machine.around())

    plugin = engine.home / "plugins" / "resource-kubernetes-v4.25.0" / "pulumi-resource-kubernetes"
    assert sorted(path.name for path in engine.bin.iterdir()) == [
        "pulumi",
        "pulumi-language-python",
    ]
    for executable in (*engine.bin.iterdir(), plugin):
        assert executable.is_file()
        assert not executable.is_symlink()
        assert os.access(executable, os.X_OK)


def test_the_cli_keeps_no_log_of_each_run(machine: Machine) -> None:
    machine.go()
    machine.environ["PIC_TOOLCHAIN"] = "modules"
    logs = resolve_engine(machine.around()).home / "logs"
    logs.unlink()
    (logs / "of a run").mkdir(parents=True)

    resolve_engine(machine.around())

    assert logs.is_file()


def test_two_clones_share_the_home_but_not_the_language_host(machine: Machine) -> None:
    machine.go()
    machine.clone("another")
    machine.environ["PIC_TOOLCHAIN"] = "modules"

    first = resolve_engine(machine.around("clone"))
    second = resolve_engine(machine.around("another"))

    assert first.home == second.home
    assert first.bin != second.bin
    assert (first.bin / "pulumi").samefile(second.bin / "pulumi")


def test_the_language_host_starts_with_the_interpreter_that_made_it(tmp_path: Path) -> None:
    checkout, python = tmp_path / "it's a checkout", tmp_path / "its python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    script = tmp_path / "pulumi-language-python"
    layout.write_host(Surroundings(checkout=checkout, python=str(python)), script)

    printed = subprocess.run([script, "127.0.0.1:1"], capture_output=True, text=True, check=True)

    program = checkout / "dev" / "languagehost" / "__main__.py"
    assert printed.stdout.splitlines() == [
        "-P",
        str(program),
        "--parent",
        str(os.getpid()),
        "127.0.0.1:1",
    ]


def test_the_language_host_can_be_told_another_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "pulumi-language-python"
    layout.write_host(Surroundings(checkout=tmp_path, python="/nowhere/python"), script)

    ended = subprocess.run(
        [script], env={"PIC_LANGUAGE_HOST_PYTHON": "/bin/echo"}, capture_output=True, check=True
    )

    assert ended.stdout.startswith(b"-P ")


def test_a_file_that_cannot_be_linked_is_copied_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    source, target = tmp_path / "source", tmp_path / "there" / "target"
    source.write_text("content")
    source.chmod(0o755)

    layout.link_or_copy(source, target)
    copied = target.stat()
    layout.link_or_copy(source, target)

    assert target.read_text() == "content"
    assert os.access(target, os.X_OK)
    assert target.stat().st_ino == copied.st_ino, "the same file is not copied again"
    assert list(target.parent.iterdir()) == [target]


def test_a_newer_build_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    old, new, target = tmp_path / "old", tmp_path / "new", tmp_path / "target"
    old.write_text("old")
    new.write_text("newer")

    layout.link_or_copy(old, target)
    layout.link_or_copy(new, target)

    assert (old.read_text(), target.read_text()) == ("old", "newer")


def test_the_environment_puts_the_toolchain_first_and_keeps_the_engine_offline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.delenv("GOGC", raising=False)
    monkeypatch.delenv("PULUMI_PARALLEL", raising=False)
    binaries = ControlPlaneBinaries(("etcd",), ("kube-apiserver",), None, ("kubectl",))
    tools = Toolchain(Engine(Path("/tools/bin"), Path("/tools/home")), binaries)

    assert tools.pulumi == Path("/tools/bin/pulumi")
    assert tools.environment() == {
        "PATH": "/tools/bin:/usr/bin",
        "PULUMI_HOME": "/tools/home",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "GOGC": "800",
        "PULUMI_PARALLEL": "32",
    }


def test_the_environment_is_printed_as_a_shell_takes_it_in() -> None:
    assert exports({"PATH": "/tools/bin:/usr/bin", "GOGC": "a b"}) == (
        "export PATH=/tools/bin:/usr/bin\nexport GOGC='a b'"
    )


@pytest.mark.engine
def test_only_the_environment_goes_to_a_shell() -> None:
    command = [sys.executable, "-m", "dev.toolchain", "--export"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stderr != ""
    assert [line for line in done.stdout.splitlines() if not line.startswith("export ")] == []
