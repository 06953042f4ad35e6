"""Tests the command line of `pic init`: what it writes, and what it asks at a terminal."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from pic.cli import main
from pic.cluster.listing import PANGOLIN
from pic.cluster.review_access import REVIEWS_PATH
from pic.settings.stack_file import StackFile
from tests.support.api import CLUSTER, Answer, Api, fill_cluster, ingress, serving
from tests.support.fakes import ENVIRONMENT, Terminal, run_pic

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def api(root: Path) -> Iterator[Api]:
    with serving() as server:
        fill_cluster(server, [ingress("web", "app.example.com")])
        server.kubeconfig(root / ENVIRONMENT["KUBECONFIG"])
        yield server


def is_ready(api: Api) -> None:
    """Let the cluster have all CRDs and permissions, but no tunnels."""
    kinds = ("pangolinresources", "pangolintunnels", "pangolinorganizations")
    api.set_answers(PANGOLIN, Answer({"resources": [{"name": name} for name in kinds]}))
    api.set_answers(REVIEWS_PATH, Answer({"status": {"allowed": True}}))
    api.set_objects(f"{PANGOLIN}/pangolintunnels")


def test_init_writes_the_stack_file_and_prints_the_next_steps(
    root: Path, capsys: Capture, api: Api
) -> None:
    is_ready(api)
    words = ["init", "--stack", "prod", "--tunnel-namespace", "net", "--config", "context=here"]
    words += ["--register-namespace", "pic", "--tenants", "one"]

    code, out, _ = run_pic(capsys, *words)

    assert code == 0
    assert out == (
        "wrote stacks/Pulumi.prod.yaml\n"
        "  pic:context: here\n"
        "  pic:tunnelNamespace: net\n"
        "  pic:registerNamespace: pic\n"
        "  pic:tenants: one\n"
        f"  pic:clusterId: {CLUSTER}\n"
        f"  pic:stackId: {StackFile(root, 'prod').settings()['stackId']}\n"
        "\n"
        "The cluster has all CRDs and permissions that pic needs. Next:\n"
        "  pulumi stack init prod\n"
        "  pulumi preview --stack prod\n"
    )


class Keyboard(io.StringIO):
    """Standard input of a user at a terminal."""

    def isatty(self) -> bool:
        return True


PROGRESS = "pic: checking the cluster …\n"


def init_at_terminal(
    monkeypatch: pytest.MonkeyPatch, stdin: io.StringIO | None, *words: str
) -> tuple[int, str]:
    """Run `pic init` at a terminal, and return its exit code and what it asks there."""
    monkeypatch.setattr("sys.stdin", stdin)
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    flags = ("--stack", "prod", "--config", "tunnelNamespaces=.")
    return main.main(["init", *flags, *words], ENVIRONMENT), terminal.getvalue()


def test_init_asks_a_user_at_a_terminal(
    root: Path, monkeypatch: pytest.MonkeyPatch, api: Api
) -> None:
    is_ready(api)

    answer = init_at_terminal(monkeypatch, Keyboard("one\n pic \n"))

    assert answer == (
        0,
        "Who uses this cluster?\n"
        "  many  several teams: pic protects the hosts of each namespace from the people of the"
        " others\n"
        "  one   one team, such as in a home lab: hosts move between namespaces without an"
        " acknowledgement\n"
        f"[many] {PROGRESS}"
        "pic remembers who has which host, in a namespace where only the platform team\n"
        "may write ConfigMaps. Which namespace? ",
    )
    settings = StackFile(root, "prod").settings()
    assert (settings["tenants"], settings["registerNamespace"]) == ("one", "pic")
    # What the file says is not asked again.
    assert init_at_terminal(monkeypatch, Keyboard()) == (0, PROGRESS)


@pytest.mark.parametrize(
    "words",
    [
        ["--tenants", "many", "--register-namespace", "pic"],
        ["--config", "tenants=many", "--config", "registerNamespace=pic"],
    ],
)
def test_init_does_not_ask_what_a_flag_says(
    root: Path, monkeypatch: pytest.MonkeyPatch, api: Api, words: list[str]
) -> None:
    is_ready(api)

    assert init_at_terminal(monkeypatch, Keyboard("one\n"), *words) == (0, PROGRESS)
    assert StackFile(root, "prod").settings()["tenants"] == "many"


def test_init_takes_an_empty_answer_as_the_default(
    root: Path, monkeypatch: pytest.MonkeyPatch, api: Api
) -> None:
    is_ready(api)

    # Without a namespace for its register, a stack is not ready.
    code, _ = init_at_terminal(monkeypatch, Keyboard("\n"))

    assert code == 5
    assert StackFile(root, "prod").settings().keys() == {"tunnelNamespaces", "clusterId", "stackId"}


def test_an_answer_that_is_not_allowed_writes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, api: Api
) -> None:
    is_ready(api)

    code, text = init_at_terminal(monkeypatch, Keyboard("me\n"))

    assert (code, text.splitlines()[-1]) == (2, "pic: pic:tenants is 'me'; allowed: many or one")
    assert not (root / "stacks").exists()


@pytest.mark.parametrize("stdin", [io.StringIO("one\npic\n"), None], ids=["a file", "closed"])
def test_init_asks_only_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, api: Api, stdin: io.StringIO | None
) -> None:
    is_ready(api)

    assert init_at_terminal(monkeypatch, stdin) == (5, PROGRESS)


@pytest.mark.parametrize("flags", [["--quiet"], ["--log-format", "text"]])
def test_init_asks_nothing_where_it_must_be_quiet_or_writes_a_log(
    monkeypatch: pytest.MonkeyPatch, api: Api, flags: list[str]
) -> None:
    is_ready(api)

    code, text = init_at_terminal(monkeypatch, Keyboard("one\npic\n"), *flags)

    assert (code, "?" in text) == (5, False)


def test_init_writes_nothing_if_it_cannot_review_the_permissions(
    root: Path, capsys: Capture, api: Api
) -> None:
    api.refuse(REVIEWS_PATH, 403, "no")
    api.set_answers(PANGOLIN, Answer({"resources": []}))

    assert run_pic(capsys, "init", "--stack", "prod") == (
        5,
        "",
        "pic: cannot review the permissions: no (HTTP 403)\n",
    )
    assert not (root / "stacks").exists()
