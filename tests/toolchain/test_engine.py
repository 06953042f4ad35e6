"""Programs in Python, run by the real engine through our language host. No cloud, no cluster."""

import json
import os
import re
import signal
import subprocess
import textwrap
import uuid
import venv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pulumi
import pytest
import yaml

from dev import toolchain
from dev.toolchain import layout
from dev.toolchain.surroundings import Surroundings
from tests.toolchain.waiting import end, until

pytestmark = pytest.mark.engine
_MARK = "PIC_TEST_PROJECT"


@dataclass(frozen=True)
class Project:
    """A project with a file backend of its own, whose processes can be told from all others."""

    root: Path
    environ: Mapping[str, str]

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["pulumi", *words, "--non-interactive", "--color=never"],
            cwd=self.root,
            env=dict(self.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def pulumi(self, *words: str) -> tuple[int, str]:
        """Run one command to its end: its exit code, and all that it printed."""
        process = self.start(*words)
        printed, errors = process.communicate(timeout=120)
        return process.returncode, printed + errors

    def up(self, files: Mapping[str, str]) -> tuple[int, str]:
        self.write(files)
        assert self.pulumi("stack", "init", "dev")[0] == 0
        return self.pulumi("up", "--yes", "--skip-preview")

    def outputs(self) -> object:
        return json.loads(self.pulumi("stack", "output", "--json")[1])

    def processes(self) -> list[int]:
        """List the processes that inherited this project's environment."""
        mark = f"{_MARK}={self.environ[_MARK]}".encode()
        return [pid for pid in _pids() if mark in _environment(pid)]


def _pids() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or is another user's
        return []


def diagnostics(printed: str) -> str:
    """Cut out what the engine shows under "Diagnostics", without the empty lines."""
    block = re.search(r"^Diagnostics:\n(.*?)^\S", printed, re.DOTALL | re.MULTILINE)
    assert block, printed
    lines = [line for line in block[1].splitlines() if line.strip()]
    return textwrap.dedent("\n".join(lines))


@pytest.fixture(scope="session")
def engine_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The engine of the toolchain, whichever way it came, beside our own language host."""
    tools = toolchain.resolve(echo=lambda _: None)
    bin_ = tmp_path_factory.mktemp("bin")
    layout.link_or_copy(tools.pulumi.resolve(), bin_ / "pulumi")
    layout.write_host(Surroundings(), bin_ / "pulumi-language-python")
    environ = {**os.environ, **tools.environment()}
    return environ | {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def project(
    tmp_path: Path, engine_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Project]:
    (tmp_path / "state").mkdir()
    environ = engine_environment | {
        "PULUMI_BACKEND_URL": f"file://{tmp_path}/state",
        "PULUMI_CONFIG_PASSPHRASE": "test",
        _MARK: uuid.uuid4().hex,
    }
    monkeypatch.setenv("PATH", environ["PATH"])  # where Popen finds the command itself
    made = Project(tmp_path / "project", environ)
    made.write({"Pulumi.yaml": "name: tried\nruntime: python\n"})
    yield made
    left = made.processes()
    for pid in left:
        end(pid)
    assert left == [], "a test leaves no process behind"


EXPORTS = "import pulumi\npulumi.export('answer', 42)\n"
WAITS = """
import os, pathlib, subprocess, sys
import pulumi
child = subprocess.Popen(["sleep", "600"])
pathlib.Path("started").write_text("yes\\n")
child.wait()
"""


def test_a_program_is_run_as_if_it_had_been_started_directly(project: Project) -> None:
    code, printed = project.up(
        {
            "beside.py": "WORD = 'imported'\n",
            "__main__.py": """
                import os, sys
                import pulumi
                from beside import WORD

                pulumi.ComponentResource("tried:index:Thing", "one")
                print("a line on stdout")
                print("a line on stderr", file=sys.stderr)
                config = pulumi.Config()
                pulumi.export("name", __name__)
                pulumi.export("argv", sys.argv)
                pulumi.export("cwd", os.getcwd())
                pulumi.export("path", sys.path[0])
                pulumi.export("word", WORD)
                pulumi.export("project", pulumi.get_project())
                pulumi.export("stack", pulumi.get_stack())
                pulumi.export("organization", pulumi.get_organization())
                pulumi.export("root", pulumi.runtime.get_root_directory())
                pulumi.export("plain", config.get("plain"))
                pulumi.export("dry", pulumi.runtime.is_dry_run())
            """,
            "Pulumi.dev.yaml": "config:\n  tried:plain: value\n",
        }
    )

    assert code == 0
    assert "warning" not in printed
    assert sorted(diagnostics(printed).splitlines()) == [
        "  a line on stderr",
        "  a line on stdout",
        "pulumi:pulumi:Stack (tried-dev):",
    ]
    assert project.outputs() == {
        "name": "__main__",
        "argv": [str(project.root)],
        "cwd": str(project.root),
        "path": str(project.root),
        "word": "imported",
        "project": "tried",
        "stack": "dev",
        "organization": "organization",
        "root": str(project.root),
        "plain": "value",
        "dry": False,
    }


def test_a_secret_of_the_configuration_stays_a_secret(project: Project) -> None:
    project.write({"__main__.py": "import pulumi\n"})
    project.pulumi("stack", "init", "dev")
    project.pulumi("config", "set", "--secret", "password", "tiger")
    project.write(
        {
            "__main__.py": """
                import pulumi
                pulumi.export("p", pulumi.Config().require_secret("password"))
            """
        }
    )

    code, _ = project.pulumi("up", "--yes", "--skip-preview")

    assert code == 0
    assert project.outputs() == {"p": "[secret]"}


def test_the_program_may_be_a_file_in_a_directory_of_its_own(project: Project) -> None:
    code, _ = project.up(
        {
            "Pulumi.yaml": "name: tried\nruntime: python\nmain: source/program.py\n",
            "source/beside.py": "ANSWER = 42\n",
            "source/program.py": """
                import pathlib, beside, pulumi
                pulumi.export("answer", beside.ANSWER)
                pulumi.export("cwd", pathlib.Path.cwd().name)
            """,
        }
    )

    assert code == 0
    assert project.outputs() == {"answer": 42, "cwd": "source"}


def test_the_virtual_environment_of_the_project_runs_the_program(project: Project) -> None:
    environment = project.root / "env"
    venv.create(environment, with_pip=False)
    (site,) = (environment / "lib").glob("python3.*/site-packages")
    (site / "sdk.pth").write_text(f"{Path(pulumi.__file__).parents[1]}\n")

    code, _ = project.up(
        {
            "Pulumi.yaml": """
                name: tried
                runtime:
                  name: python
                  options: {virtualenv: env}
            """,
            "__main__.py": """
                import os, shutil, sys
                import pulumi
                pulumi.export("prefix", sys.prefix)
                pulumi.export("python", shutil.which("python"))
                pulumi.export("told", os.environ["PULUMI_RUNTIME_VIRTUALENV"])
            """,
        }
    )

    assert code == 0
    assert project.outputs() == {
        "prefix": str(environment),
        "python": str(environment / "bin" / "python"),
        "told": "env",
    }


def test_a_missing_virtual_environment_is_a_clear_message(project: Project) -> None:
    code, printed = project.up(
        {
            "Pulumi.yaml": "name: tried\nruntime: {name: python, options: {virtualenv: env}}\n",
            "__main__.py": "",
        }
    )

    assert code != 0
    assert (
        f"the virtualenv of Pulumi.yaml is {project.root}/env, and there is no bin/python"
        in printed
    )


def test_a_crash_shows_its_traceback_once_and_only_the_lines_of_the_program(
    project: Project,
) -> None:
    code, printed = project.up(
        {
            "__main__.py": """\
                def explode():
                    raise ValueError("boom")

                explode()
            """
        }
    )

    assert code == 1
    assert printed.count("Traceback") == 1
    assert diagnostics(printed) == textwrap.dedent(
        f"""\
        pulumi:pulumi:Stack (tried-dev):
          error: Program failed with an unhandled exception:
          Traceback (most recent call last):
            File "{project.root}/__main__.py", line 4, in <module>
              explode()
            File "{project.root}/__main__.py", line 2, in explode
              raise ValueError("boom")
          ValueError: boom"""
    )


def test_a_syntax_error_shows_its_place_alone(project: Project) -> None:
    code, printed = project.up({"__main__.py": "def broken(:\n"})

    assert code == 1
    assert diagnostics(printed) == textwrap.dedent(
        f"""\
        pulumi:pulumi:Stack (tried-dev):
          error: Program failed with an unhandled exception:
            File "{project.root}/__main__.py", line 1
              def broken(:
                         ^
          SyntaxError: invalid syntax"""
    )


def test_an_error_in_an_output_shows_the_line_of_the_program(project: Project) -> None:
    code, printed = project.up(
        {
            "__main__.py": """\
                import pulumi

                def fails(value):
                    raise LookupError(value)

                pulumi.export("never", pulumi.Output.from_input("late").apply(fails))
            """
        }
    )

    assert code == 1
    assert diagnostics(printed) == textwrap.dedent(
        f"""\
        pulumi:pulumi:Stack (tried-dev):
          error: Program failed with an unhandled exception:
          Traceback (most recent call last):
            File "{project.root}/__main__.py", line 4, in fails
              raise LookupError(value)
          LookupError: late"""
    )


def test_a_run_error_is_its_message_alone(project: Project) -> None:
    code, printed = project.up(
        {"__main__.py": "import pulumi\nraise pulumi.RunError('set tried:site, tried:domain')\n"}
    )

    assert code == 1
    assert diagnostics(printed) == (
        "pulumi:pulumi:Stack (tried-dev):\n  error: set tried:site, tried:domain"
    )


def test_the_exit_code_of_a_program_counts(project: Project) -> None:
    code, printed = project.up({"__main__.py": "import sys\nsys.exit(3)\n"})

    assert code == 1
    assert diagnostics(printed) == (
        "pulumi:pulumi:Stack (tried-dev):\n"
        "  error: an unhandled error occurred: the program ended with exit code 3"
    )


def test_a_program_may_exit_with_zero(project: Project) -> None:
    code, printed = project.up({"__main__.py": EXPORTS + "raise SystemExit(0)\n"})

    assert (code, "error" in printed) == (0, False)
    assert project.outputs() == {"answer": 42}


def test_refresh_and_destroy_can_run_the_program(project: Project) -> None:
    recorded = project.root / "runs"
    program = f"{EXPORTS}print('run', file=open({str(recorded)!r}, 'a'))\n"
    assert project.up({"__main__.py": program})[0] == 0

    refreshed, _ = project.pulumi("refresh", "--run-program", "--yes", "--skip-preview")
    outputs = project.outputs()
    destroyed, _ = project.pulumi("destroy", "--run-program", "--yes", "--skip-preview")

    assert (refreshed, destroyed) == (0, 0)
    assert recorded.read_text() == "run\n" * 3
    assert outputs == {"answer": 42}


def test_a_provider_in_python_is_started_by_the_host(project: Project) -> None:
    code, printed = project.up(
        {
            "Pulumi.yaml": """
                name: tried
                runtime: python
                plugins:
                  providers: [{name: tiny, path: ./tiny}]
            """,
            "tiny/PulumiPlugin.yaml": "runtime: python\n",
            "tiny/__main__.py": """
                from typing import TypedDict
                import pulumi
                from pulumi.provider.experimental import component_provider_host

                class ThingArgs(TypedDict):
                    word: pulumi.Input[str]

                class Thing(pulumi.ComponentResource):
                    loud: pulumi.Output[str]
                    def __init__(self, name: str, args: ThingArgs, opts: pulumi.ResourceOptions):
                        super().__init__("tiny:index:Thing", name, {}, opts)
                        self.loud = pulumi.Output.from_input(args["word"]).apply(str.upper)
                        self.register_outputs({"loud": self.loud})

                component_provider_host(components=[Thing], name="tiny")
            """,
            "__main__.py": """
                import pulumi

                class Thing(pulumi.ComponentResource):
                    def __init__(self, name, word):
                        props = {"word": word, "loud": None}
                        super().__init__("tiny:index:Thing", name, props, None, remote=True)

                pulumi.export("loud", Thing("one", "hello").loud)
            """,
        }
    )

    assert code == 0, printed
    assert project.outputs() == {"loud": "HELLO"}


def test_the_kubernetes_plugin_is_found_and_works(project: Project) -> None:
    code, printed = project.up(
        {
            "__main__.py": """
                import pulumi
                import pulumi_kubernetes as k8s

                to_files = k8s.Provider("files", render_yaml_to_directory="rendered")
                k8s.core.v1.ConfigMap(
                    "one",
                    metadata={"name": "one"},
                    data={"word": "hello"},
                    opts=pulumi.ResourceOptions(provider=to_files),
                )
            """
        }
    )

    assert code == 0, printed
    assert "warning" not in printed
    (rendered,) = (project.root / "rendered").rglob("*.yaml")
    assert yaml.safe_load(rendered.read_text())["data"] == {"word": "hello"}


def test_an_interrupt_ends_the_run_without_a_traceback_and_without_processes(
    project: Project,
) -> None:
    project.write({"__main__.py": WAITS})
    project.pulumi("stack", "init", "dev")
    running = project.start("up", "--yes", "--skip-preview")
    until((project.root / "started").exists, "the program runs")

    running.send_signal(signal.SIGINT)
    printed, errors = running.communicate(timeout=60)

    assert (running.returncode, errors) == (1, "")
    assert diagnostics(printed) == "pulumi:pulumi:Stack (tried-dev):\n  error: update canceled"
    assert project.processes() == []


def test_nothing_outlives_an_engine_that_is_killed(project: Project) -> None:
    project.write({"__main__.py": WAITS})
    project.pulumi("stack", "init", "dev")
    running = project.start("up", "--yes", "--skip-preview")
    until((project.root / "started").exists, "the program runs")
    assert len(project.processes()) == 4, "the engine, the host, the program and its child"

    running.kill()
    running.communicate(timeout=60)

    until(lambda: project.processes() == [], "the host and the program end")
