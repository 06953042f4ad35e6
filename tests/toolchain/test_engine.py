"""Tests Python programs that the real engine runs through our language host."""

import venv
from pathlib import Path

import pulumi
import pytest
import yaml

from tests.toolchain.projects import Project, diagnostics

pytestmark = pytest.mark.engine
EXPORTS = "import pulumi\npulumi.export('answer', 42)\n"


def test_a_program_runs_as_if_it_were_started_directly(project: Project) -> None:
    code, printed = project.up(
        {
            "helper.py": "WORD = 'imported'\n",
            "__main__.py": """
                import os, sys
                import pulumi
                from helper import WORD

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


def test_a_secret_in_the_configuration_stays_secret(project: Project) -> None:
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


def test_the_program_may_be_a_file_in_another_directory(project: Project) -> None:
    code, _ = project.up(
        {
            "Pulumi.yaml": "name: tried\nruntime: python\nmain: source/program.py\n",
            "source/helper.py": "ANSWER = 42\n",
            "source/program.py": """
                import pathlib, helper, pulumi
                pulumi.export("answer", helper.ANSWER)
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
                pulumi.export("option", os.environ["PULUMI_RUNTIME_VIRTUALENV"])
            """,
        }
    )

    assert code == 0
    assert project.outputs() == {
        "prefix": str(environment),
        "python": str(environment / "bin" / "python"),
        "option": "env",
    }


def test_a_missing_virtual_environment_is_an_error_that_names_it(project: Project) -> None:
    code, printed = project.up(
        {
            "Pulumi.yaml": "name: tried\nruntime: {name: python, options: {virtualenv: env}}\n",
            "__main__.py": "",
        }
    )

    assert code != 0
    assert (
        f"the virtualenv in Pulumi.yaml is {project.root}/env, but it has no bin/python" in printed
    )


def test_a_program_may_exit_with_zero(project: Project) -> None:
    code, printed = project.up({"__main__.py": EXPORTS + "raise SystemExit(0)\n"})

    assert (code, "error" in printed) == (0, False)
    assert project.outputs() == {"answer": 42}


def test_refresh_and_destroy_can_run_the_program(project: Project) -> None:
    record = project.root / "runs"
    program = f"{EXPORTS}print('run', file=open({str(record)!r}, 'a'))\n"
    assert project.up({"__main__.py": program})[0] == 0

    refreshed, _ = project.pulumi("refresh", "--run-program", "--yes", "--skip-preview")
    outputs = project.outputs()
    destroyed, _ = project.pulumi("destroy", "--run-program", "--yes", "--skip-preview")

    assert (refreshed, destroyed) == (0, 0)
    assert record.read_text() == "run\n" * 3
    assert outputs == {"answer": 42}


def test_the_host_starts_a_provider_in_python(project: Project) -> None:
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


def test_the_engine_finds_the_kubernetes_plugin(project: Project) -> None:
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
