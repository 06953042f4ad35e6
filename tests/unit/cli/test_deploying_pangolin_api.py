"""Tests what the verbs say where pic changes Pangolin itself."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from pic.cli import bind, deploying
from pic.cluster.review_access import REVIEWS_PATH
from pic.core.errors import PangolinError
from pic.core.register import Register
from pic.engine.outcome import Outcome
from pic.engine.result import DeployResult
from pic.settings.stack_file import StackFile
from tests.support.api import CLUSTER, REMEMBERING, Answer, fill_cluster, ingress
from tests.support.fakes import FakeEngine, run_pic, use_engine
from tests.support.publishing import HOST, LABEL, Publisher, publishing

Capture = pytest.CaptureFixture[str]
OTHER = "shop.example.com"
OPTIONS = argparse.Namespace(log_format=None)


@pytest.fixture
def publisher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Pulumi.yaml").write_text("name: pic\n")
    with publishing(tmp_path) as publisher:
        values = {
            "targets": "pangolin-api",
            "pangolinUrl": publisher.server.url,
            "pangolinOrg": "home",
            "defaultTunnel": "home",
            "clusterId": CLUSTER,
            **REMEMBERING,
        }
        StackFile(tmp_path, "prod").merge(values)
        publisher.ingresses(ingress("web", HOST))
        yield publisher


def pic(capsys: Capture, publisher: Publisher, *words: str) -> tuple[int, str, str]:
    return run_pic(capsys, *words, **publisher.environment)


def test_status_shows_what_pangolin_says(capsys: Capture, publisher: Publisher) -> None:
    publisher.deploy()

    code, out, _ = pic(capsys, publisher, "status")

    assert code == 0
    assert "1 of 1 ready, 0 pending, 0 in error" in out.splitlines()
    assert out.splitlines()[-1] == "1 Ingress: 1 exposed; 1 host: 1 exposed"
    assert f"https://{HOST}" in out

    publisher.server.store.sites[publisher.server.site_id]["online"] = False

    code, out, _ = pic(capsys, publisher, "status", "--wait", "0.01", "--quiet")

    assert code == 6
    assert "site home is offline" in out


def test_status_without_an_answer_is_exit_code_5(capsys: Capture, publisher: Publisher) -> None:
    publisher.server.die("a test")

    assert pic(capsys, publisher, "status")[0] == 5


def test_up_waits_for_pangolin(
    capsys: Capture, publisher: Publisher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    publisher.deploy()
    use_engine(monkeypatch, FakeEngine(tmp_path, None, None, Outcome()))

    code, _, err = pic(capsys, publisher, "up", "--wait", "0.01")

    assert (code, err) == (0, "pic: 1 of 1 ready, 0 pending, 0 in error\n")


def test_a_run_looks_whether_removed_hosts_are_gone(capsys: Capture, publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST, OTHER))
    publisher.deploy()
    publisher.ingresses(ingress("web", HOST))
    situation = publisher.situation()
    result = DeployResult(situation.changes, Outcome(), {})

    deploying.conclude(OPTIONS, situation, result)
    assert f"Pangolin still has {OTHER}: see the failures" in capsys.readouterr().out

    publisher.client.delete(publisher.id_of(OTHER))
    deploying.conclude(OPTIONS, situation, result)
    assert "Pangolin has no resource for the removed hosts any more." in capsys.readouterr().out

    publisher.server.die("a test")
    deploying.conclude(OPTIONS, situation, result)
    assert "pic could not look whether Pangolin still has them" in capsys.readouterr().out


def test_a_silent_pangolin_is_the_error_of_the_run(capsys: Capture, publisher: Publisher) -> None:
    publisher.deploy()
    publisher.server.die("a test")
    situation = publisher.situation()

    with pytest.raises(PangolinError):
        deploying.conclude(
            OPTIONS, situation, DeployResult(situation.changes, None, situation.unread_targets)
        )
    assert capsys.readouterr().out == ""


def test_a_diff_looks_closer(capsys: Capture, publisher: Publisher) -> None:
    publisher.deploy()
    publisher.remember(Register())
    publisher.ingresses(ingress("web", HOST, sso="true"))

    code, out, err = pic(capsys, publisher, "diff")

    assert (code, err) == (0, "")
    assert "spec.httpConfig.sso" in out or "login" in out


def test_init_needs_neither_crds_nor_tunnels(publisher: Publisher, tmp_path: Path) -> None:
    fill_cluster(publisher.api, [])
    publisher.api.set_answers(REVIEWS_PATH, Answer({"status": {"allowed": True}}))
    config = publisher.config()
    transport = publisher.situation().transport

    result = bind.write_stack_file(StackFile(tmp_path, "prod"), {}, config.settings, transport)

    assert "CRD" not in result.text.replace("has all CRDs and permissions", "")
    assert "pic:tunnelNamespace" not in result.text
    assert config.label == LABEL
