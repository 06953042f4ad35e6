"""Tests the command line: what it prints where, and its exit codes."""

import gc
import io
import json
import os
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from pic.cli import main
from pic.core.errors import EXIT_CODES
from pic.settings.stack_file import StackFile
from tests.support.api import CLUSTER, REMEMBERING, Api, fill_cluster, ingress, serving
from tests.support.fakes import ENVIRONMENT, Terminal, run_pic

WEB = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: prod, uid: uid-1}
spec:
  ingressClassName: pangolin
  rules:
    - host: app.example.com
      http: &all
        paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
    - http: *all
"""


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(WEB)
    return tmp_path


Capture = pytest.CaptureFixture[str]
PLAN_FILES = ("plan", "--offline", "--manifests", "web.yaml")
VERBS = (
    "init",
    "doctor",
    "plan",
    "diff",
    "preview",
    "up",
    "status",
    "explain",
    "history",
    "drift",
    "watch",
    "snapshot",
    "destroy",
)


def failure(capsys: Capture, *words: str) -> tuple[int, str]:
    """Return the exit code and standard error; standard output must be empty."""
    code, out, err = run_pic(capsys, *words)
    assert out == ""
    return code, err


def help_text(capsys: Capture, *words: str) -> tuple[object, str]:
    """Return the exit code of `--help`, and its text."""
    with pytest.raises(SystemExit) as caught:
        main.main([*words, "--help"])
    output = capsys.readouterr()
    return caught.value.code, output.out + output.err


def test_the_help_names_every_verb_and_every_exit_code(capsys: Capture) -> None:
    code, text = help_text(capsys)

    assert code == 0
    assert text.endswith(main.EPILOG + "\n")
    verbs = text.partition("\nverbs:\n")[2].partition("\n\n")[0]
    assert re.findall(r"^    (\w+) ", verbs, re.MULTILINE) == list(VERBS)
    codes = text.partition("\nexit codes:\n")[2]
    assert re.findall(r"^  (\d+) +(.+)$", codes, re.MULTILINE) == [
        (str(code), meaning) for code, meaning in EXIT_CODES.items()
    ]


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_fits_a_terminal_and_has_examples(capsys: Capture, verb: str) -> None:
    code, text = help_text(capsys, verb)

    assert code == 0
    description, _, examples = text.partition("\nexamples:\n")
    assert examples.startswith(f"  pic {verb} ")
    assert max(map(len, description.splitlines())) <= 80


@pytest.mark.parametrize(
    "words", [[], ["fly"], ["plan", "--fly"], ["plan", "--output", "xml"], ["plan", "--config"]]
)
def test_wrong_usage_is_exit_code_2(capsys: Capture, words: list[str]) -> None:
    code, text = failure(capsys, *words)

    assert code == 2
    assert text.startswith("usage: pic ")


def test_a_plan_of_files_as_text(capsys: Capture) -> None:
    code, out, err = run_pic(capsys, *PLAN_FILES)

    assert (code, err) == (0, "")
    assert out == (
        "HOST             OBJECT                      TUNNEL    ACCESS    BACKENDS\n"
        "app.example.com  prod/pic-prod-web-7144d925  default   public    / →"
        " http://web.prod.svc.cluster.local:80\n"
        "\n"
        "Warning: EmptyHost: Ingress prod/web: a rule without a host is skipped: set its host"
        " (its hosts: app.example.com)\n"
        "\n"
        "1 Ingress: 1 exposed; 2 hosts: 1 refused, 1 exposed\n"
        "1 resource, 1 warning, 0 remarks\n"
    )


def test_a_plan_of_files_as_json(capsys: Capture) -> None:
    code, out, _ = run_pic(capsys, *PLAN_FILES, "--output", "json")

    assert code == 0
    assert json.loads(out) == {
        "version": 1,
        "resources": [
            {
                "host": "app.example.com",
                "namespace": "prod",
                "name": "pic-prod-web-7144d925",
                "owners": [{"namespace": "prod", "name": "web"}],
                "held": False,
                "labels": {
                    "pic.ingress.k8s.io/name": "web",
                    "pic.ingress.k8s.io/namespace": "prod",
                    "pic.ingress.k8s.io/stack": "pic.offline",
                    "pic.ingress.k8s.io/uid": "uid-1",
                },
                "spec": {
                    "enabled": True,
                    "name": "app.example.com",
                    "protocol": "http",
                    "tunnelRef": {"name": "default"},
                    "httpConfig": {
                        "domainName": "example.com",
                        "subdomain": "app",
                        "sso": False,
                        "blockAccess": False,
                    },
                    "targets": [{"ip": "web.prod.svc.cluster.local", "port": 80, "method": "http"}],
                },
            }
        ],
        "records": [],
        "notices": [
            {
                "level": "Warning",
                "reason": "EmptyHost",
                "object": {"kind": "Ingress", "namespace": "prod", "name": "web"},
                "host": None,
                "hosts": ["app.example.com"],
                "message": "a rule without a host is skipped: set its host",
            }
        ],
        "sources": {
            "counts": {"refused": 0, "held": 0, "exposed": 1, "ignored": 0},
            "near": [],
        },
    }


def test_a_plan_of_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WEB.encode())))

    code, out, _ = run_pic(capsys, "plan", "--offline", "--manifests", "-")

    assert code == 0
    assert "app.example.com" in out


def test_a_variable_that_differs_from_a_setting_is_a_notice(root: Path, capsys: Capture) -> None:
    StackFile(root, "prod").merge({"backendScheme": "http"})

    _, out, _ = run_pic(capsys, *PLAN_FILES, "--stack", "prod", PIC_BACKEND_SCHEME="https")

    assert out.splitlines()[3:5] == [
        "Warning: EmptyHost: Ingress prod/web: a rule without a host is skipped: set its host"
        " (its hosts: app.example.com)",
        "Warning: SettingDiffers: Setting backendScheme: PIC_BACKEND_SCHEME is 'https' and"
        " pic:backendScheme is 'http': pic uses pic:backendScheme",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["plan", "--offline"],
            "--offline needs --manifests, since it reads nothing else",
        ),
        (["plan"], "there is no stack file yet: pic init --stack NAME writes one"),
        (
            ["plan", "--stack", "prod"],
            "stacks/Pulumi.prod.yaml does not exist: run pic init --stack prod to create it",
        ),
        (
            ["plan", "--stack", "a/b"],
            "'a/b' is not a valid stack name: use up to 100 letters, digits, hyphens,"
            " underscores and dots",
        ),
        (
            ["plan", "--offline", "--manifests", "web.yaml", "--config", "x", "--config", "=y"],
            "--config 'x' is not KEY=VALUE\n--config '=y' is not KEY=VALUE",
        ),
        (
            ["plan", "--offline", "--manifests", "nowhere"],
            "nowhere: cannot be read: No such file or directory",
        ),
        (["init"], "a new stack needs a name: run pic init --stack NAME"),
        (
            ["init", "--stack", "example"],
            "'example' cannot be a stack: stacks/Pulumi.example.yaml only explains the settings."
            " Choose another name, for example: pic init --stack prod",
        ),
    ],
)
def test_invalid_usage_is_one_message_and_exit_code_2(
    capsys: Capture, words: list[str], message: str
) -> None:
    assert failure(capsys, *words) == (2, f"pic: {message}\n")


def test_all_invalid_settings_are_reported_at_once_without_a_traceback(capsys: Capture) -> None:
    flags = ["--config", "maxRemovals=x", "--config", "events=y", "--config", "tunel=z"]

    code, text = failure(capsys, *PLAN_FILES, *flags)

    assert code == 2
    assert [line.partition(";")[0] for line in text.splitlines()] == [
        "pic: unknown setting pic:tunel",
        "pic:maxRemovals is 'x'",
        "pic:events is 'y'",
    ]


def test_with_several_stacks_the_user_has_to_name_one(root: Path, capsys: Capture) -> None:
    for stack in ("prod", "dev"):
        StackFile(root, stack).merge({"adopt": True})

    assert failure(capsys, "plan") == (2, "pic: name the stack with --stack: dev, prod\n")


def test_an_unreachable_cluster_is_exit_code_5(root: Path, capsys: Capture) -> None:
    StackFile(root, "prod").merge({"adopt": True})

    assert failure(capsys, "plan") == (
        5,
        "pic: cannot connect to the cluster: there is no kubeconfig at config. Set KUBECONFIG, or"
        " pic:context to one of its contexts\n",
    )


@pytest.fixture
def api(root: Path) -> Iterator[Api]:
    with serving() as server:
        fill_cluster(server, [ingress("web", "app.example.com")])
        server.kubeconfig(root / ENVIRONMENT["KUBECONFIG"])
        yield server


@pytest.mark.parametrize(
    ("flags", "progress"), [([], "pic: reading the cluster …\n"), (["--quiet"], "")]
)
@pytest.mark.usefixtures("api")
def test_a_plan_of_the_cluster_prints_progress_on_a_terminal(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, flags: list[str], progress: str
) -> None:
    StackFile(root, "prod").merge({"clusterId": CLUSTER, **REMEMBERING})
    monkeypatch.setattr("sys.stderr", terminal := Terminal())

    code, out, _ = run_pic(capsys, "plan", *flags)

    assert code == 0
    assert terminal.getvalue() == progress
    assert out.splitlines()[-1] == "1 resource, 0 warnings, 0 remarks"


def test_ctrl_c_is_exit_code_130(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(io.BytesIO):
        def read(self, _: int | None = -1, /) -> bytes:
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Interrupted()))

    assert failure(capsys, "plan", "--offline", "--manifests", "-") == (130, "pic: interrupted\n")


def test_a_closed_pipe_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        monkeypatch.setattr("sys.stdout", closed)

        assert main.main(PLAN_FILES, ENVIRONMENT) == 0


@pytest.mark.parametrize(("encoding", "arrow"), [("ascii", b"\\u2192"), ("utf-8", "→".encode())])
def test_arrows_are_escaped_where_the_encoding_lacks_them(
    monkeypatch: pytest.MonkeyPatch, encoding: str, arrow: bytes
) -> None:
    output = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(output, encoding=encoding))

    assert main.main(PLAN_FILES, ENVIRONMENT) == 0
    assert b"public    / " + arrow + b" http://web." in output.getvalue()


def test_standard_output_may_be_any_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", output := io.StringIO())

    assert main.main(PLAN_FILES, ENVIRONMENT) == 0
    assert "app.example.com" in output.getvalue()


@pytest.fixture
def garbage_collection() -> Iterator[None]:
    """Turn the garbage collector on again, which `python -m pic` turns off."""
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("garbage_collection")
def test_the_module_runs_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("sys.argv", ["pic", "plan"])

    with pytest.raises(SystemExit) as caught:
        runpy.run_module("pic", run_name="__main__")

    assert not gc.isenabled()
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("pic: there is no stack file yet")


@pytest.mark.parametrize(
    ("form", "expected"),
    [("text", "0 Ingresses of ingress-nginx, 1 others\n"), ("json", None), ("markdown", None)],
)
def test_a_move_from_another_controller(capsys: Capture, form: str, expected: str | None) -> None:
    code, out, err = run_pic(capsys, *PLAN_FILES, "--from", "nginx", "--output", form)

    assert (code, err) == (0, "")
    assert out == expected or form != "text"
    assert form != "json" or json.loads(out)["others"] == 1
    assert form != "markdown" or out.startswith("### Moving from ingress-nginx\n")


def test_a_move_needs_a_known_controller(capsys: Capture) -> None:
    code, text = failure(capsys, *PLAN_FILES, "--from", "envoy")

    assert (code, "choose from" in text) == (2, True)
