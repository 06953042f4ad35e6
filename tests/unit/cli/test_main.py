"""The command line: what it prints where, and its exit codes."""

import gc
import io
import json
import os
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from pic.cli import main
from pic.cluster.listing import PANGOLIN
from pic.cluster.review_access import REVIEW
from pic.settings.stack_file import StackFile
from tests.support.api import (
    CLUSTER,
    Answer,
    Api,
    fill_cluster,
    ingress,
    serving,
)

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
    for name in [key for key in os.environ if key.startswith(("PIC_", "PIHOLE_", "LOG_LEVEL"))]:
        monkeypatch.delenv(name)
    (tmp_path / "web.yaml").write_text(WEB)
    return tmp_path


Capture = pytest.CaptureFixture[str]


def failure(capsys: Capture, *words: str) -> tuple[int, str]:
    """The exit code and what is on standard error, with nothing on standard output."""
    code = main.main(words)
    said = capsys.readouterr()
    assert said.out == ""
    return code, said.err


def usage(capsys: Capture, *words: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as caught:
        main.main(words)
    said = capsys.readouterr()
    return caught.value.code, said.out + said.err


def test_the_help_names_the_verbs_and_the_exit_codes(capsys: Capture) -> None:
    code, text = usage(capsys, "--help")

    assert code == 0
    assert "plan" in text
    assert "init" in text
    assert text.endswith(main.EPILOG + "\n")


@pytest.mark.parametrize("verb", ["plan", "init"])
def test_the_help_of_a_verb_has_examples(capsys: Capture, verb: str) -> None:
    code, text = usage(capsys, verb, "--help")

    assert code == 0
    assert f"examples:\n  pic {verb} " in text


@pytest.mark.parametrize(
    "words", [[], ["fly"], ["plan", "--fly"], ["plan", "--output", "xml"], ["plan", "--config"]]
)
def test_wrong_usage_is_exit_code_2(capsys: Capture, words: list[str]) -> None:
    code, text = failure(capsys, *words)

    assert code == 2
    assert text.startswith("usage: pic ")


def test_a_plan_of_files_as_text(capsys: Capture) -> None:
    assert main.main(["plan", "--offline", "--manifests", "web.yaml"]) == 0

    said = capsys.readouterr()
    assert said.err == ""
    assert said.out == (
        "HOST             OBJECT                      TUNNEL    ACCESS    BACKENDS\n"
        "app.example.com  prod/pic-prod-web-7144d925  default   public    / →"
        " http://web.prod.svc.cluster.local:80\n"
        "\n"
        "Warning: EmptyHost: Ingress prod/web: a rule without a host is skipped: set its host\n"
        "\n"
        "1 resource, 1 warning, 0 remarks\n"
    )


def test_a_plan_of_files_as_json(capsys: Capture) -> None:
    assert main.main(["plan", "--offline", "--manifests", "web.yaml", "--output", "json"]) == 0

    assert json.loads(capsys.readouterr().out) == {
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
                "message": "a rule without a host is skipped: set its host",
            }
        ],
    }


def test_a_plan_of_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(WEB.encode())))

    assert main.main(["plan", "--offline", "--manifests", "-"]) == 0
    assert "app.example.com" in capsys.readouterr().out


def test_settings_that_a_variable_contradicts_are_among_the_notices(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    StackFile(root, "prod").merge({"backendScheme": "http"})
    monkeypatch.setenv("PIC_BACKEND_SCHEME", "https")

    main.main(["plan", "--stack", "prod", "--offline", "--manifests", "web.yaml"])

    assert capsys.readouterr().out.splitlines()[3:5] == [
        "Warning: EmptyHost: Ingress prod/web: a rule without a host is skipped: set its host",
        "Warning: SettingDiffers: Setting backendScheme: PIC_BACKEND_SCHEME is 'https' and"
        " pic:backendScheme is 'http': pic uses pic:backendScheme",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["plan", "--offline"],
            "--offline needs --manifests: there is nothing else to plan from",
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
        (["init"], "name the new stack: pic init --stack NAME"),
        (
            ["init", "--stack", "example"],
            "'example' cannot be a stack: stacks/Pulumi.example.yaml only explains the settings."
            " Choose another name, for example: pic init --stack prod",
        ),
    ],
)
def test_usage_that_cannot_be_right_is_exit_code_2(
    capsys: Capture, words: list[str], message: str
) -> None:
    assert failure(capsys, *words) == (2, f"pic: {message}\n")


def test_all_problems_with_settings_are_told_at_once_without_a_traceback(capsys: Capture) -> None:
    flags = ["--config", "maxRemovals=x", "--config", "events=y", "--config", "tunel=z"]

    code, text = failure(capsys, "plan", "--offline", "--manifests", "web.yaml", *flags)

    assert code == 2
    assert [line.partition(";")[0] for line in text.splitlines()] == [
        "pic: unknown setting pic:tunel",
        "pic:maxRemovals is 'x'",
        "pic:events is 'y'",
    ]


