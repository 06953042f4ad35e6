"""The doctor on the Pulumi CLI, its plugin and the Python packages."""

import os
from importlib import metadata
from pathlib import Path

import pytest

from pic.cli.doctor import toolchain
from pic.core.command_result import CommandResult
from pic.core.errors import EngineError
from pic.core.findings import (
    Finding,
    failed,
    passed,
    skipped,
)
from tests.support.doctor_contexts import Clinic

WANTED = metadata.version("pulumi-kubernetes")
REMEDY = "install Pulumi 3.200.0 or newer"


@pytest.fixture
def clinic(tmp_path: Path) -> Clinic:
    return Clinic(tmp_path)


def found(clinic: Clinic, **environment: str) -> dict[str, Finding]:
    return {each.name: each for each in toolchain.examine(clinic.context(environment))}


def plugin(clinic: Clinic, *folders: str, home: str = ".pulumi") -> None:
    for folder in folders:
        name = f"{home}/plugins/resource-kubernetes-{folder}/pulumi-resource-kubernetes"
        clinic.write(name, "")


def test_no_cli(clinic: Clinic) -> None:
    assert found(clinic)["pulumi"] == failed(
        "pulumi", "there is no pulumi on PATH", f"{REMEDY}, or put its folder on PATH"
    )


@pytest.mark.parametrize("said", ["v3.274.1\n", "3.200.0-dev.0+x"])
def test_a_cli_that_will_do(clinic: Clinic, said: str) -> None:
    clinic.says("version", said)
    number = said.strip().removeprefix("v").partition("-")[0]

    assert found(clinic)["pulumi"] == passed("pulumi", f"{number} at {clinic.cli}")
    assert clinic.asked == ["version --non-interactive"]


def test_a_cli_that_is_too_old(clinic: Clinic) -> None:
    clinic.says("version", "v3.199.0\n")

    assert found(clinic)["pulumi"] == failed(
        "pulumi", f"3.199.0 at {clinic.cli} is too old", REMEDY
    )


def test_a_cli_without_a_version(clinic: Clinic) -> None:
    clinic.says("version", "\n")

    assert found(clinic)["pulumi"] == failed(
        "pulumi", f"{clinic.cli} does not tell its version", REMEDY
    )


def test_a_cli_that_hangs_is_ended_and_hides_nothing(clinic: Clinic) -> None:
    clinic.hangs("version")

    findings = list(toolchain.examine(clinic.context(seconds=0.2)))

    assert findings[0] == failed("pulumi", "`pulumi version` gave no answer in 0.2 s")
    assert [each.name for each in findings] == ["pulumi", "plugin", "packages"]


def test_without_a_cli_there_is_nobody_to_ask(clinic: Clinic) -> None:
    with pytest.raises(EngineError, match=r"^there is no pulumi on PATH$"):
        clinic.context().ask("version")


def test_the_last_line_of_an_error_is_its_reason() -> None:
    said = "warning: x\nerror: incorrect passphrase\n\n"

    assert CommandResult(1, "", said).reason == "incorrect passphrase"
    assert CommandResult(3, "", "\n").reason == "it ended with 3"


def test_the_plugin_that_the_python_package_asks_for(clinic: Clinic) -> None:
    plugin(clinic, f"v{WANTED}", "v4.1.0")

    assert found(clinic)["plugin"] == passed("plugin", f"kubernetes {WANTED}")


def test_the_plugin_in_another_home(clinic: Clinic) -> None:
    plugin(clinic, f"v{WANTED}", home="home")

    home = str(clinic.root / "home")
    assert found(clinic, PULUMI_HOME=home)["plugin"] == passed("plugin", f"kubernetes {WANTED}")


@pytest.mark.parametrize(
    ("folders", "there"),
    [([], "none"), (["v4.30.0", "v4.9.0", "odd"], "4.9.0, 4.30.0"), ([f"v{WANTED}"], "none")],
)
def test_a_plugin_that_the_engine_would_not_take(
    clinic: Clinic, folders: list[str], there: str
) -> None:
    plugin(clinic, *folders)
    clinic.write(f".pulumi/plugins/resource-kubernetes-v{WANTED}.partial", "")
    (clinic.root / ".pulumi/plugins/resource-kubernetes-v4.26.0").mkdir()

    assert found(clinic)["plugin"] == failed(
        "plugin",
        f"kubernetes {WANTED} is asked for, and there is {there} in {clinic.root}/.pulumi/plugins",
        f"pulumi plugin install resource kubernetes {WANTED}",
    )


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The metadata of another pulumi-kubernetes, in front of the one installed."""
    folder = tmp_path / "site" / "pulumi_kubernetes-5.0.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Name: pulumi-kubernetes\nVersion: 5.0.0\n")
    monkeypatch.syspath_prepend(folder.parent)
    return folder


@pytest.mark.usefixtures("distribution")
def test_a_python_package_of_another_generation(clinic: Clinic) -> None:
    assert found(clinic)["plugin"] == failed(
        "plugin",
        "pulumi-kubernetes 5.0.0 is not tried",
        'pip install "pulumi-kubernetes>=4.25.0,<5.0.0"',
    )


def test_a_python_package_that_is_missing(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [os.devnull])

    assert found(clinic)["plugin"] == failed(
        "plugin", "the Python package pulumi-kubernetes is missing", "install the requirements"
    )


@pytest.mark.parametrize(
    ("pins", "finding"),
    [
        (None, skipped("packages", "there is no requirements.txt here")),
        (
            f"pyyaml=={metadata.version('pyyaml')} \\\n    --hash=sha256:1\n"
            "colorama==1.0.0 ; sys_platform == 'win32' \\\n    --hash=sha256:1\n",
            passed("packages", "1 installed as pinned"),
        ),
        (
            "pyyaml==0.1\ntabulate==0.1\n",
            passed(
                "packages",
                "2 installed; not as pinned: pyyaml, tabulate",
                "pip install --require-hashes -r requirements.txt",
            ),
        ),
        (
            "pyyaml==0.1\nno-such-thing==1\n",
            failed(
                "packages",
                "missing: no-such-thing",
                "pip install --require-hashes -r requirements.txt",
            ),
        ),
    ],
)
def test_the_packages(clinic: Clinic, pins: str | None, finding: Finding) -> None:
    if pins is not None:
        clinic.write("requirements.txt", pins)

    assert found(clinic)["packages"] == finding
