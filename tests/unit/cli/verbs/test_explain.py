"""Tests `pic explain` on a cluster, a snapshot and files, and the rows of `--all`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from pic.cluster.listing import PANGOLIN
from pic.settings.stack_file import StackFile
from tests.support.api import (
    CLUSTER,
    REMEMBERING,
    Api,
    fill_cluster,
    ingress,
    live_object,
    serving,
)
from tests.support.fakes import ENVIRONMENT, HOST, run_pic

Capture = pytest.CaptureFixture[str]
OFFLINE = ("--offline", "--manifests", "web.yaml")
NEAR = "near.example.com"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    misspelt = ingress("near", NEAR)
    misspelt["spec"]["ingressClassName"] = "pangolim"
    web = ingress("web", HOST, "*.example.com", sso="true")
    text = yaml.safe_dump_all([web, misspelt])
    (tmp_path / "web.yaml").write_text(text)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    StackFile(tmp_path, "prod").merge({"clusterId": CLUSTER, **REMEMBERING})
    with serving() as server:
        server.kubeconfig(tmp_path / ENVIRONMENT["KUBECONFIG"])
        yield server


def explain(capsys: Capture, *words: str) -> tuple[int, str, str]:
    return run_pic(capsys, "explain", *words)


def test_an_exposed_host_shows_the_whole_way(capsys: Capture) -> None:
    code, out, err = explain(capsys, HOST, *OFFLINE)

    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[:3] == [
        f"{HOST} is exposed: login",
        f"source Ingress prod/web (web.yaml:1), rule {HOST}",
        "class pangolin (spec.ingressClassName)",
    ]
    assert "tunnel prod/default (default)" in lines
    assert "domain example.com (Public Suffix List)" in lines
    assert "sso true (annotation pangolin.ingress.k8s.io/sso of prod/web)" in lines
    assert "block-access false (default)" in lines
    assert any(line.startswith("path path / ") for line in lines)
    assert any(line.endswith("is not live: a deployment creates it") for line in lines)


def test_a_host_of_a_misspelt_class_shows_what_stopped_it_and_the_way_out(
    capsys: Capture,
) -> None:
    _, out, _ = explain(capsys, NEAR.upper(), *OFFLINE)

    assert out.splitlines()[:3] == [
        f"{NEAR} is ignored",
        "  stopped by   MisspeltClass: class pangolim: did you mean pangolin?",
        "  way out      Correct spec.ingressClassName.",
    ]


def test_an_ingress_shows_each_of_its_hosts(capsys: Capture) -> None:
    code, out, _ = explain(capsys, "ingress", "prod/web", *OFFLINE)

    assert code == 0
    assert out.startswith("Ingress prod/web is exposed\n")
    assert "\n*.example.com is refused\n  stopped by   InvalidHost: " in out
    assert f"\n{HOST} is exposed: login\n" in out


def test_the_json_has_the_same_content(capsys: Capture) -> None:
    _, out, _ = explain(capsys, "ingress", "prod/near", *OFFLINE, "--output", "json")

    document = json.loads(out)
    (host,) = document["hosts"]
    stopped = {
        "reason": "MisspeltClass",
        "message": "class pangolim: did you mean pangolin?",
        "remedy": "Correct spec.ingressClassName.",
    }
    assert document["version"] == 1
    assert (document["ingress"]["ending"], document["ingress"]["stoppedBy"]) == ("ignored", stopped)
    assert (host["host"], host["stoppedBy"], host["planned"]) == (NEAR, stopped, None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nera.example.com"], f"pic does not remember it; the nearest are {NEAR}"),
        (["ingress", "prod/wep"], "there is no Ingress prod/wep; the nearest are prod/web"),
        (["ingress"], "name the Ingress as NAMESPACE/NAME"),
        (["ingress", "a/b/c"], "name the Ingress as NAMESPACE/NAME"),
        (["a.example.com", "b"], "pic explain takes one host, or: ingress NAMESPACE/NAME"),
        ([f"https://{HOST}/"], "is not a host: write it without scheme and path"),
        (["a b"], "a b is not a host: it contains ' '"),
        (["x\x1b[31m\u202e.com"], "x\\u001b[31m\\u202e.com is not a host"),
        (["y" * 1000], "y" * 100 + " is not a host"),
        (["zzz.invalid-name"], "no Ingress asks for zzz.invalid-name"),
    ],
)
def test_a_bad_question_names_the_next_step(
    capsys: Capture, words: list[str], message: str
) -> None:
    code, out, err = explain(capsys, *words, *OFFLINE)

    assert (code, out) == (2, "")
    assert message in err
    assert "\x1b" not in err


def test_a_live_host_shows_its_object_the_operator_the_guard_and_the_register(
    api: Api, capsys: Capture
) -> None:
    live = {**live_object(HOST), "status": {"status": "Error"}}
    live["spec"]["httpConfig"]["sso"] = True
    fill_cluster(api, [ingress("web", HOST)], live)

    code, out, err = explain(capsys, HOST)

    assert (code, err) == (0, "")
    assert out.startswith(f"{HOST} is held: login\n")
    assert "\n  stopped by   weakened: no Ingress asks for its login any more: " in out
    assert "\n  guard        weakened: " in out
    assert f"\n  object       prod/pic-{HOST}, " in out
    assert "\n  operator     error: the operator gives no reason\n" in out
    assert "\n  since        " in out
    _, text, _ = explain(capsys, HOST, "--output", "json")
    (host,) = json.loads(text)["hosts"]
    assert host["operator"]["readiness"] == "error"
    assert host["register"]["namespace"] == "prod"
    assert [held["verdict"] for held in host["held"]] == ["weakened"]


def test_a_host_that_goes_shows_why(api: Api, capsys: Capture) -> None:
    fill_cluster(api, [ingress("web", NEAR)], live_object(HOST))

    _, out, _ = explain(capsys, HOST)

    assert out.startswith(
        f"{HOST} is asked for by no Ingress\n"
        "  stopped by   Ingress prod/web has no rule for it any more\n"
    )
    assert ", a deployment removes it\n" in out


def test_the_status_lists_hosts_that_are_not_exposed_and_all_ingresses(
    api: Api, capsys: Capture
) -> None:
    other = ingress("other", NEAR)
    other["spec"]["ingressClassName"] = "nginx"
    fill_cluster(api, [ingress("web", HOST, "*.example.com"), other], live_object(HOST))
    api.set_objects(f"{PANGOLIN}/pangolinresources")

    _, out, _ = run_pic(capsys, "status", "--all")

    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "Hosts that Ingresses ask for, but that are not as asked:" in lines
    assert any(line.startswith("refused *.example.com prod/web InvalidHost ") for line in lines)
    planned = f"planned {HOST} prod/web - it is not deployed yet: run pic up"
    assert planned in lines
    assert any(line.startswith("prod/other ignored - OtherClass ") for line in lines)
    assert lines[-1] == "2 Ingresses: 1 exposed, 1 ignored; 2 hosts: 1 refused, 1 exposed"


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_plan_shows_every_ingress_if_asked(capsys: Capture, form: str) -> None:
    _, brief, _ = run_pic(capsys, "plan", *OFFLINE, "--output", form)
    _, whole, _ = run_pic(capsys, "plan", *OFFLINE, "--output", form, "--all")

    assert "class pangolim: did you mean pangolin?" in brief
    assert "MisspeltClass" not in brief
    assert "MisspeltClass" in whole


def test_a_review_shows_every_ingress_if_asked(api: Api, capsys: Capture) -> None:
    fill_cluster(api, [ingress("web", HOST)], live_object(HOST))
    for form in ("text", "markdown", "html", "json"):
        words = ("diff", "--manifests", "web.yaml", "--output", form, "--all")
        _, out, _ = run_pic(capsys, *words)
        assert "MisspeltClass" in out, form


def test_a_snapshot_can_be_explained(capsys: Capture, api: Api) -> None:
    fill_cluster(api, [ingress("web", HOST)], live_object(HOST))
    run_pic(capsys, "snapshot", "--out", "prod.json")

    code, out, _ = explain(capsys, "ingress", "prod/web", "--snapshot", "prod.json")

    assert code == 0
    assert out.startswith("Ingress prod/web is exposed\n")
