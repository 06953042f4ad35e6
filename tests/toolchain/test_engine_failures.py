"""Tests programs that fail, are interrupted, or lose their engine."""

import signal
import textwrap

import pytest

from tests.support.waiting import until
from tests.toolchain.projects import Project, diagnostics

pytestmark = pytest.mark.engine
WAITS = """
import os, pathlib, subprocess, sys
import pulumi
child = subprocess.Popen(["sleep", "600"])
pathlib.Path("started").write_text("yes\\n")
child.wait()
"""


def test_a_crash_shows_one_traceback_with_only_the_lines_of_the_program(
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


def test_a_syntax_error_shows_only_its_place(project: Project) -> None:
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


def test_a_run_error_shows_only_its_message(project: Project) -> None:
    code, printed = project.up(
        {"__main__.py": "import pulumi\nraise pulumi.RunError('set tried:site, tried:domain')\n"}
    )

    assert code == 1
    assert diagnostics(printed) == (
        "pulumi:pulumi:Stack (tried-dev):\n  error: set tried:site, tried:domain"
    )


def test_the_error_names_the_exit_code_of_a_program(project: Project) -> None:
    code, printed = project.up({"__main__.py": "import sys\nsys.exit(3)\n"})

    assert code == 1
    assert diagnostics(printed) == (
        "pulumi:pulumi:Stack (tried-dev):\n"
        "  error: an unhandled error occurred: the program ended with exit code 3"
    )


def test_an_interrupt_ends_the_run_without_a_traceback_and_leaves_no_process(
    project: Project,
) -> None:
    project.write({"__main__.py": WAITS})
    project.pulumi("stack", "init", "dev")
    process = project.start("up", "--yes", "--skip-preview")
    until((project.root / "started").exists, "the program runs")

    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (1, "")
    assert diagnostics(printed) == "pulumi:pulumi:Stack (tried-dev):\n  error: update canceled"
    assert project.processes() == []


def test_nothing_outlives_an_engine_that_is_killed(project: Project) -> None:
    project.write({"__main__.py": WAITS})
    project.pulumi("stack", "init", "dev")
    process = project.start("up", "--yes", "--skip-preview")
    until((project.root / "started").exists, "the program runs")
    assert len(project.processes()) == 4, "the engine, the host, the program and its child"

    process.kill()
    process.communicate(timeout=60)

    until(lambda: project.processes() == [], "the host and the program end")
