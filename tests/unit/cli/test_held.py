"""Tests what `pic up` prints, reports and returns if changes wait for an acknowledgement."""

import json
from pathlib import Path
from typing import Any

import pytest

from pic.engine.outcome import Outcome
from tests.support.api import Api, fill_cluster, ingress, live_object
from tests.support.deployed import urn
from tests.support.deploying import NAME, Capture, UseEngine
from tests.support.events import failure_event, message_event
from tests.support.fakes import HOST, FakeEngine, run_pic

pytestmark = pytest.mark.usefixtures("api")

OTHER = "other.example.com"
REASON = "no Ingress asks for its login any more: Ingress prod/web has no annotation sso"
CREATED = f"+ {OTHER} (prod/pic-prod-other-dd5685f9) is created, access: public\n"


@pytest.fixture(autouse=True)
def cluster(api: Api) -> None:
    """Let HOST lose its login, and ask for another host."""
    fill_cluster(api, [ingress("web", HOST), ingress("other", OTHER)], deployed())


def deployed() -> dict[str, Any]:
    """Return the object of HOST as pic has made it, with a login."""
    live = live_object(HOST, name=NAME)
    owner = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "controller": True}
    live["metadata"]["ownerReferences"] = [{**owner, "name": "web", "uid": "uid-prod-web"}]
    live["spec"]["httpConfig"].update({"sso": True, "blockAccess": False})
    target = {"ip": "web.prod.svc.cluster.local", "port": 80, "method": "http"}
    fields = {"enabled": True, "protocol": "http", "tunnelRef": {"name": "default"}}
    live["spec"].update({**fields, "targets": [target]})
    return live


def digest_in(out: str) -> str:
    """Return the digest of the only held change that is printed."""
    (line,) = (line for line in out.splitlines() if line.startswith("If you want it: "))
    return line.split()[-1]


def held_text(digest: str) -> str:
    return (
        "1 change held. Everything else is not affected:\n"
        f"= {HOST} keeps its login: {REASON} (weakened {digest})\n"
        f"If you want it: pic up --acknowledge {digest}\n"
    )


def read_report(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(path.read_text())
    return report


@pytest.mark.parametrize(("flags", "code"), [([], 8), (["--allow-held"], 0)])
def test_everything_else_is_deployed_and_exit_code_8_says_that_something_waits(
    root: Path, capsys: Capture, engines: UseEngine, flags: list[str], code: int
) -> None:
    engines(FakeEngine(root, None, None, Outcome({"create": [urn(OTHER)]})))

    answer = run_pic(capsys, "up", "--report", "report.json", *flags)

    digest = digest_in(answer[1])
    assert answer == (code, f"{CREATED}{held_text(digest)}Done: 1 created.\n", "")
    report = read_report(root / "report.json")
    del report["deployed"]
    assert report == {
        "version": 1,
        "exitCode": code,
        "changed": {"create": 1},
        "failures": [],
        "error": None,
        "held": [
            {
                "host": HOST,
                "verdict": "weakened",
                "namespace": "prod",
                "stays": "login",
                "insteadOf": "public",
                "reason": REASON,
                "digest": digest,
            }
        ],
    }


def test_a_digest_lets_the_change_through(root: Path, capsys: Capture, engines: UseEngine) -> None:
    creating = Outcome({"create": [urn(OTHER)]})
    engines(FakeEngine(root, None, None, creating, Outcome({"update": [urn(HOST)]})))
    digest = digest_in(run_pic(capsys, "up")[1])

    assert run_pic(capsys, "up", "--acknowledge", f"0123456789abcdef,{digest}") == (
        0,
        f"! {HOST} becomes public (was: login)\n"
        f"! {HOST} no longer requires login (sso): Ingress prod/web has no annotation sso\n"
        f"{CREATED}"
        f"~ {HOST}: spec.httpConfig.sso: true → false\n"
        "Done: 1 updated.\n",
        "",
    )


def test_a_run_that_fails_shows_what_is_held_too(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    outcome = Outcome({"create": [urn(OTHER)]})
    outcome.add_line(failure_event(OTHER))
    outcome.add_line(message_event("error", "HTTP 429", urn(OTHER)))
    engines(FakeEngine(root, None, None, outcome))

    code, out, err = run_pic(capsys, "up", "--report", "report.json")

    assert (code, out) == (6, f"{CREATED}{held_text(digest_in(out))}")
    assert err.startswith("pic: 1 resource failed; the others are done:")
    report = read_report(root / "report.json")
    assert (report["exitCode"], [held["host"] for held in report["held"]]) == (6, [HOST])


def test_a_run_with_nothing_else_to_do_shows_what_is_held(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [ingress("web", HOST)], deployed())
    engines(FakeEngine(root, None, None, Outcome()))
    run_pic(capsys, "up", "--report", "report.json")
    engines(FakeEngine(root, read_report(root / "report.json")["deployed"]))

    code, out, err = run_pic(capsys, "up")

    nothing = "Nothing to do: everything is as it was deployed.\n"
    assert (code, out, err) == (8, f"{nothing}{held_text(digest_in(out))}", "")
