"""Checks the README: its first example prints what pic prints, and its exit codes are complete."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from dev.workspace import ROOT
from pic.core.errors import EXIT_CODES
from pic.settings.parse import parse
from pic.settings.stack_file import StackFile
from pic.snapshot import assemble, snapshot_file
from pic.snapshot.pangolin import SCHEMA_TARGETS

README = (ROOT / "README.md").read_text(encoding="utf-8")
OPERATING = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
DATA = Path(__file__).parent / "data"
SETTINGS = {"tunnelNamespace": "pangolin"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project folder with the stack, the snapshot and the branch of the first example."""
    StackFile(tmp_path, "prod").merge({"clusterId": "cluster-1", **SETTINGS})
    settings, _ = parse(SETTINGS, {})
    documents = yaml.safe_load_all((DATA / "live.yaml").read_text(encoding="utf-8"))
    raw = replace(assemble.from_documents(documents, SCHEMA_TARGETS), cluster_id="cluster-1")
    (tmp_path / "prod.json").write_text(snapshot_file.render(raw, settings), encoding="utf-8")
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "apps.yaml").write_bytes((DATA / "branch.yaml").read_bytes())
    return tmp_path


def test_the_first_example_prints_what_pic_prints(project: Path) -> None:
    command, _, expected = README.split("```console\n$ ")[1].partition("\n")
    program, *arguments = shlex.split(command)

    result = subprocess.run(
        [sys.executable, "-m", program, *arguments],
        cwd=project,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )

    assert (result.returncode, result.stdout) == (0, expected.partition("```")[0])


@pytest.mark.parametrize("page", [README, OPERATING], ids=["README", "operating"])
def test_a_page_lists_every_exit_code(page: str) -> None:
    section = page.partition("\n## Exit codes\n")[2].partition("\n## ")[0]
    codes = re.findall(r"^\| (\d+) \|", section, re.MULTILINE)

    assert [int(code) for code in codes] == list(EXIT_CODES)
