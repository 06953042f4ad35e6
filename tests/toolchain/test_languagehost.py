"""Tests the language host as the engine calls it: over gRPC, in its own process."""

import contextlib
import os
import platform
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import language_pb2 as proto
from pulumi.runtime.proto.language_pb2_grpc import LanguageRuntimeStub
from pulumi.runtime.proto.plugin_pb2 import PackageDependency, PluginDependency

from dev.languagehost import interpreters
from dev.languagehost.interpreters import Interpreter
from dev.toolchain import layout
from dev.toolchain.context import Context
from tests.support.waiting import end, is_gone, pid_in, until

NO_ENGINE = "127.0.0.1:1"


@dataclass(frozen=True)
class Host:
    process: subprocess.Popen[str]
    calls: LanguageRuntimeStub


@contextlib.contextmanager
def serving(script: Path) -> Iterator[Host]:
    process = subprocess.Popen(
        [script, NO_ENGINE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
            yield Host(process, LanguageRuntimeStub(channel))
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bin") / "pulumi-language-python"
    layout.write_host(Context(), path)
    return path


@pytest.fixture(scope="module")
def host(script: Path) -> Iterator[Host]:
    with serving(script) as host:
        yield host


def info(directory: Path, **options: str) -> proto.ProgramInfo:
    struct = Struct()
    struct.update(options)
    return proto.ProgramInfo(
        root_directory=str(directory),
        program_directory=str(directory),
        entry_point=".",
        options=struct,
    )


def package(site: Path, name: str, plugin: str, *more: str) -> None:
    """Install the files of a package that the language host reads."""
    module = site / name.replace("-", "_")
    module.mkdir()
    (module / "pulumi-plugin.json").write_text(plugin)
    dist_info = site / f"{module.name}-1.2.3.dist-info"
    dist_info.mkdir()
    lines = (f"Name: {name}", "Version: 1.2.3", *more)
    (dist_info / "METADATA").write_text("\n".join(("Metadata-Version: 2.1", *lines, "")))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project with a virtual environment that has four packages."""
    venv.create(tmp_path / "env", with_pip=False)
    (site,) = (tmp_path / "env" / "lib").glob("python3.*/site-packages")
    package(site, "pulumi-own", '{"resource": true}', "Requires-Dist: pulumi-needed (>=1)")
    package(
        site,
        "pulumi-needed",
        '{"resource": true, "name": "far", "version": "v7.0.0", "server": "s"}',
    )
    package(site, "pulumi-none", '{"resource": false}')
    package(site, "other", "{}", 'Requires-Dist: pulumi-none; extra == "dev"')
    return tmp_path


def test_required_packages_are_the_installed_ones(host: Host, tmp_path: Path) -> None:
    answer = host.calls.GetRequiredPackages(proto.GetRequiredPackagesRequest(info=info(tmp_path)))

    assert list(answer.packages) == [
        PackageDependency(name="kubernetes", kind="resource", version="v4.25.0")
    ]


def test_older_engines_get_the_same_as_required_plugins(host: Host, tmp_path: Path) -> None:
    answer = host.calls.GetRequiredPlugins(proto.GetRequiredPluginsRequest(info=info(tmp_path)))

    assert list(answer.plugins) == [
        PluginDependency(name="kubernetes", kind="resource", version="v4.25.0")
    ]


def test_required_packages_come_from_the_virtual_environment_of_the_project(
    host: Host, project: Path
) -> None:
    answer = host.calls.GetRequiredPackages(
        proto.GetRequiredPackagesRequest(info=info(project, virtualenv="env"))
    )

    assert list(answer.packages) == [
        PackageDependency(name="far", kind="resource", version="v7.0.0", server="s"),
        PackageDependency(name="own", kind="resource", version="v1.2.3"),
    ]


@pytest.mark.parametrize(
    ("transitive", "hidden"), [(False, {"pulumi-needed"}), (True, set())], ids=["direct", "all"]
)
def test_dependencies_are_listed_with_or_without_transitive_ones(
    host: Host, project: Path, *, transitive: bool, hidden: set[str]
) -> None:
    answer = host.calls.GetProgramDependencies(
        proto.GetProgramDependenciesRequest(
            info=info(project, virtualenv="env"), transitiveDependencies=transitive
        )
    )

    installed = ("other", "pulumi-needed", "pulumi-none", "pulumi-own")
    assert [(package.name, package.version) for package in answer.dependencies] == [
        (name, "1.2.3") for name in installed if name not in hidden
    ]


def test_about_names_the_python_of_the_project(host: Host, project: Path) -> None:
    answer = host.calls.About(proto.AboutRequest(info=info(project, virtualenv="env")))

    assert answer == proto.AboutResponse(
        executable=str(project / "env" / "bin" / "python"), version=sys.version.split()[0]
    )


def test_the_version_of_the_own_python_is_known_without_starting_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "env").symlink_to(sys.prefix)
    monkeypatch.setattr(interpreters, "_DESCRIBE", "raise SystemExit(1)")

    interpreter = Interpreter.of({"virtualenv": "env"}, str(tmp_path))

    assert interpreter.version == platform.python_version()


def test_a_missing_virtual_environment_is_an_error_with_the_next_step(
    host: Host, tmp_path: Path
) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        host.calls.About(proto.AboutRequest(info=info(tmp_path, virtualenv="env")))

    assert (raised.value.code(), raised.value.details()) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        f"the virtualenv in Pulumi.yaml is {tmp_path}/env, but it has no bin/python: "
        "create it, or name another one",
    )


def test_the_host_reports_its_version_and_answers_a_handshake(host: Host) -> None:
    assert host.calls.GetPluginInfo(Empty()).version == metadata.version("pulumi")
    answer = host.calls.Handshake(proto.LanguageHandshakeRequest(engine_address=NO_ENGINE))
    assert answer == proto.LanguageHandshakeResponse()


def test_the_host_installs_nothing_and_says_so(host: Host, project: Path) -> None:
    request = proto.InstallDependenciesRequest(info=info(project, virtualenv="env"))

    (answer,) = host.calls.InstallDependencies(request)

    python = project / "env" / "bin" / "python"
    assert answer.stdout.decode() == (
        f"{python} runs with its installed packages; nothing is installed\n"
    )


def test_pythonsafepath_in_the_environment_changes_nothing(host: Host, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("import sys\nprint(sys.path[:2])\n")
    request = proto.RunPluginRequest(
        pwd=str(tmp_path), env=["PYTHONSAFEPATH=1"], info=info(tmp_path)
    )

    printed = b"".join(part.stdout for part in host.calls.RunPlugin(request)).decode()

    expected = [str(tmp_path), str(tmp_path)]  # runpy adds a directory a second time
    assert printed == f"{expected}\n"


def run_plugin(host: Host, directory: Path, *args: str) -> tuple[bytes, bytes, list[int]]:
    """Run a provider, and return its output on each stream and the reported exit codes."""
    request = proto.RunPluginRequest(
        pwd=str(directory), args=args, env=["WORD=hello"], info=info(directory), kind="resource"
    )
    parts = list(host.calls.RunPlugin(request))
    return (
        b"".join(part.stdout for part in parts),
        b"".join(part.stderr for part in parts),
        [part.exitcode for part in parts if part.WhichOneof("output") == "exitcode"],
    )


def test_the_host_passes_on_the_output_and_exit_code_of_a_provider(
    host: Host, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text("CODE = 3\n")
    (tmp_path / "__main__.py").write_text(
        "import os, sys, helper\n"
        "print(os.environ['WORD'], sys.argv[1:], __name__, os.getcwd())\n"
        "print('trouble', file=sys.stderr)\n"
        "sys.exit(helper.CODE)\n"
    )

    assert run_plugin(host, tmp_path, "127.0.0.1:2") == (
        f"hello ['127.0.0.1:2'] __main__ {tmp_path}\n".encode(),
        b"trouble\n",
        [3],
    )


def test_a_provider_may_print_more_than_fits_into_one_message(host: Host, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("print('x' * (5 << 20))\n")

    printed, trouble, codes = run_plugin(host, tmp_path)

    assert (len(printed), trouble, codes) == ((5 << 20) + 1, b"", [0])


def test_a_directory_without_a_provider_is_an_error_that_names_it(
    host: Host, tmp_path: Path
) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        run_plugin(host, tmp_path)

    assert raised.value.details() == (
        f"{tmp_path} has neither a __main__.py nor a pyproject.toml with a project name"
    )


@pytest.fixture
def waiting_provider(tmp_path: Path) -> proto.RunPluginRequest:
    """Make a provider that writes its process id and that of a child, and then waits."""
    (tmp_path / "__main__.py").write_text(
        "import os, subprocess, pathlib\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "pathlib.Path('child').write_text(f'{child.pid}\\n')\n"
        "pathlib.Path('own').write_text(f'{os.getpid()}\\n')\n"
        "child.wait()\n"
    )
    env = [f"PATH={os.environ['PATH']}"]
    return proto.RunPluginRequest(pwd=str(tmp_path), env=env, info=info(tmp_path))


def test_a_provider_ends_with_its_call(
    host: Host, waiting_provider: proto.RunPluginRequest
) -> None:
    call = host.calls.RunPlugin(waiting_provider)
    pids = [pid_in(Path(waiting_provider.pwd, name)) for name in ("own", "child")]

    call.cancel()

    until(lambda: all(map(is_gone, pids)), "the provider and its child end")


def test_a_cancel_ends_every_child_and_its_descendants(
    host: Host, waiting_provider: proto.RunPluginRequest
) -> None:
    call = host.calls.RunPlugin(waiting_provider)
    pids = [pid_in(Path(waiting_provider.pwd, name)) for name in ("own", "child")]

    host.calls.Cancel(Empty())

    assert list(call) == [proto.RunPluginResponse(exitcode=-signal.SIGTERM)]
    assert all(map(is_gone, pids))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_host_quietly_with_its_children(
    script: Path, waiting_provider: proto.RunPluginRequest, number: signal.Signals
) -> None:
    with serving(script) as host:
        call = host.calls.RunPlugin(waiting_provider)
        pids = [pid_in(Path(waiting_provider.pwd, name)) for name in ("own", "child")]

        host.process.send_signal(number)
        printed, errors = host.process.communicate(timeout=30)
        call.cancel()

    assert (host.process.returncode, printed, errors) == (0, "", "")
    assert all(map(is_gone, pids))


@pytest.mark.parametrize("attempt", range(5))
def test_no_signal_is_lost_among_many_from_a_running_engine(script: Path, attempt: int) -> None:
    with serving(script) as host:
        for _ in range(20 + attempt):
            host.process.send_signal(signal.SIGHUP)
        assert host.calls.GetPluginInfo(Empty()).version == metadata.version("pulumi")

        host.process.send_signal(signal.SIGHUP)
        host.process.send_signal(signal.SIGTERM)
        printed, errors = host.process.communicate(timeout=30)

    assert (host.process.returncode, printed, errors) == (0, "", "")


def test_a_provider_does_not_outlive_a_host_that_is_killed(
    script: Path, waiting_provider: proto.RunPluginRequest
) -> None:
    with serving(script) as host:
        call = host.calls.RunPlugin(waiting_provider)
        own, child = (pid_in(Path(waiting_provider.pwd, name)) for name in ("own", "child"))

        host.process.kill()
        try:
            until(lambda: is_gone(own), "the provider ends")
        finally:
            end(child)
            call.cancel()


def test_a_host_ends_at_once_if_its_engine_has_already_ended(script: Path) -> None:
    program = script.read_text().split(" -P ")[1].split(" --parent")[0]

    process = subprocess.run(
        [sys.executable, "-P", program, "--parent", "1", NO_ENGINE],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (process.returncode, process.stdout, process.stderr) == (1, "", "")