def test_several_stacks_are_a_choice_to_make(root: Path, capsys: Capture) -> None:
    for stack in ("prod", "dev"):
        StackFile(root, stack).merge({"adopt": True})

    assert failure(capsys, "plan") == (2, "pic: name the stack with --stack: dev, prod\n")


def test_a_cluster_out_of_reach_is_exit_code_5(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    StackFile(root, "prod").merge({"adopt": True})
    monkeypatch.setenv("KUBECONFIG", str(root / "none"))

    assert failure(capsys, "plan") == (
        5,
        "pic: cannot connect to the cluster: Invalid kube-config file. No configuration found. Set"
        " KUBECONFIG, or pic:context to one of its contexts\n",
    )


class Terminal(io.StringIO):
    """Standard error as people see it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def api(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    with serving() as made:
        fill_cluster(made, [ingress("web", "app.example.com")])
        monkeypatch.setenv("KUBECONFIG", made.kubeconfig(root / "config"))
        yield made


@pytest.mark.parametrize(
    ("flags", "said"), [([], "pic: reading the cluster …\n"), (["--quiet"], "")]
)
@pytest.mark.usefixtures("api")
def test_a_plan_of_the_cluster_tells_a_terminal_what_takes_time(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, flags: list[str], said: str
) -> None:
    StackFile(root, "prod").merge({"clusterId": CLUSTER})
    monkeypatch.setattr("sys.stderr", terminal := Terminal())

    assert main.main(["plan", *flags]) == 0
    assert terminal.getvalue() == said
    assert capsys.readouterr().out.splitlines()[-1] == "1 resource, 0 warnings, 0 remarks"


def test_init_writes_the_stack_and_says_what_is_next(root: Path, capsys: Capture, api: Api) -> None:
    kinds = ("pangolinresources", "pangolintunnels", "pangolinorganizations")
    api.set_answers(PANGOLIN, Answer({"resources": [{"name": name} for name in kinds]}))
    api.set_answers(REVIEW, Answer({"status": {"allowed": True}}))
    words = ["init", "--stack", "prod", "--tunnel-namespace", "there", "--config", "context=here"]

    assert main.main(words) == 0
    assert capsys.readouterr().out == (
        "wrote stacks/Pulumi.prod.yaml\n"
        "  pic:context: here\n"
        "  pic:tunnelNamespace: there\n"
        f"  pic:clusterId: {CLUSTER}\n"
        "\n"
        "CRDs and permissions are there. Next:\n"
        "  pulumi stack init prod\n"
        "  pulumi preview --stack prod\n"
    )
    assert (root / "stacks" / "Pulumi.prod.yaml").exists()


def test_init_that_cannot_ask_writes_nothing(root: Path, capsys: Capture, api: Api) -> None:
    api.refuse(REVIEW, 403, "no")
    api.set_answers(PANGOLIN, Answer({"resources": []}))

    assert failure(capsys, "init", "--stack", "prod") == (
        5,
        "pic: cannot review the permissions: no (HTTP 403)\n",
    )
    assert not (root / "stacks").exists()


def test_ctrl_c_is_exit_code_130(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(io.BytesIO):
        def read(self, _: int | None = -1, /) -> bytes:
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Interrupted()))

    assert failure(capsys, "plan", "--offline", "--manifests", "-") == (130, "pic: interrupted\n")


def test_a_reader_that_has_seen_enough_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        monkeypatch.setattr("sys.stdout", closed)

        assert main.main(["plan", "--offline", "--manifests", "web.yaml"]) == 0


@pytest.mark.parametrize(("encoding", "arrow"), [("ascii", b"\\u2192"), ("utf-8", "→".encode())])
def test_an_encoding_without_arrows_gets_escapes(
    monkeypatch: pytest.MonkeyPatch, encoding: str, arrow: bytes
) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding=encoding))

    assert main.main(["plan", "--offline", "--manifests", "web.yaml"]) == 0
    assert b"public    / " + arrow + b" http://web." in shown.getvalue()


def test_output_may_be_any_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", shown := io.StringIO())

    assert main.main(["plan", "--offline", "--manifests", "web.yaml"]) == 0
    assert "app.example.com" in shown.getvalue()


@pytest.fixture
def collecting() -> Iterator[None]:
    """Let the garbage of these tests be collected whatever a run does to its process."""
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("collecting")
def test_the_module_runs_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("sys.argv", ["pic", "plan"])

    with pytest.raises(SystemExit) as caught:
        runpy.run_module("pic", run_name="__main__")

    assert not gc.isenabled()
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("pic: there is no stack file yet")
