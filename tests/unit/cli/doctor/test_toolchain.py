"""Tests what the doctor finds in the toolchain: the CLI, its plugin, and Python packages."""

import os
from importlib import metadata
from pathlib import Path

import pytest

from pic.cli.doctor import toolchain
from pic.core.command_result import CommandResult
from pic.core.errors import EngineError
from pic.core.findings import Finding, failed, passed, skipped
from tests.support.doctor_contexts import FakeCheckout

WANTED = metadata.version("pulumi-kubernetes")
REMEDY = "install Pulumi 3.200.0 or newer"


@pytest.fixture
def checkout(tmp_path: Path) -> FakeCheckout:
    return FakeCheckout(tmp_path)


def findings(checkout: FakeCheckout, **environment: str) -> dict[str, Finding]:
    return {finding.name: finding for finding in toolchain.examine(checkout.context(environment))}


def plugin(checkout: FakeCheckout, *folders: str, home: str = ".pulumi") -> None:
    for folder in folders:
        name = f"{home}/plugins/resource-kubernetes-{folder}/pulumi-resource-kubernetes"
        checkout.write(name, "")


def test_a_missing_cli_is_a_failure(checkout: FakeCheckout) -> None:
    assert findings(checkout)["pulumi"] == failed(
        "pulumi", "there is no pulumi on PATH", f"{REMEDY}, or add its folder to PATH"
    )


@pytest.mark.parametrize("output", ["v3.274.1\n", "3.200.0-dev.0+x"])
def test_a_new_enough_cli_passes(checkout: FakeCheckout, output: str) -> None:
    checkout.answer("version", output)
    number = output.strip().removeprefix("v").partition("-")[0]

    assert findings(checkout)["pulumi"] == passed("pulumi", f"{number} at {checkout.cli}")
    assert checkout.commands == ["version --non-interactive"]


def test_a_cli_that_is_too_old_is_a_failure(checkout: FakeCheckout) -> None:
    checkout.answer("version", "v3.199.0\n")

    assert findings(checkout)["pulumi"] == failed(
        "pulumi", f"3.199.0 at {checkout.cli} is too old", REMEDY
    )


def test_a_cli_without_a_version_is_a_failure(checkout: FakeCheckout) -> None:
    checkout.answer("version", "\n")

    assert findings(checkout)["pulumi"] == failed(
        "pulumi", f"{checkout.cli} does not print its version", REMEDY
    )


def test_a_cli_that_hangs_is_killed_and_does_not_stop_the_other_checks(
    checkout: FakeCheckout,
) -> None:
    checkout.hang("version")

    results = list(toolchain.examine(checkout.context(seconds=0.2)))

    assert results[0] == failed("pulumi", "`pulumi version` did not answer within 0.2 s")
    assert [finding.name for finding in results] == ["pulumi", "plugin", "packages"]


def test_without_a_cli_a_command_is_an_error(checkout: FakeCheckout) -> None:
    with pytest.raises(EngineError, match=r"^there is no pulumi on PATH$"):
        checkout.context().run_pulumi("version")


def test_the_last_line_of_an_error_is_its_reason() -> None:
    errors = "warning: x\nerror: incorrect passphrase\n\n"

    assert CommandResult(1, "", errors).reason == "incorrect passphrase"
    assert CommandResult(3, "", "\n").reason == "it ended with 3"


def test_the_plugin_in_the_version_of_the_python_package_passes(checkout: FakeCheckout) -> None:
    plugin(checkout, f"v{WANTED}", "v4.1.0")

    assert findings(checkout)["plugin"] == passed("plugin", f"kubernetes {WANTED}")


def test_the_plugin_is_looked_up_in_pulumi_home(checkout: FakeCheckout) -> None:
    plugin(checkout, f"v{WANTED}", home="home")

    home = str(checkout.root / "home")
    assert findings(checkout, PULUMI_HOME=home)["plugin"] == passed(
        "plugin", f"kubernetes {WANTED}"
    )


@pytest.mark.parametrize(
    ("folders", "versions"),
    [
        ([], "no version"),
        (["v4.30.0", "v4.9.0", "odd"], "4.9.0, 4.30.0"),
        ([f"v{WANTED}"], "no version"),
    ],
)
def test_a_plugin_that_the_engine_does_not_accept_is_a_failure(
    checkout: FakeCheckout, folders: list[str], versions: str
) -> None:
    plugin(checkout, *folders)
    checkout.write(f".pulumi/plugins/resource-kubernetes-v{WANTED}.partial", "")
    (checkout.root / ".pulumi/plugins/resource-kubernetes-v4.26.0").mkdir()

    assert findings(checkout)["plugin"] == failed(
        "plugin",
        f"kubernetes {WANTED} is missing: {checkout.root}/.pulumi/plugins has {versions}",
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
def test_an_untested_version_of_the_python_package_is_a_failure(checkout: FakeCheckout) -> None:
    assert findings(checkout)["plugin"] == failed(
        "plugin",
        "pic is not tested with pulumi-kubernetes 5.0.0",
        'pip install "pulumi-kubernetes>=4.25.0,<5.0.0"',
    )


def test_a_missing_python_package_is_a_failure(
    checkout: FakeCheckout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [os.devnull])

    assert findings(checkout)["plugin"] == failed(
        "plugin", "the Python package pulumi-kubernetes is missing", "install requirements.txt"
    )


@pytest.mark.parametrize(
    ("pins", "finding"),
    [
        (None, skipped("packages", "requirements.txt is not in this folder")),
        (
            f"pyyaml=={metadata.version('pyyaml')} \\\n    --hash=sha256:1\n"
            "colorama==1.0.0 ; sys_platform == 'win32' \\\n    --hash=sha256:1\n",
            passed("packages", "1 installed in their pinned versions"),
        ),
        (
            "pyyaml==0.1\ntabulate==0.1\n",
            passed(
                "packages",
                "2 installed, but not in the pinned version: pyyaml, tabulate",
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
def test_packages_are_compared_with_their_pins(
    checkout: FakeCheckout, pins: str | None, finding: Finding
) -> None:
    if pins is not None:
        checkout.write("requirements.txt", pins)

    assert findings(checkout)["packages"] == finding
